// Alternates with a peer in another process, so that both are timed under the same conditions. Reads lines
//
//   <model> <batch> <steps>      training (an MLP), or a task of model_tasks.hpp
//   predict:<model> <batch> <batches>
//   adamw <parameters> <steps>
//
// takes that many steps, or predicts that many batches, and prints their time in seconds: the processor time of this
// thread, or with the argument THREADS, the elapsed time on so many threads (not for the MLP and adamw).
//
//   bench_turns [THREADS]
#include "turns.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "../model_tasks.hpp"
#include "../paired.hpp"

namespace {

// The training steps of a task, with AdamW on the CPU.
template <class ModelType, class LossType, class Data>
class TaskSteps {
 public:
  TaskSteps(const ModelType& model, const LossType& loss, Data data, std::size_t batch, unsigned threads)
      : data_(std::move(data)),
        loop_(model, loss, algoperf::adamw(), algoperf::Constant{1e-3}, algoperf::ShuffledEpochs{.batch = batch},
              algoperf::Host<float>{.threads = threads}) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  Data data_;
  algoperf::TrainingLoop<ModelType, LossType, decltype(algoperf::adamw()), algoperf::Constant, algoperf::ShuffledEpochs>
      loop_;
};

// Predicts batches of a task, one after the other.
template <class ModelType, class Data>
class TaskPredictions {
 public:
  TaskPredictions(const ModelType& model, const Data& data, std::size_t batch, unsigned threads)
      : data_(data), batch_(batch), predictor_(model, algoperf::Host<float>{.threads = threads}, batch) {
    (void)predictor_.values();  // the initial ones
  }
  void operator()() {
    if (begin_ + batch_ > data_.size()) begin_ = 0;
    (void)predictor_.predict(data_.subset(begin_, begin_ + batch_));
    begin_ += batch_;
  }

 private:
  Data data_;
  std::size_t batch_, begin_ = 0;
  algoperf::Predictor<ModelType> predictor_;
};

std::function<void()> steps_of(const std::string& what, std::size_t size, unsigned threads) {
  std::function<void()> step;
  const auto take_turns = [&step](auto training) { step = [training] { (*training)(); }; };
  if (what == "training") take_turns(std::make_shared<bench::LibraryTraining>(size));
  if (what == "adamw") take_turns(std::make_shared<bench::LibraryAdamW>(size));
  bench::for_each_model_task(
      [&]<class M, class L>(const char* name, std::size_t, const M& model, const L& loss, const auto& data) {
        using Data = decltype(data());
        if (what == name) take_turns(std::make_shared<TaskSteps<M, L, Data>>(model, loss, data(), size, threads));
        if (what == std::string("predict:") + name)
          take_turns(std::make_shared<TaskPredictions<M, Data>>(model, data(), size, threads));
      });
  return step;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const unsigned threads = argument_count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  const bench::Clock clock = threads > 1 ? bench::Clock::wall : bench::Clock::thread;
  std::map<std::string, std::function<void()>> steps;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    std::size_t size = 0, count = 0;
    words >> what >> size >> count;
    if (!words) what.clear();
    std::function<void()>& step = steps[what + std::to_string(size)];
    if (!step) step = steps_of(what, size, threads);
    if (!step) {
      std::fprintf(stderr,
                   "turns: invalid line '%s', expected 'training', 'adamw' or the name of a model, a size, and a "
                   "number of steps\n",
                   line.c_str());
      return 2;
    }
    std::printf("%.9g\n", bench::seconds(step, count, clock));
    std::fflush(stdout);
  }
}

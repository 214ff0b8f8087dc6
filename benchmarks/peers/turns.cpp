// Alternates with a peer in another process, so that both are timed under the same conditions. Reads lines
//
//   <model> <batch> <steps>      training (an MLP), or a task of model_tasks.hpp
//   predict:<model> <batch> <batches>
//   translate:<beams> <sentences> <batches>
//   adamw <parameters> <steps>
//   convolution:<pass>:<side>:<channels>:<filters>:<size>:<stride> <images> <steps>, pass: forward, input or weights;
//     0 filters: depthwise, with pass forward or backward
//
// takes that many steps, or predicts that many batches, and prints their time in seconds: the processor time of this
// thread, or with the argument THREADS, the elapsed time on so many threads (not for the MLP and adamw).
//
//   bench_turns [THREADS]
//   bench_turns describe         prints the backend
#include "turns.hpp"

#include <algoperf/data/token_sequences.hpp>
#include <algoperf/nn/beam_search.hpp>
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

// Translates sentences by beam search, none of which ends before 16 tokens.
class Translations {
 public:
  Translations(std::size_t beams, std::size_t sentences, unsigned threads)
      : options_{.beams = beams, .longest = 16, .at_once = sentences},
        predictor_(algoperf::EncoderDecoder<>{}, algoperf::Host<float>{.threads = threads}) {
    (void)predictor_.values();  // the initial ones
    options_.end = static_cast<std::int32_t>(predictor_.output_width());
    sources_ = algoperf::token_sequences(bench::random_pairs(predictor_.model()), "source");
    sources_.resize(sentences);
  }
  void operator()() { (void)algoperf::beam_search(predictor_, sources_, options_); }

 private:
  algoperf::BeamSearchOptions options_;
  algoperf::Predictor<algoperf::EncoderDecoder<>> predictor_;
  std::vector<std::vector<std::int32_t>> sources_;
};

// An arena, whose alignment is that of the library's activations.
algoperf::Arena<float> numbers(std::size_t n) {
  algoperf::RandomStream random(algoperf::RandomKey{n});
  algoperf::Arena<float> all(n);
  for (std::size_t i = 0; i < n; ++i) all.data()[i] = static_cast<float>(random.normal());
  return all;
}

// One pass of Conv2d on square images, padded by half of the kernel's size. The layer computes 1 x 1 with stride 1 as a
// matrix product.
class ConvolutionPass {
 public:
  ConvolutionPass(const std::string& pass, algoperf::Shape in, algoperf::Conv2d layer, std::size_t images,
                  unsigned threads)
      : pass_(pass),
        in_(in),
        layer_(layer),
        images_(images),
        host_{.threads = threads},
        x_(numbers(images * in.size())),
        w_(numbers(layer.filters * layer.size * layer.size * in[2])),
        bias_(numbers(layer.filters)),
        y_(numbers(images * layer.output(in).size())) {}
  void operator()() {
    const algoperf::LayerCall<algoperf::Host<float>> call{
        host_, layout_, nullptr, nullptr, images_, images_, algoperf::Mode::train, {}, nullptr, nullptr, nullptr};
    if (pass_ == "forward") layer_.convolve(call, in_, x_.data(), w_.data(), bias_.data(), y_.data());
    if (pass_ == "input") layer_.back_to_input(call, in_, y_.data(), w_.data(), x_.data());
    if (pass_ == "weights") layer_.back_to_weight(call, in_, x_.data(), y_.data(), w_.data());
  }

 private:
  std::string pass_;
  algoperf::Shape in_;
  algoperf::Conv2d layer_;
  std::size_t images_;
  algoperf::Host<float> host_;
  algoperf::Layout layout_;
  algoperf::Arena<float> x_, w_, bias_, y_;
};

// The same of a depthwise convolution. Backward computes all gradients.
class DepthwisePass {
 public:
  DepthwisePass(const std::string& pass, algoperf::Shape in, algoperf::DepthwiseConv2d layer, std::size_t images,
                unsigned threads)
      : pass_(pass),
        in_(in),
        layer_(layer),
        images_(images),
        host_{.threads = threads},
        handles_(layer_.declare(layout_, "conv", in)),
        values_(numbers(layout_.size())),
        gradients_(layout_.size()),
        x_(numbers(images * in.size())),
        y_(numbers(images * layer.output(in).size())),
        exact_(images * layer.memory(in).exact) {}
  void operator()() {
    const algoperf::LayerCall<algoperf::Host<float>> call{host_,   layout_, values_.data(),        gradients_.data(),
                                                          images_, images_, algoperf::Mode::train, {},
                                                          nullptr, nullptr, exact_.data()};
    if (pass_ == "forward")
      layer_.forward(call, handles_, in_, x_.data(), y_.data());
    else
      layer_.backward(call, handles_, in_, x_.data(), y_.data(), y_.data(), x_.data());
  }

 private:
  std::string pass_;
  algoperf::Shape in_;
  algoperf::DepthwiseConv2d layer_;
  std::size_t images_;
  algoperf::Host<float> host_;
  algoperf::Layout layout_;
  algoperf::DepthwiseConv2d::Handles handles_;
  algoperf::Arena<float> values_, gradients_, x_, y_, exact_;
};

// Returns an empty function if `what` is no convolution.
std::function<void()> convolution_of(const std::string& what, std::size_t images, unsigned threads) {
  char pass[16] = {};
  std::size_t side = 0, channels = 0, filters = 0, size = 0, stride = 0;
  if (std::sscanf(what.c_str(), "convolution:%15[a-z]:%zu:%zu:%zu:%zu:%zu", pass, &side, &channels, &filters, &size,
                  &stride) != 6)
    return {};
  const algoperf::Shape in{side, side, channels};
  if (filters == 0) {
    const algoperf::DepthwiseConv2d layer{.size = size, .stride = stride, .padding = size / 2};
    const auto depthwise = std::make_shared<DepthwisePass>(pass, in, layer, images, threads);
    return [depthwise] { (*depthwise)(); };
  }
  const algoperf::Conv2d layer{.filters = filters, .size = size, .stride = stride, .padding = size / 2};
  const auto convolution = std::make_shared<ConvolutionPass>(pass, in, layer, images, threads);
  return [convolution] { (*convolution)(); };
}

std::function<void()> steps_of(const std::string& what, std::size_t size, unsigned threads) {
  std::function<void()> step;
  const auto take_turns = [&step](auto training) { step = [training] { (*training)(); }; };
  if (what == "training") take_turns(std::make_shared<bench::LibraryTraining>(size));
  if (what == "adamw") take_turns(std::make_shared<bench::LibraryAdamW>(size));
  if (what.starts_with("translate:"))
    take_turns(std::make_shared<Translations>(std::strtoull(what.c_str() + 10, nullptr, 10), size, threads));
  if (const auto convolution = convolution_of(what, size, threads)) step = convolution;
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
  if (argument_count > 1 && arguments[1] == std::string("describe")) {
    algoperf::print(algoperf::Host<float>{});
    return 0;
  }
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

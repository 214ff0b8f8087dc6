// Alternates with a peer in another process, so that both are timed under the same conditions. Reads lines
//
//   <model> <batch> <steps>      training (an MLP), simple_cnn, residual_cnn, resnet8, vit, dlrm, gnn, transformer or
//                                lm
//   adamw <parameters> <steps>
//
// takes that many steps, and prints their time in seconds: the processor time of this thread, or with the argument
// THREADS, the elapsed time on so many threads (not for the MLP and adamw).
//
//   bench_turns [THREADS]
#include "turns.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <type_traits>

#include "../paired.hpp"

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
    const auto take_turns = [&step](auto training) { step = [training] { (*training)(); }; };
    const auto cnn = [&](const auto& model) {
      take_turns(std::make_shared<bench::LibraryCnn<std::decay_t<decltype(model)>>>(model, size, threads));
    };
    const auto transformer = [&](const auto& model) {
      take_turns(std::make_shared<bench::LibraryTransformer<std::decay_t<decltype(model)>>>(model, size, threads));
    };
    if (!step) {
      if (what == "training")
        take_turns(std::make_shared<bench::LibraryTraining>(size));
      else if (what == "adamw")
        take_turns(std::make_shared<bench::LibraryAdamW>(size));
      else if (what == "simple_cnn")
        cnn(bench::simple_cnn_model());
      else if (what == "residual_cnn")
        cnn(bench::residual_cnn_model());
      else if (what == "resnet8")
        cnn(algoperf::SmallResNet<>{});
      else if (what == "vit")
        cnn(algoperf::VisionTransformer{});
      else if (what == "dlrm")
        take_turns(std::make_shared<bench::LibraryDlrm>(size, threads));
      else if (what == "gnn")
        take_turns(std::make_shared<bench::LibraryGraphNetwork>(size, threads));
      else if (what == "transformer")
        transformer(bench::transformer);
      else if (what == "lm")
        transformer(bench::language_model);
    }
    if (!step) {
      std::fprintf(stderr,
                   "turns: invalid line '%s', expected 'training', 'simple_cnn', 'residual_cnn', 'resnet8', "
                   "'vit', 'dlrm', 'gnn', 'transformer', 'lm' or 'adamw', a size, and a number of steps\n",
                   line.c_str());
      return 2;
    }
    std::printf("%.9g\n", bench::seconds(step, count, clock));
    std::fflush(stdout);
  }
}

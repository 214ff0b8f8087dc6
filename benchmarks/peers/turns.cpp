// Alternates with a peer in another process, so that both are timed under the same conditions. Reads lines
//
//   training <batch> <steps>, simple_cnn <batch> <steps>, residual_cnn <batch> <steps>, transformer <batch> <steps>,
//   or adamw <parameters> <steps>
//
// takes that many steps, and prints their time in seconds: the processor time of this thread, or with the argument
// THREADS, the elapsed time on so many threads (CNNs and Transformer only).
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
    const auto cnn = [&](const auto& model) -> std::function<void()> {
      return [loop = std::make_shared<bench::LibraryCnn<std::decay_t<decltype(model)>>>(model, size, threads)] {
        (*loop)();
      };
    };
    std::function<void()>& step = steps[what + std::to_string(size)];
    if (!words || (!step && what != "training" && what != "simple_cnn" && what != "residual_cnn" &&
                   what != "transformer" && what != "adamw")) {
      std::fprintf(stderr,
                   "turns: invalid line '%s', expected 'training', 'simple_cnn', 'residual_cnn', 'transformer' or "
                   "'adamw', a size, and a number of steps\n",
                   line.c_str());
      return 2;
    }
    if (!step && what == "training")
      step = [training = std::make_shared<bench::LibraryTraining>(size)] { (*training)(); };
    else if (!step && what == "transformer")
      step = [transformer = std::make_shared<bench::LibraryTransformer>(size, threads)] { (*transformer)(); };
    else if (!step && what == "adamw")
      step = [adamw = std::make_shared<bench::LibraryAdamW>(size)] { (*adamw)(); };
    else if (!step)
      step = what == "simple_cnn" ? cnn(bench::simple_cnn_model()) : cnn(bench::residual_cnn_model());
    std::printf("%.9g\n", bench::seconds(step, count, clock));
    std::fflush(stdout);
  }
}

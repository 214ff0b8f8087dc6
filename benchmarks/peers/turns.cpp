// Alternates with a peer in another process, so that both are timed under the same conditions. Reads lines
//
//   training <batch> <steps>      or      adamw <parameters> <steps>
//
// takes that many steps, and prints their processor time in seconds.
#include "turns.hpp"

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "../paired.hpp"

int main() {
  std::map<std::string, std::function<void()>> steps;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    std::size_t size = 0, count = 0;
    words >> what >> size >> count;
    if (!words || (what != "training" && what != "adamw")) {
      std::fprintf(stderr,
                   "turns: invalid line '%s', expected 'training <batch> <steps>' or 'adamw <parameters> <steps>'\n",
                   line.c_str());
      return 2;
    }
    std::function<void()>& step = steps[what + std::to_string(size)];
    if (!step && what == "training")
      step = [training = std::make_shared<bench::LibraryTraining>(size)] { (*training)(); };
    else if (!step)
      step = [adamw = std::make_shared<bench::LibraryAdamW>(size)] { (*adamw)(); };
    std::printf("%.9g\n", bench::seconds(step, count, bench::Clock::thread));
    std::fflush(stdout);
  }
}

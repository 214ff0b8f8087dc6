// Trains on the host. The argument is the number of threads.
#include <cstdlib>

#include "target.hpp"

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  bench::lines_of_targets("CPU, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"), true,
                          algoperf::Host<>{.threads = static_cast<unsigned>(threads)});
}

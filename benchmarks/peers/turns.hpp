// The library's side of the peer benchmarks: its training step of an MLP and its AdamW step. All peers use these
// `sizes` and `batches`.
#pragma once

#include <cstddef>

#include "../mlp_task.hpp"
#include "../rule_bench.hpp"

namespace bench {

constexpr std::size_t sizes[] = {1 << 14, 1 << 18, 10'000'000};
constexpr std::size_t batches[] = {32, 128, 512};
constexpr std::size_t examples = 8192;
constexpr double rate = 1e-4;

class LibraryTraining {
 public:
  explicit LibraryTraining(std::size_t batch) : data_(random_examples(examples)), loop_(training_loop(batch)) {
    loop_.start(data_);
  }
  void operator()() { loop_.step(data_); }

 private:
  algoperf::InMemory<float> data_;
  decltype(training_loop(1)) loop_;
};

class LibraryAdamW {
 public:
  explicit LibraryAdamW(std::size_t n) : at_(algoperf::adamw(), 1, {n / 16, 16}) {}
  void operator()() { at_.step(rate); }

 private:
  RuleBench<decltype(algoperf::adamw())> at_;
};

}  // namespace bench

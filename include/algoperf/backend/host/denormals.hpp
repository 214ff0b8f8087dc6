// FlushDenormals: a scope in which this thread treats denormal numbers as zero. When gradients become zero, their
// moving averages decay to denormals and stay there, and each operation on one costs a hundred cycles or more on x86.
// Without SSE2 the class has no effect.
#pragma once

#include "../../core/config.hpp"

namespace algoperf::detail {

#if defined(__SSE2__)
class FlushDenormals {
 public:
  FlushDenormals() : before_(__builtin_ia32_stmxcsr()) {
    __builtin_ia32_ldmxcsr(before_ | flush_results | flush_inputs);
  }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned flush_results = 0x8000, flush_inputs = 0x0040;
  unsigned before_;
};
#else
struct FlushDenormals {
  FlushDenormals() {}
};
#endif

}  // namespace algoperf::detail

// require: only declared here, so that small headers that check hyperparameters compile quickly. The template is
// defined in core/error.hpp, which the callers of such a check(), e.g. a chain, must include.
#pragma once

#include "config.hpp"

namespace algoperf {

// Throws Error with the concatenated parts as its message: fail("sgd: momentum is ", x, ", expected ", "[0, 1)").
template <class... Parts>
[[noreturn]] ALGOPERF_COLD void fail(const Parts&... parts);

// Throws the same Error unless the condition holds.
template <class... Parts>
void require(bool condition, const Parts&... parts);

// Throw the Error "stage: option is x, expected ..." unless the value of a hyperparameter is finite and at least, or
// more than, `least`.
inline void require_at_least(double least, const char* stage, const char* option, double x) {
  require(!(x > __DBL_MAX__), stage, ": ", option, " is ", x, ", expected a finite number");
  require(x >= least, stage, ": ", option, " is ", x, ", expected at least ", least);
}
inline void require_more_than(double least, const char* stage, const char* option, double x) {
  require(!(x > __DBL_MAX__), stage, ": ", option, " is ", x, ", expected a finite number");
  require(x > least, stage, ": ", option, " is ", x, ", expected more than ", least);
}

}  // namespace algoperf

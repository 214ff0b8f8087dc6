#include "algoperf/backend/host/describe.hpp"

#include <doctest/doctest.h>

#include <algoperf/rules/all.hpp>
#include <cstdlib>
#include <string>

namespace ap = algoperf;

TEST_CASE("describe says what a host backend runs on") {
  const std::string text = ap::describe(ap::Host<float>{.threads = 2});
  CHECK(text.starts_with("Host<float>, 2 threads\n  kernels: compiled for "));
  CHECK(text.ends_with("\n  products, convolutions: " + std::string(ALGOPERF_PRODUCTS_BY) + "\n"));
  CHECK(ap::describe(ap::Host<double>{}).starts_with("Host<double>, 1 thread\n"));
}

TEST_CASE("describe suggests -march=native if the processor has better vectors than the program uses") {
  const auto text = [](ap::InstructionSet kernels) { return ap::describe(ap::Host<>{}, kernels, "a library"); };
  const ap::InstructionSet best = ap::supported_instruction_set();
  CHECK(text(best) == "Host<float>, 1 thread\n  kernels: compiled for " + std::string(name(best)) +
                          "\n  products, convolutions: a library\n");
  CHECK(text(ap::InstructionSet::other) ==
        "Host<float>, 1 thread\n  kernels: compiled for no vectors (this processor has " + std::string(name(best)) +
            ": compile with -march=native)\n  products, convolutions: a library\n");
}

#if defined(ALGOPERF_EXTERN_GEMM)
TEST_CASE("products_by names the instruction set that the environment chooses") {
  const std::string products = ap::products_by();
  const char* const variable = std::getenv("ALGOPERF_INSTRUCTION_SET");
  if (variable == nullptr || !products.ends_with("chosen at run time")) return;
  const std::string chosen = variable;
  const std::string expected = chosen == "sse2" ? "SSE2" : chosen == "avx2" ? "AVX2" : "AVX-512";
  CHECK(products == "the library's tiles for " + expected + ", chosen at run time");
}
#endif

TEST_CASE("this file is compiled for no more than the processor supports") {
  CHECK(ALGOPERF_COMPILED_FOR <= ap::supported_instruction_set());
}

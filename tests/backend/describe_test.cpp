#include "algoperf/backend/host/describe.hpp"

#include <doctest/doctest.h>

#include <algoperf/rules/all.hpp>
#include <cstdlib>
#include <string>

namespace ap = algoperf;

TEST_CASE("describe names the backend and what it runs on") {
  const std::string text = ap::describe(ap::Host<float>{.threads = 2});
  CHECK(text.starts_with("Host<float>, 2 threads\n  kernels: compiled for "));
  CHECK(text.ends_with("\n  " + std::string(ALGOPERF_PRODUCTS_BY) + "\n"));
  CHECK(text.find("products") != std::string::npos);
  CHECK(ap::describe(ap::Host<double>{}).starts_with("Host<double>, 1 thread\n"));
}

TEST_CASE("describe says what the component contains") {
  CHECK(ap::describe(ap::Host<>{}, ap::supported_instruction_set(), "products: X", "decompositions: Y")
            .ends_with("\n  decompositions: Y\n  products: X\n"));
}

TEST_CASE("describe suggests -march=native if the processor supports more than the kernels use") {
  const auto text = [](ap::InstructionSet kernels) { return ap::describe(ap::Host<>{}, kernels, "products: X", ""); };
  const ap::InstructionSet best = ap::supported_instruction_set();
  const std::string name = instruction_set_name(best);
  CHECK(text(best) == "Host<float>, 1 thread\n  kernels: compiled for " + name + "\n  products: X\n");
  if (best != ap::InstructionSet::other)
    CHECK(text(ap::InstructionSet::other) ==
          "Host<float>, 1 thread\n  kernels: compiled for no particular instruction set (this processor supports " +
              name + ": compile with -march=native)\n  products: X\n");
}

#if defined(ALGOPERF_EXTERN_GEMM)
TEST_CASE("the component uses the instruction set that the environment names, or the processor's best") {
  const std::string provider = ap::gemm_provider();
  if (!provider.ends_with("chosen at run time")) return;
  const char* const variable = std::getenv("ALGOPERF_INSTRUCTION_SET");
  const std::string named = variable == nullptr ? "" : variable;
  const ap::InstructionSet best = ap::supported_instruction_set();
  const std::string expected = named == "sse2" || (named.empty() && best < ap::InstructionSet::avx2)    ? "SSE2"
                               : named == "avx2" || (named.empty() && best == ap::InstructionSet::avx2) ? "AVX2"
                                                                                                        : "AVX-512";
  CHECK(provider == "products, convolutions: the library's tiles for " + expected + ", chosen at run time");
  const std::string kernels = "common update rules and activations";
  CHECK(ap::gemm_kernels(ap::InstructionSet::sse2) ==
        "decompositions" + (expected == "SSE2" ? "" : ", " + kernels) + ": for " + expected + ", chosen at run time");
  CHECK(ap::gemm_kernels(ap::InstructionSet::avx512) == "decompositions: for " + expected + ", chosen at run time");
}
#endif

TEST_CASE("the processor supports the instruction set for which this file is compiled") {
  CHECK(ALGOPERF_COMPILED_FOR <= ap::supported_instruction_set());
}

# Inspects the PTX that nvcc generates for AdamW's pass and LAMB's two passes. Each array must be accessed 16 bytes at
# a time, no sum may use atomic operations, whose results differ from run to run, and the kernel must expect a CudaPass
# as large as the host's (nvcc 13 gives a struct with a [[no_unique_address]] member another size in device code than
# sizeof says). Arguments: SETTINGS, NVCC (the compiler and options).
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
separate_arguments(NVCC)
set(source ${BINARY_DIR}/device/accesses.cu)
file(WRITE ${source} [[
#include <algoperf/backend/cuda.cuh>
#include <algoperf/rules/recipes/adamw.hpp>
#include <algoperf/rules/recipes/lamb.hpp>
using namespace algoperf;
__device__ unsigned long long bytes_of_a_pass = sizeof(detail::CudaPass<float, NoPorts, NoGuard>);
template <class Rule>
void step(const Rule& rule, float* gradients, float* values, const Layout& layout) {
  auto state = rule.state(Cuda<float>{}, layout);
  rule.step(Update<float>{gradients, values}, state, {.t = 1, .learning_rate = 0.1});
}
void steps(float* gradients, float* values, const Layout& layout) {
  step(adamw(), gradients, values, layout);
  step(lamb(), gradients, values, layout);
}
]])
execute_process(COMMAND ${NVCC} -ptx ${source} -o ${source}.ptx COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND awk [[
    function end_entry() {
      if (!pass) return
      if (++passes == 1 || loads < fewest_loads) fewest_loads = loads
      if (passes == 1 || stores < fewest_stores) fewest_stores = stores
    }
    /\.entry/ {
      end_entry()
      rule = /cuda_run_(pass|tensor_sums|totals)/; pass = /cuda_run_pass/
      loads = stores = 0
    }
    /bytes_of_a_pass/ { bytes = $NF + 0 }
    pass && /\.param .*_param_1\[/ { size = $NF; gsub(/.*\[|\].*/, "", size); sizes[size] = 1 }
    rule && /ld\.global\.v4\.f32/ { ++loads }
    rule && /st\.global\.v4\.f32/ { ++stores }
    rule && /[ \t](atom|red)\./ { ++atomics }
    END {
      end_entry()
      for (size in sizes) wrong += size != bytes
      print passes + 0 ";" fewest_loads + 0 ";" fewest_stores + 0 ";" atomics + 0 ";" wrong + 0
    }]] ${source}.ptx
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET found 0 passes)
list(GET found 1 loads)
list(GET found 2 stores)
list(GET found 3 atomics)
list(GET found 4 wrong)
message("${passes} passes with at least ${loads} loads and ${stores} stores of 16 bytes; ${atomics} atomic operations; "
        "${wrong} sizes of CudaPass that differ from the host's")
# The smallest pass, LAMB's second, reads u and p and writes p.
if(passes LESS 3 OR loads LESS 2 OR stores LESS 1 OR atomics GREATER 0 OR wrong GREATER 0)
  message(FATAL_ERROR "Expected 3 passes, each with at least 2 loads and 1 store of 16 bytes, no atomic operation, and "
                      "the host's size of CudaPass")
endif()

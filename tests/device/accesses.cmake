# Reads what nvcc makes of AdamW's pass and LAMB's two: each array is taken 16 bytes at a time, and nothing is added by
# atomic operations, which would give other bits from run to run. Arguments: SETTINGS, NVCC (the compiler and options).
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
separate_arguments(NVCC)
set(source ${BINARY_DIR}/device/accesses.cu)
file(WRITE ${source} [[
#include <algoperf/backend/cuda.cuh>
#include <algoperf/rules/adamw.hpp>
#include <algoperf/rules/lamb.hpp>
using namespace algoperf;
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
    /\.entry/ { rule = /cuda_run_(pass|tensor_sums|totals)/ }
    rule && /ld\.global\.v4\.f32/ { ++loads }
    rule && /st\.global\.v4\.f32/ { ++stores }
    rule && /[ \t](atom|red)\./ { ++atomics }
    END { print loads + 0 ";" stores + 0 ";" atomics + 0 }]] ${source}.ptx
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET found 0 loads)
list(GET found 1 stores)
list(GET found 2 atomics)
message("loads of 16 bytes: ${loads}, stores: ${stores}, atomic operations: ${atomics}")
# AdamW reads u p m v and writes p m v; LAMB reads u p m v, then u p, and writes u m v, then p.
if(loads LESS 10 OR stores LESS 7 OR atomics GREATER 0)
  message(FATAL_ERROR "Expected 10 loads and 7 stores at least, and no atomic operation")
endif()

# Compares the user time of compiling the example for a device with that of a small program that sorts with Thrust.
# Arguments: SETTINGS, NVCC (the compiler and its options), EXAMPLE.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
include(${CMAKE_CURRENT_LIST_DIR}/../user_time.cmake)
separate_arguments(NVCC)
set(budget 300)  # per cent
set(sorting ${BINARY_DIR}/device/sorting.cu)
file(WRITE ${sorting} [[
#include <thrust/device_vector.h>
#include <thrust/sort.h>
void sort(thrust::device_vector<float>& x) { thrust::sort(x.begin(), x.end()); }
]])

set(object -o ${BINARY_DIR}/device/timed.o)
user_time(baseline ${NVCC} -c ${sorting} ${object})
user_time(time ${NVCC} -c ${EXAMPLE} ${object})
math(EXPR ratio "100 * ${time} / ${baseline}")
message("${EXAMPLE}: ${time} ms, ${ratio} % of a program that sorts with Thrust (${baseline} ms), budget ${budget} %")
if(ratio GREATER budget)
  message(FATAL_ERROR "The compile time exceeds the budget of ${budget} %")
endif()

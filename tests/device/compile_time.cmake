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
# The shortest times decide, because the speed of a machine may change between measurements.
set(baseline "")
foreach(run RANGE 1 3)
  user_time(of_sorting ${NVCC} -c ${sorting} ${object})
  user_time(of_example ${NVCC} -c ${EXAMPLE} ${object})
  if(NOT baseline OR of_sorting LESS baseline)
    set(baseline ${of_sorting})
  endif()
  if(run EQUAL 1 OR of_example LESS time)
    set(time ${of_example})
  endif()
  math(EXPR ratio "100 * ${time} / ${baseline}")
  if(NOT ratio GREATER budget)
    break()
  endif()
endforeach()
message("${EXAMPLE}: ${time} ms, ${ratio} % of a program that sorts with Thrust (${baseline} ms), budget ${budget} %")
if(ratio GREATER budget)
  message(FATAL_ERROR "The compile time exceeds the budget of ${budget} %")
endif()

# Compares the user time of compiling the example for a device with that of a small program that sorts by Thrust.
# Arguments: SETTINGS, NVCC (the compiler and its options), EXAMPLE.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
separate_arguments(NVCC)
set(budget 400)  # hundredths
set(sorting ${BINARY_DIR}/device/sorting.cu)
file(WRITE ${sorting} [[
#include <thrust/device_vector.h>
#include <thrust/sort.h>
void sort(thrust::device_vector<float>& x) { thrust::sort(x.begin(), x.end()); }
]])

# User milliseconds of compiling `file`.
function(measure file result)
  execute_process(COMMAND bash -c "TIMEFORMAT=%3U; time \"$@\"" - ${NVCC} -c ${file} -o ${BINARY_DIR}/device/timed.o
                  ERROR_VARIABLE seconds RESULT_VARIABLE failed ERROR_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "${file} does not compile:\n${seconds}")
  endif()
  string(REGEX MATCH "([0-9]+)[.,]([0-9]+)$" seconds "${seconds}")
  math(EXPR milliseconds "1000 * ${CMAKE_MATCH_1} + 1${CMAKE_MATCH_2} - 1000")
  set(${result} ${milliseconds} PARENT_SCOPE)
endfunction()

measure(${sorting} baseline)
measure(${EXAMPLE} time)
math(EXPR ratio "100 * ${time} / ${baseline}")
message("${EXAMPLE}: ${time} ms, ${ratio} % of a sort by Thrust (${baseline} ms), budget ${budget} %")
if(ratio GREATER budget)
  message(FATAL_ERROR "Over budget")
endif()

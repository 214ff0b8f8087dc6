# Arguments: SETTINGS, FILE.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
file(READ ${FILE} text)
if(NOT text MATCHES "^// expect: ([^\n]+)")
  message(FATAL_ERROR "${FILE}: the first line must be `// expect: <message>`")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} ${FLAGS}
                        -include ${BINARY_DIR}/compile_fail/precompiled.hpp -fsyntax-only -Wfatal-errors ${FILE}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${FILE} compiles; expected: ${expected}")
endif()
string(REGEX MATCH "[^\n]*error:[^\n]*" first "${output}")
string(FIND "${first}" "${expected}" at)
if(at EQUAL -1)
  message("${output}\nexpected: ${expected}\nfirst error: ${first}\n")
  message(FATAL_ERROR "The first error does not contain the expected message")
endif()

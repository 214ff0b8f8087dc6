# What docs/compatibility.md says of flags: refused ones get a sentence first, allowed ones compile. Argument: SETTINGS.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
set(source ${BINARY_DIR}/flags.cpp)
file(WRITE ${source} "#include <algoperf/algoperf.hpp>\n")

function(compiles expected) # flags...
  execute_process(COMMAND ${COMPILER} ${FLAGS} ${ARGN} -fsyntax-only ${source} RESULT_VARIABLE result ERROR_VARIABLE said)
  string(REGEX MATCH "error:[^\n]*" first "${said}")
  if(expected STREQUAL "" AND NOT result EQUAL 0)
    message(SEND_ERROR "${ARGN}: ${first}")
  elseif(NOT expected STREQUAL "" AND NOT first MATCHES "${expected}")
    message(SEND_ERROR "${ARGN}: expected an error that says \"${expected}\", got \"${first}\"")
  endif()
endfunction()

compiles("")
compiles("algoperf: -ffast-math" -ffast-math)
compiles("algoperf: -ffast-math" -ffinite-math-only)
compiles("" -ffast-math -DALGOPERF_ALLOW_FAST_MATH)
compiles("" -O2 -fno-math-errno -fno-trapping-math)
compiles("" -DNDEBUG -ffp-contract=fast)
compiles("by exceptions" -fno-exceptions)

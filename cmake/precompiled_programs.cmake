# Precompiles algoperf/algoperf.hpp for the examples and the programs of docs/ that include it first. g++ then takes about
# a second less per program.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_programs.cpp CONTENT "")
add_library(programs_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/precompiled_programs.cpp)
target_link_libraries(programs_precompiled PRIVATE algoperf::gemm)
target_precompile_headers(programs_precompiled PRIVATE <algoperf/algoperf.hpp>)
algoperf_own_target(programs_precompiled)
target_compile_options(programs_precompiled PRIVATE ${ALGOPERF_EXAMPLE_OPTIONS})

# Lets a program use the precompiled header if its source includes algoperf/algoperf.hpp first. Call it last.
function(algoperf_precompiled program source)
  file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
  if(first STREQUAL "#include <algoperf/algoperf.hpp>")
    target_precompile_headers(${program} REUSE_FROM programs_precompiled)
  endif()
endfunction()

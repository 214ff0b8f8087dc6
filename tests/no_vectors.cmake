# Checks that an object file contains no loop over SIMD vectors: the code that algoperf::gemm shares with programs may be
# compiled for another processor than they are, and vectors of another width have another layout. Argument: OBJECT.
execute_process(COMMAND nm -C ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(NOT symbols MATCHES "algoperf::GraphExecutor<algoperf::Host<float> ?>::")
  message(FATAL_ERROR "${OBJECT} does not contain GraphExecutor")
endif()
# The inline namespaces of ALGOPERF_SIMD (backend/host/instruction_set.hpp).
string(REGEX MATCH "[^\n]*algoperf::(detail::)?(tiled::)?(other|neon|sse2|avx|avx2|avx512)::[^\n]*" found "${symbols}")
if(found)
  message(FATAL_ERROR "${OBJECT} contains ${found}")
endif()

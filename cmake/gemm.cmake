# The library algoperf::gemm, which computes matrix products and convolutions with one provider, and contains compiled
# parts of training programs.
include(CheckCXXSymbolExists)
set(ALGOPERF_GEMM tiles CACHE STRING "Provider of matrix products in algoperf::gemm: tiles, eigen, onednn, cblas")
set_property(CACHE ALGOPERF_GEMM PROPERTY STRINGS tiles eigen onednn cblas)
# Independent of the optimisation level of the programs that use the library.
set(ALGOPERF_GEMM_OPTIONS -O3 CACHE STRING "Compiler options of algoperf::gemm, after those of the build type")

# Sets `found` to the providers that are available: tiles, eigen, and those whose packages are found.
function(algoperf_gemm_providers found)
  # oneDNN is found by its files, because its package's CMake configuration may require OpenCL, which the package does
  # not install.
  find_path(ALGOPERF_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
  find_library(ALGOPERF_DNNL_LIBRARY dnnl)
  find_package(OpenMP QUIET COMPONENTS CXX)
  find_package(BLAS QUIET)  # BLA_VENDOR selects the vendor
  find_path(ALGOPERF_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas blis)
  if(BLAS_FOUND AND ALGOPERF_CBLAS_INCLUDE_DIR)
    set(CMAKE_REQUIRED_INCLUDES ${ALGOPERF_CBLAS_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES BLAS::BLAS)
    check_cxx_symbol_exists(cblas_sgemm cblas.h ALGOPERF_HAS_CBLAS)
  endif()
  set(providers tiles eigen)
  if(ALGOPERF_DNNL_INCLUDE_DIR AND ALGOPERF_DNNL_LIBRARY AND OpenMP_CXX_FOUND)
    list(APPEND providers onednn)
  endif()
  if(ALGOPERF_HAS_CBLAS)
    list(APPEND providers cblas)
  endif()
  set(${found} ${providers} PARENT_SCOPE)
endfunction()

# Sets `found` to whether the library is compiled for several instruction sets: for x86-64, unless flags choose one.
function(algoperf_dispatches found)
  set(${found} OFF PARENT_SCOPE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT ALGOPERF_NATIVE
     AND NOT CMAKE_CXX_FLAGS MATCHES "-march=|-fsanitize=")
    set(${found} ON PARENT_SCOPE)
  endif()
endfunction()

# Adds objects, a part of algoperf::gemm that is the same for all providers. They are position-independent, because the
# library may become part of a shared one.
function(algoperf_gemm_objects objects)  # SOURCE...
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE sources)
  add_library(${objects} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${objects} PRIVATE algoperf)
  algoperf_own_target(${objects})
  target_compile_options(${objects} PRIVATE ${ALGOPERF_GEMM_OPTIONS})
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# Adds a library that computes matrix products and convolutions with one provider, and contains the other parts of
# algoperf::gemm. A third argument DISPATCH takes the library's own tiles (if they are the provider), the decompositions
# and the kernels of common rules compiled for several instruction sets, one of which is chosen at run time.
function(algoperf_gemm_library target provider)
  if(NOT provider MATCHES "^(tiles|eigen|onednn|cblas)$")
    message(FATAL_ERROR "algoperf: ALGOPERF_GEMM is ${provider}, expected tiles, eigen, onednn or cblas")
  endif()
  add_library(${target} STATIC ${PROJECT_SOURCE_DIR}/src/gemm_${provider}.cpp)
  target_link_libraries(${target} PUBLIC algoperf)
  target_compile_definitions(${target} PUBLIC ALGOPERF_EXTERN_GEMM)
  target_compile_options(${target} PRIVATE ${ALGOPERF_GEMM_OPTIONS})
  algoperf_own_target(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:algoperf_training>)
  if("DISPATCH" IN_LIST ARGN)
    target_compile_definitions(${target} PRIVATE ALGOPERF_DISPATCH)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:algoperf_dispatch>)
    foreach(instruction_set IN LISTS algoperf_instruction_sets)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:algoperf_for_${instruction_set}>)
    endforeach()
  else()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:algoperf_one_instruction_set>)
  endif()
  if(NOT provider STREQUAL "onednn" AND NOT (provider STREQUAL "tiles" AND "DISPATCH" IN_LIST ARGN))
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/convolution_tiles.cpp)
  endif()
  if(provider STREQUAL "onednn")
    find_path(ALGOPERF_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
    find_library(ALGOPERF_DNNL_LIBRARY dnnl REQUIRED)
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    target_include_directories(${target} SYSTEM PRIVATE ${ALGOPERF_DNNL_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE ${ALGOPERF_DNNL_LIBRARY} OpenMP::OpenMP_CXX)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/convolution_onednn.cpp)
  elseif(provider STREQUAL "cblas")
    find_package(BLAS REQUIRED)
    find_path(ALGOPERF_CBLAS_INCLUDE_DIR cblas.h REQUIRED PATH_SUFFIXES openblas blis)
    target_include_directories(${target} SYSTEM PRIVATE ${ALGOPERF_CBLAS_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE BLAS::BLAS)
  endif()
endfunction()

# The common parts of training programs. Only the layers have loops over SIMD vectors (compiled.hpp), so -O3 would gain
# nothing.
algoperf_gemm_objects(algoperf_training training.cpp layers.cpp)
target_compile_definitions(algoperf_training PRIVATE ALGOPERF_EXTERN_GEMM)
string(REPLACE -O3 -O2 options_of_training "${ALGOPERF_GEMM_OPTIONS}")
target_compile_options(algoperf_training PRIVATE ${options_of_training})

# Products in bfloat16, decompositions, sweeps and maps for one instruction set, or for several of x86-64.
algoperf_gemm_objects(algoperf_one_instruction_set gemm_bfloat16.cpp linear_algebra.cpp kernels.cpp)
target_compile_definitions(algoperf_one_instruction_set PRIVATE ALGOPERF_EXTERN_GEMM)
set(algoperf_instruction_sets sse2 avx2 avx512)
set(options_of_sse2 "")
set(options_of_avx2 -mavx2 -mfma)
set(options_of_avx512 ${options_of_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  algoperf_gemm_objects(algoperf_dispatch dispatch.cpp gemm_bfloat16.cpp linear_algebra.cpp kernels.cpp)
  target_compile_definitions(algoperf_dispatch PRIVATE ALGOPERF_EXTERN_GEMM ALGOPERF_DISPATCH)
  foreach(instruction_set IN LISTS algoperf_instruction_sets)
    set(tables tile_table.cpp decomposition_table.cpp)
    if(NOT instruction_set STREQUAL "sse2")  # for which every program is compiled
      list(APPEND tables kernel_table.cpp)
    endif()
    algoperf_gemm_objects(algoperf_for_${instruction_set} ${tables})
    target_compile_definitions(algoperf_for_${instruction_set} PRIVATE ALGOPERF_INSTRUCTION_SET=${instruction_set})
    target_compile_options(algoperf_for_${instruction_set} PRIVATE -march=x86-64 ${options_of_${instruction_set}})
  endforeach()
endif()

algoperf_dispatches(dispatches)
if(dispatches)
  algoperf_gemm_library(algoperf_gemm ${ALGOPERF_GEMM} DISPATCH)
else()
  algoperf_gemm_library(algoperf_gemm ${ALGOPERF_GEMM})
endif()
if(NOT ALGOPERF_INSTALL)
  set_target_properties(algoperf_gemm PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# The library algoperf::gemm, which computes matrix products and convolutions with one provider, and contains compiled
# parts of training programs.
include(CheckCXXSymbolExists)
set(ALGOPERF_GEMM tiles CACHE STRING "Provider of matrix products in algoperf::gemm: tiles, eigen, onednn, cblas")
set_property(CACHE ALGOPERF_GEMM PROPERTY STRINGS tiles eigen onednn cblas)

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

# Sets `found` to whether the tiles are compiled for several instruction sets: for x86-64, unless flags choose one.
function(algoperf_dispatches found)
  set(${found} OFF PARENT_SCOPE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT ALGOPERF_NATIVE
     AND NOT CMAKE_CXX_FLAGS MATCHES "-march=|-fsanitize=")
    set(${found} ON PARENT_SCOPE)
  endif()
endfunction()

# Compiles the tiles for three instruction sets of x86-64 as part of `target`, which chooses one at run time.
function(algoperf_dispatch_tiles target)
  target_compile_definitions(${target} PRIVATE ALGOPERF_GEMM_DISPATCH)
  set(options_of_sse2 "")
  set(options_of_avx2 -mavx2 -mfma)
  set(options_of_avx512 ${options_of_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl)
  foreach(instruction_set sse2 avx2 avx512)
    set(objects ${target}_${instruction_set})
    add_library(${objects} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/tile_table.cpp)
    target_link_libraries(${objects} PRIVATE algoperf)
    target_compile_definitions(${objects} PRIVATE ALGOPERF_INSTRUCTION_SET=${instruction_set})
    algoperf_own_target(${objects})
    target_compile_options(${objects} PRIVATE -O3 -march=x86-64 ${options_of_${instruction_set}})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # the library may become part of a shared one
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()

# Adds a library that computes matrix products and convolutions with one provider, and contains algoperf_training. A third
# argument DISPATCH compiles the library's own tiles for several instruction sets.
function(algoperf_gemm_library target provider)
  if(NOT provider MATCHES "^(tiles|eigen|onednn|cblas)$")
    message(FATAL_ERROR "algoperf: ALGOPERF_GEMM is ${provider}, expected tiles, eigen, onednn or cblas")
  endif()
  add_library(${target} STATIC ${PROJECT_SOURCE_DIR}/src/gemm_${provider}.cpp)
  target_link_libraries(${target} PUBLIC algoperf)
  target_compile_definitions(${target} PUBLIC ALGOPERF_EXTERN_GEMM)
  target_compile_options(${target} PRIVATE -O3)  # independent of the optimisation level of the programs that use it
  algoperf_own_target(${target})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:algoperf_training>)
  if("DISPATCH" IN_LIST ARGN)
    algoperf_dispatch_tiles(${target})
  elseif(NOT provider STREQUAL "onednn")
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

# What algoperf::gemm contains besides products and convolutions, the same for all providers. Position-independent,
# because the library may become part of a shared one.
add_library(algoperf_training OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/training.cpp
                                                     ${PROJECT_SOURCE_DIR}/src/linear_algebra.cpp)
target_link_libraries(algoperf_training PRIVATE algoperf)
target_compile_definitions(algoperf_training PRIVATE ALGOPERF_EXTERN_GEMM)
algoperf_own_target(algoperf_training)
target_compile_options(algoperf_training PRIVATE -O2)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/linear_algebra.cpp PROPERTIES COMPILE_OPTIONS -O3)
set_target_properties(algoperf_training PROPERTIES POSITION_INDEPENDENT_CODE ON)

algoperf_dispatches(dispatches)
if(dispatches AND ALGOPERF_GEMM STREQUAL "tiles")
  algoperf_gemm_library(algoperf_gemm tiles DISPATCH)
else()
  algoperf_gemm_library(algoperf_gemm ${ALGOPERF_GEMM})
endif()
if(NOT ALGOPERF_INSTALL)
  set_target_properties(algoperf_gemm PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

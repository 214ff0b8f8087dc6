# Defines algoperf::thrust if CCCL's headers (Thrust, CUB, libcu++) are found. The systems CPP and OMP need neither a
# GPU nor a CUDA compiler.
set(ALGOPERF_THRUST_SYSTEM CPP CACHE STRING "The system on which Thrust runs: CPP, OMP or CUDA (in .cu files)")
set_property(CACHE ALGOPERF_THRUST_SYSTEM PROPERTY STRINGS CPP OMP CUDA)
find_path(
  ALGOPERF_CCCL_INCLUDE_DIR thrust/version.h
  HINTS ENV CUDA_PATH ENV CUDAToolkit_ROOT
  PATHS /usr/local/cuda /opt/cuda
  PATH_SUFFIXES include/cccl include targets/x86_64-linux/include/cccl targets/sbsa-linux/include/cccl
  DOC "The folder that contains thrust/version.h")

set(_algoperf_thrust_found ${ALGOPERF_CCCL_INCLUDE_DIR})
if(ALGOPERF_THRUST_SYSTEM STREQUAL "OMP")
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND)
    set(_algoperf_thrust_found FALSE)
  endif()
endif()
if(_algoperf_thrust_found AND NOT TARGET algoperf::thrust)
  add_library(algoperf::thrust INTERFACE IMPORTED GLOBAL)
  target_include_directories(algoperf::thrust INTERFACE ${ALGOPERF_CCCL_INCLUDE_DIR})
  target_compile_definitions(algoperf::thrust
                             INTERFACE THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${ALGOPERF_THRUST_SYSTEM})
  target_link_libraries(algoperf::thrust INTERFACE algoperf::algoperf)
  if(ALGOPERF_THRUST_SYSTEM STREQUAL "OMP")
    target_link_libraries(algoperf::thrust INTERFACE OpenMP::OpenMP_CXX)
  endif()
elseif(NOT _algoperf_thrust_found AND NOT algoperf_FIND_QUIETLY)
  message(STATUS "algoperf: no thrust component (set ALGOPERF_CCCL_INCLUDE_DIR to CCCL's headers; the system OMP also "
                 "needs OpenMP)")
endif()
unset(_algoperf_thrust_found)

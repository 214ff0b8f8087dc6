# Defines algoperf::cuda if the CUDA Toolkit is found. A project that links it must enable the language CUDA, compile
# its .cu files as C++20, and set the device architectures (CMAKE_CUDA_ARCHITECTURES).
if(NOT TARGET algoperf::cuda)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    add_library(algoperf::cuda INTERFACE IMPORTED GLOBAL)
    target_link_libraries(algoperf::cuda INTERFACE algoperf::algoperf CUDA::cudart CUDA::cublas CUDA::cusolver)
    target_compile_definitions(algoperf::cuda INTERFACE EIGEN_NO_CUDA)
  elseif(NOT algoperf_FIND_QUIETLY)
    message(STATUS "algoperf: no cuda component (the CUDA Toolkit was not found)")
  endif()
endif()

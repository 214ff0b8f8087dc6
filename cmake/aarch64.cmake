# A toolchain file for tests on AArch64 (NEON): cross-compiles with Debian's g++-aarch64-linux-gnu, and runs programs in
# an emulator, qemu-user-static. Programs are static, because the emulator would not find the libraries of AArch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

# Of the host's packages, only those that consist of headers can be used.
foreach(package BLAS ZLIB PNG JPEG fmt MPI benchmark OpenMP CUDAToolkit)
  set(CMAKE_DISABLE_FIND_PACKAGE_${package} ON)
endforeach()

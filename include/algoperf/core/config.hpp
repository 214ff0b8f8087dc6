// The library's version, checks of compiler flags, and macros for what differs between compilers.
#pragma once

#define ALGOPERF_VERSION_MAJOR 0
#define ALGOPERF_VERSION_MINOR 1
#define ALGOPERF_VERSION_PATCH 0

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(ALGOPERF_ALLOW_FAST_MATH)
#error "algoperf: -ffast-math and -ffinite-math-only disable the checks for NaN and infinity (docs/compatibility.md)"
#endif

#if !defined(__cpp_exceptions) && !defined(__CUDACC__)
#error "algoperf: errors are reported by exceptions, so -fno-exceptions is not supported"
#endif

// The tests define this macro as empty in unoptimised builds with sanitizers, which then compile in 0.8 of the time.
#if !defined(ALGOPERF_ALWAYS_INLINE)
#define ALGOPERF_ALWAYS_INLINE __attribute__((always_inline))
#endif

// ALGOPERF_HD marks a function that runs on the host and on a device: every kernel's operator(), `at` and `measure`.
// It is always inlined, so that a kernel that is a template over T has no call overhead when T is a SIMD vector.
#if defined(__CUDACC__)
#define ALGOPERF_HD __host__ __device__ __forceinline__
#else
#define ALGOPERF_HD inline ALGOPERF_ALWAYS_INLINE
#endif

// Precedes a function template marked ALGOPERF_HD that may be passed host-only functions: nvcc then does not check
// which functions it calls.
#if defined(__CUDACC__)
#define ALGOPERF_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ALGOPERF_NO_EXEC_CHECK
#endif

// Marks a host-only function that must be inlined into its caller because it takes lambdas marked
// ALGOPERF_INLINE_LAMBDA.
#define ALGOPERF_INLINE inline ALGOPERF_ALWAYS_INLINE

// Marks a host function that is compiled to a single copy, neither inlined nor specialised. The compiler therefore
// contracts a x + b y to the same multiply-add for every caller and every number of threads.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define ALGOPERF_ONE_COPY __attribute__((noinline, noclone))
#else
#define ALGOPERF_ONE_COPY __attribute__((noinline))
#endif

// Marks a host function that runs rarely, e.g. once per model. It is compiled for size, which takes less time.
#define ALGOPERF_COLD __attribute__((cold))

// 1 if the program takes from algoperf::gemm what src/training.cpp contains, 0 if it compiles that itself: always with
// libstdc++'s checked containers, which have another layout. Tests of changed headers define ALGOPERF_WITHOUT_COMPILED.
#if defined(ALGOPERF_EXTERN_GEMM) && !defined(ALGOPERF_WITHOUT_COMPILED) && !defined(_GLIBCXX_DEBUG)
#define ALGOPERF_USES_COMPILED 1
#else
#define ALGOPERF_USES_COMPILED 0
#endif

// Functions that src/training.cpp contains are marked ALGOPERF_COMPILED, and defined only where
// ALGOPERF_DEFINES_COMPILED is 1. In programs that compile them themselves, these functions are inline. Other programs
// only declare them. Their results must not depend on compiler flags.
#if !ALGOPERF_USES_COMPILED
#define ALGOPERF_DEFINES_COMPILED 1
#define ALGOPERF_COMPILED inline
#elif defined(ALGOPERF_IN_TRAINING_CPP)
#define ALGOPERF_DEFINES_COMPILED 1
#define ALGOPERF_COMPILED
#else
#define ALGOPERF_DEFINES_COMPILED 0
#endif

// Marks a lambda that must be inlined into its caller: auto f = [&](auto k) ALGOPERF_INLINE_LAMBDA { ... };
#define ALGOPERF_INLINE_LAMBDA ALGOPERF_ALWAYS_INLINE

// Precedes a loop over a few registers, which must be unrolled: arrays of vectors then stay in registers, even at -O1.
#define ALGOPERF_UNROLL _Pragma("GCC unroll 16")

// 1 in a .cu file, in both its host and its device compilation.
#if defined(__CUDACC__)
#define ALGOPERF_IN_CUDA_FILE 1
#else
#define ALGOPERF_IN_CUDA_FILE 0
#endif

// 1 in the device compilation of a .cu file.
#if defined(__CUDA_ARCH__)
#define ALGOPERF_ON_DEVICE 1
#else
#define ALGOPERF_ON_DEVICE 0
#endif

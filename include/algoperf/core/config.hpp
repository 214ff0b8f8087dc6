// The one place that knows which compiler reads the header. Everything else is plain C++20.
#pragma once

#define ALGOPERF_VERSION_MAJOR 0
#define ALGOPERF_VERSION_MINOR 1
#define ALGOPERF_VERSION_PATCH 0

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(ALGOPERF_ALLOW_FAST_MATH)
#error "algoperf: -ffast-math and -ffinite-math-only let NaN and infinity pass unseen (docs/compatibility.md)"
#endif

#if !defined(__cpp_exceptions) && !defined(__CUDACC__)
#error "algoperf: it reports errors by exceptions, and -fno-exceptions leaves it none"
#endif

// ALGOPERF_HD marks a function that runs on the host and on a device: every kernel's operator(), `at` and `measure`.
// It always inlines, so that a kernel written over T costs nothing when T is a SIMD vector.
#if defined(__CUDACC__)
#define ALGOPERF_HD __host__ __device__ __forceinline__
#else
#define ALGOPERF_HD inline __attribute__((always_inline))
#endif

// Before a function template marked ALGOPERF_HD that may be given functions of the host alone.
#if defined(__CUDACC__)
#define ALGOPERF_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define ALGOPERF_NO_EXEC_CHECK
#endif

// Marks a function of the host alone that must inline where it is called, since it takes such lambdas.
#define ALGOPERF_INLINE inline __attribute__((always_inline))

// Marks a function of the host of which there is one copy, neither inlined nor specialised: whoever calls it, on
// however many threads, the compiler has contracted a x + b y to the same multiply-add.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define ALGOPERF_ONE_COPY __attribute__((noinline, noclone))
#else
#define ALGOPERF_ONE_COPY __attribute__((noinline))
#endif

// Marks a lambda that must inline where it is called: auto f = [&](auto k) ALGOPERF_INLINE_LAMBDA { ... };
#define ALGOPERF_INLINE_LAMBDA __attribute__((always_inline))

// 1 in a .cu file, on its host and device side.
#if defined(__CUDACC__)
#define ALGOPERF_IN_CUDA_FILE 1
#else
#define ALGOPERF_IN_CUDA_FILE 0
#endif

// 1 while compiling the device side of a .cu file.
#if defined(__CUDA_ARCH__)
#define ALGOPERF_ON_DEVICE 1
#else
#define ALGOPERF_ON_DEVICE 0
#endif

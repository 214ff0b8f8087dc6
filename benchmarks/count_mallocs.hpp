// mallocs(): the number of allocations this program has made through any allocation function of the C library.
// Include this header in exactly one file of a program: it replaces glibc's functions.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#if defined(__SSE2__)
#include <immintrin.h>  // clang's version redeclares posix_memalign and must precede the definition below
#endif

namespace bench {

inline std::size_t malloc_count = 0;
inline std::size_t mallocs() { return __atomic_load_n(&malloc_count, __ATOMIC_RELAXED); }
inline void count_malloc() { __atomic_add_fetch(&malloc_count, std::size_t{1}, __ATOMIC_RELAXED); }

}  // namespace bench

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept { return bench::count_malloc(), __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) noexcept { return bench::count_malloc(), __libc_calloc(n, size); }
void* realloc(void* old, std::size_t size) noexcept { return bench::count_malloc(), __libc_realloc(old, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return bench::count_malloc(), __libc_memalign(alignment, size);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t size) noexcept {
  bench::count_malloc();
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}
}

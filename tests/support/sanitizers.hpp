// Which sanitizer instruments this program. g++ defines macros; clang++ has features.
#pragma once

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

// All of these replace malloc.
#if THREAD_SANITIZER || defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) || HAS_FEATURE(memory_sanitizer)
#define ANY_SANITIZER 1
#else
#define ANY_SANITIZER 0
#endif

// Made by make_akima.py with scipy 1.17.1. Do not edit.
#pragma once

// clang-format off
namespace golden::akima {

struct Value {
  double x, y;
};
inline constexpr double x[] = {0, 1, 2.5, 3, 4.5, 5};
inline constexpr double y[] = {3, 1, 0.2, 0.5, 0.4, 2};
inline constexpr Value values[] = {{0, 3.0}, {0.3, 2.240076923076923}, {1.7, 0.3636235517568851}, {2.6, 0.24008080808080814}, {3.2, 0.5482230972626453}, {4.4, 0.3615153417413304}, {4.9, 1.5320587570621484}};
inline constexpr double minimum = 2.292848;  // of ten million places

struct Exponent {
  const char* config;
  double size;  // of log N against log C
};
inline constexpr Exponent exponents[] = {
    {"rw-base-long-kaplan-kaplan", 0.8336378},
    {"rw-base-long-kaplan-standard", 0.7005259},
    {"rw-base-short-kaplan-standard", 0.6058506},
    {"rw-base-short-chinchilla-standard", 0.5721247},
    {"rw-tuned-short-const-standard", 0.4967766},
};

}  // namespace golden::akima
// clang-format on

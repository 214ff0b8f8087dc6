#include "algoperf/backend/host.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../support/near.hpp"

namespace ap = algoperf;

static_assert(ap::Backend<ap::Host<float>> && ap::Backend<ap::Host<double>>);
static_assert(std::is_same_v<decltype(ap::Host{})::Scalar, float>);

namespace {

// 0.25, 1.25, ... : their sums are exact.
template <class S>
std::vector<S> ramp(std::size_t n) {
  std::vector<S> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<S>(i % 97) + S(0.25);
  return values;
}

struct MultiplyAdd {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a, T b) const {
    return ap::math::select(a > T(50), x * a + b, -b);
  }
};
struct ExpOfHalf {
  template <class T>
  ALGOPERF_HD T operator()(T, T a) const {
    return ap::math::exp(a / T(2));
  }
};
struct SumAndDifference {
  template <class T>
  ALGOPERF_HD void operator()(T& sum, T& difference, T a, T b) const {
    sum = a + b;
    difference = a - b;
  }
};
struct Subtract {
  template <class T>
  ALGOPERF_HD T operator()(T x, T row) const {
    return x - row;
  }
};
struct SquarePlusThree {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return x * x + T(3);
  }
};

struct DistanceAndProduct {
  static constexpr std::size_t sums = 2;
  template <class T>
  ALGOPERF_HD ap::Sums<T, 2> operator()(T x, T y, T column) const {
    return {{x - column, x * y}};
  }
};

// Lengths around the width of a vector and around the size of a thread's pieces.
const std::size_t lengths[] = {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 100, 16383, 16384, 16385, 40000};

}  // namespace

TEST_CASE_TEMPLATE("map visits every element and none past the end", S, float, double) {
  for (const unsigned threads : {1u, 2u, 3u})
    for (const std::size_t n : lengths) {
      std::vector<S> x = ramp<S>(n + 1);
      const std::vector<S> a = ramp<S>(n), b(n, S(3));
      ap::Host<S>{threads}.map(MultiplyAdd{}, n, x.data(), a.data(), b.data());
      for (std::size_t i = 0; i < n; ++i) REQUIRE(x[i] == (a[i] > 50 ? a[i] * a[i] + 3 : -3));
      CHECK(x[n] == ramp<S>(n + 1)[n]);
    }
}

// Elements behind the last whole vector are computed as a part of a vector.
TEST_CASE_TEMPLATE("a map computes the same bits for an element wherever it is, and touches nothing behind the last", S,
                   float, double) {
  constexpr std::size_t most = 40;
  const std::vector<S> a = ramp<S>(most);
  std::vector<S> exponentials(most), sums(most), differences(most);
  const ap::SerialTeam team;
  team.map(ExpOfHalf{}, most, exponentials.data(), a.data());
  team.map_to_two(SumAndDifference{}, most, sums.data(), differences.data(), a.data(), exponentials.data());
  for (std::size_t begin = 0; begin < 3; ++begin)
    for (std::size_t n = 0; begin + n < most; ++n) {
      std::vector<S> x(n + 1, S(42)), y(n + 1, S(42)), z(n + 1, S(42));
      team.map(ExpOfHalf{}, n, x.data(), a.data() + begin);
      team.map_to_two(SumAndDifference{}, n, y.data(), z.data(), a.data() + begin, exponentials.data() + begin);
      const auto agrees = [&](const std::vector<S>& found, const std::vector<S>& whole) {
        return std::equal(found.begin(), found.end() - 1, whole.begin() + static_cast<std::ptrdiff_t>(begin)) &&
               found.back() == S(42);
      };
      CHECK(agrees(x, exponentials));
      CHECK(agrees(y, sums));
      CHECK(agrees(z, differences));
    }
}

TEST_CASE_TEMPLATE("map_rows passes the same row vector to every row", S, float, double) {
  for (const unsigned threads : {1u, 2u, 3u})
    for (const std::size_t cols : {1u, 3u, 8u, 19u, 300u})
      for (const std::size_t rows : {0u, 1u, 5u, 200u}) {
        std::vector<S> x = ramp<S>(rows * cols);
        const std::vector<S> before = x, row = ramp<S>(cols);
        ap::Host<S>{threads}.map_rows(Subtract{}, rows, cols, x.data(), row.data());
        for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(x[i] == before[i] - row[i % cols]);
      }
}

TEST_CASE_TEMPLATE("column sums", S, float, double) {
  for (const std::size_t cols : {1u, 3u, 8u, 19u, 64u})
    for (const std::size_t rows : {0u, 1u, 63u, 64u, 65u, 500u}) {
      const std::vector<S> x = ramp<S>(rows * cols);
      std::vector<S> found(cols, S(-1)), expected(cols);
      ap::Host<S>{}.column_sums(rows, cols, x.data(), found.data());
      for (std::size_t i = 0; i < x.size(); ++i) expected[i % cols] += x[i];
      CHECK(found == expected);
      ap::Host<S>{}.column_sums(rows, cols, x.data(), found.data(), true);  // exact
      for (S& each : expected) each *= 2;
      CHECK(found == expected);
    }
}

TEST_CASE_TEMPLATE("column sums of several terms do not depend on the number of threads", S, float, double) {
  for (const std::size_t cols : {1u, 3u, 8u, 19u, 64u, 67u, 300u})
    for (const std::size_t rows : {0u, 1u, 63u, 64u, 65u, 500u}) {
      const std::vector<S> x = ramp<S>(rows * cols), y(rows * cols, S(2)), column = ramp<S>(cols);
      std::vector<S> expected(2 * cols);  // all sums are exact
      for (std::size_t i = 0; i < x.size(); ++i) {
        expected[i % cols] += x[i] - column[i % cols];
        expected[cols + i % cols] += x[i] * y[i];
      }
      const auto sums_of = [&](const std::vector<S>& first, unsigned threads) {
        std::vector<S> sums(2 * cols, S(-1));
        ap::Host<S>{threads}.column_sums(DistanceAndProduct{}, rows, cols, {sums.data(), sums.data() + cols},
                                         {first.data(), y.data()}, {column.data()});
        return sums;
      };
      CHECK(sums_of(x, 1) == expected);
      std::vector<S> thirds = x;  // their sums are rounded
      for (S& each : thirds) each /= 3;
      for (const unsigned threads : {2u, 3u}) CHECK(sums_of(thirds, threads) == sums_of(thirds, 1));
    }
}

TEST_CASE_TEMPLATE("row and column sums of a kernel do not depend on the number of threads", S, float, double) {
  for (const std::size_t cols : {1u, 3u, 19u, 64u, 1023u, 1024u, 1100u})
    for (const std::size_t rows : {1u, 2u, 63u, 64u, 65u, 200u}) {
      const std::vector<S> x = ramp<S>(rows * cols);
      std::vector<double> of_rows(rows), of_columns(cols);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double square = static_cast<double>(x[i]) * static_cast<double>(x[i]) + 3;
        of_rows[i / cols] += square;
        of_columns[i % cols] += square;
      }
      const auto sums_on = [&](unsigned threads) {
        std::vector<S> sums(rows + cols, S(-1));
        ap::Host<S>{threads}.row_and_column_sums(SquarePlusThree{}, rows, cols, x.data(), sums.data(),
                                                 sums.data() + rows);
        return sums;
      };
      const std::vector<S> one = sums_on(1);
      const double tolerance = sizeof(S) == 4 ? 3e-6 : 1e-14;
      for (std::size_t r = 0; r < rows; ++r) REQUIRE(one[r] == near(of_rows[r], tolerance));
      for (std::size_t c = 0; c < cols; ++c) REQUIRE(one[rows + c] == near(of_columns[c], tolerance));
      for (const unsigned threads : {2u, 3u}) CHECK(sums_on(threads) == one);
    }
}

TEST_CASE_TEMPLATE("sum and dot, in double for every scalar type", S, float, double) {
  for (const std::size_t n : lengths) {
    const std::vector<S> x = ramp<S>(n);
    double sum = 0, dot = 0;
    for (const S v : x) {
      sum += static_cast<double>(v);
      dot += static_cast<double>(v) * static_cast<double>(v);
    }
    CHECK(ap::Host<S>{}.sum(n, x.data()) == sum);
    CHECK(ap::Host<S>{}.dot(n, x.data(), x.data()) == dot);
  }
  // 2^24 + 1 ones: a sum in float would stop at 2^24.
  const std::vector<float> ones((1 << 24) + 1, 1.0f);
  CHECK(ap::Host<>{}.sum(ones.size(), ones.data()) == 0x1p24 + 1);
}

TEST_CASE("add_rows adds to rows by key, repeated keys in order") {
  const std::vector<std::int32_t> keys{2, 0, 2, 2};
  const std::vector<float> x{1, 2, 10, 20, 100, 200, 0x1p30f, 1};
  std::vector<float> out{0, 0, 7, 7, 1000, 0};
  ap::Host<>{}.add_rows(4, 2, keys.data(), x.data(), out.data());
  CHECK(out == std::vector<float>{10, 20, 7, 7, (1000.0f + 1 + 100) + 0x1p30f, 203});
  ap::Host<>{}.add_rows(0, 2, keys.data(), x.data(), out.data());
  CHECK(out[0] == 10);
}

TEST_CASE("add_rows: threads change no bit") {
  const std::size_t rows = 701, cols = 53;
  std::vector<std::int32_t> keys(rows);
  std::vector<float> x(rows * cols);
  for (std::size_t i = 0; i < rows; ++i) keys[i] = static_cast<std::int32_t>(i * i % 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 / static_cast<float>(1 + i % 1000);
  std::vector<float> one(7 * cols, 0.5f), two = one, five = one;
  ap::Host<>{}.add_rows(rows, cols, keys.data(), x.data(), one.data());
  ap::Host<>{.threads = 2}.add_rows(rows, cols, keys.data(), x.data(), two.data());
  ap::Host<>{.threads = 5}.add_rows(rows, cols, keys.data(), x.data(), five.data());
  CHECK(two == one);
  CHECK(five == one);
}

TEST_CASE("for_each_row visits every row once, with a team that supports sum and max") {
  for (const unsigned threads : {1u, 2u, 3u}) {
    const std::size_t rows = 1001, cols = 37;
    const std::vector<float> x = ramp<float>(rows * cols);
    std::vector<float> sums(rows), tops(rows), copies(rows * cols);
    std::vector<int> visits(rows);
    ap::Host<>{threads}.for_each_row(rows, cols, [&](const auto& team, std::size_t r) {
      const float* const row = x.data() + r * cols;
      ++visits[r];
      sums[r] = team.template sum<float>(cols, [row](std::size_t i) { return row[i]; });
      tops[r] = team.template max<float>(cols, [row](std::size_t i) { return row[i]; });
      team.copy(cols, row, copies.data() + r * cols);
      team.each(cols, [&](std::size_t i) { copies[r * cols + i] += 1; });
    });
    for (std::size_t r = 0; r < rows; ++r) {
      float sum = 0, top = 0;
      for (std::size_t c = 0; c < cols; ++c) {
        sum += x[r * cols + c];
        top = std::fmax(top, x[r * cols + c]);
        REQUIRE(copies[r * cols + c] == x[r * cols + c] + 1);
      }
      REQUIRE(visits[r] == 1);
      REQUIRE(sums[r] == sum);
      REQUIRE(tops[r] == top);
    }
  }
}

TEST_CASE("run_concurrently makes every call once, never overlaps calls of a slot, and uses all threads at the end") {
  for (const unsigned threads : {1u, 2u, 3u})
    for (const std::size_t slots : {1u, 2u, 3u, 5u})
      for (const std::size_t count : {0u, 1u, 2u, 5u, 40u}) {
        std::vector<int> calls(count), whole(count);
        std::atomic<bool> busy[5] = {}, ok = true;
        ap::Host<>{threads}.run_concurrently(slots, count, [&](const ap::Host<>& one, std::size_t slot, std::size_t i) {
          if (slot >= slots || busy[slot].exchange(true)) ok = false;
          ++calls[i];
          whole[i] = one.threads == threads;
          busy[slot] = false;
        });
        CHECK(ok);
        for (const int made : calls) REQUIRE(made == 1);
        std::size_t rest = 0;
        for (const int all : whole) rest += all != 0;
        CHECK(rest == (threads > 1 && slots >= threads ? count % threads : count));
      }
  CHECK(ap::Host<>{0}.concurrency() == 1);
  CHECK(ap::Host<>{3}.concurrency() == 3);
}

TEST_CASE("arrays are zeroed; fill, copy, read and write") {
  const ap::Host<double> host;
  auto a = host.array<double>(5), b = host.array<double>(5);
  CHECK(host.sum(5, a.data()) == 0);
  host.fill(5, a.data(), 2.0);
  host.copy(5, static_cast<const double*>(a.data()), b.data());
  CHECK(host.sum(5, b.data()) == 10);
  std::vector<double> out(5), in{1, 2, 3, 4, 5};
  host.write(5, static_cast<const double*>(in.data()), a.data());
  host.read(5, static_cast<const double*>(a.data()), out.data());
  CHECK(out == in);
  host.copy(0, static_cast<const double*>(nullptr), static_cast<double*>(nullptr));
}

// What every schedule owes: it is finite, pure, and holds its last value past its end, whatever the step.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"

namespace ap = algoperf;

namespace {

template <class S>
struct Member {
  const char* name;
  S schedule;
  std::uint64_t end;  // from here on it is `last`
  double last;
};
template <class S>
Member(const char*, S, std::uint64_t, double) -> Member<S>;

auto schedule_members() {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  return std::tuple{
      Member{"constant", ap::Constant{.value = 0.5}, 0, 0.5},
      Member{"linear", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10, .begin = 3}, 13, 0.01},
      Member{"linear, no steps", ap::Linear{.from = 1, .to = 2, .steps = 0, .begin = 5}, 5, 2},
      Member{"linear, long", ap::Linear{.from = 1, .to = 0, .steps = far}, far, 0},
      Member{"cosine", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 10}, 10, 0.1},
      Member{"cosine, no steps", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 0}, 0, 0.1},
      Member{"warmup", ap::Warmup{.peak = 1, .steps = 7}, 7, 1},
      Member{"warmup, no steps", ap::Warmup{.peak = 1, .steps = 0, .start = ap::WarmupStart::one_step_off}, 0, 1},
      Member{"warmup_cosine", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .floor = 0.1}, 12, 0.1},
      Member{"warmup_cosine, nothing but warmup", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 4}, 4, 0},
      Member{"warmup_cosine, nothing", ap::WarmupCosine{.peak = 1, .warmup = 0, .total = 0, .floor = 0.2}, 0, 0.2},
      Member{"join",
             ap::join(ap::Warmup{.peak = 1, .steps = 4}, 4, ap::Constant{1}, 5,
                      ap::Linear{.from = 1, .to = 0.5, .steps = 3}),
             12, 0.5},
      Member{"join, no steps", ap::join(ap::Constant{3}, 0, ap::Constant{4}), 0, 4},
  };
}

template <class F>
void for_each_schedule(const F& f) {
  std::apply([&](const auto&... members) { (f(members), ...); }, schedule_members());
}

}  // namespace

TEST_CASE("a schedule keeps its contract") {
  for_each_schedule([](const auto& member) {
    INFO("schedule: ", std::string(member.name));
    static_assert(ap::Schedule<std::remove_cvref_t<decltype(member.schedule)>>);
    CHECK_NOTHROW(member.schedule.check());

    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t step : {member.end, member.end + 1, member.end + 1000, most - 1, most})
      CHECK(member.schedule(step) == member.last);

    const std::uint64_t stride = member.end / 50 + 1;
    std::vector<double> forward, backward;
    for (std::uint64_t i = 0; i < 60; ++i) {
      forward.push_back(member.schedule(i * stride));
      CHECK(std::isfinite(forward.back()));
    }
    for (std::uint64_t i = 60; i-- > 0;) backward.insert(backward.begin(), member.schedule(i * stride));
    CHECK(forward == backward);
  });
}

TEST_CASE("impossible options are refused with a sentence that names the field") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto refused = [](const auto& schedule, const char* sentence) {
    CHECK_THROWS_WITH_AS(schedule.check(), sentence, ap::Error);
  };
  refused(ap::Constant{nan}, "Constant: value is nan, expected a finite number");
  refused(ap::Linear{.from = inf}, "Linear: from is inf, expected a finite number");
  refused(ap::Linear{.to = -inf}, "Linear: to is -inf, expected a finite number");
  refused(ap::Cosine{.peak = nan}, "Cosine: peak is nan, expected a finite number");
  refused(ap::Cosine{.floor = inf}, "Cosine: floor is inf, expected a finite number");
  refused(ap::Warmup{.peak = inf}, "Warmup: peak is inf, expected a finite number");
  refused(ap::Warmup{.from = nan}, "Warmup: from is nan, expected a finite number");
  refused(ap::WarmupCosine{.warmup = 5, .total = 4}, "WarmupCosine: warmup is 5, expected at most total, which is 4");
  refused(ap::WarmupCosine{.floor = nan}, "WarmupCosine: floor is nan, expected a finite number");
  const int negative = -4;
  refused(ap::join(ap::Constant{1}, negative, ap::Constant{2}),
          "join: a schedule has a negative number of steps, expected at least 0");
  refused(ap::join(ap::Constant{1}, 2, ap::Constant{nan}), "Constant: value is nan, expected a finite number");
}

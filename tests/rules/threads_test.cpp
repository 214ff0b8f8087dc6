// The number of threads changes no bit of any rule.
#include <doctest/doctest.h>

#include <string>

#include "../contracts/members.hpp"
#include "../memory_archive.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::Training;

namespace {

template <class S, class Rule>
void check_threads(const Rule& rule, const ap::Layout& layout) {
  Training<Rule, ap::Host<S>> one(rule, layout, ap::Host<S>{.threads = 1});
  one.steps(2, 0.05);
  for (const unsigned threads : {2u, 3u}) {
    Training<Rule, ap::Host<S>> many(rule, layout, ap::Host<S>{.threads = threads});
    many.steps(2, 0.05);
    CHECK(many.values() == one.values());
    CHECK(ap::testing::save(many.state) == ap::testing::save(one.state));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("1, 2 and 3 threads give the same bits", S, float, double) {
  // Around the chunks in which sums are taken, and enough small tensors to share; matrices whose products are cut.
  const ap::Layout chunks = layout_of({{8191}, {8192}, {8193}, {40000}, {1}, {32767}, {32768}});
  const ap::Layout matrices = layout_of({{300, 300}, {8191}, {3, 5}, {200, 170}, {17}});
  const ap::Layout equal = layout_of({{40, 30}, {40, 30}, {17}, {40, 30}, {3, 5}, {40, 30}, {40, 30}, {3, 5}});
  ap::testing::for_each_rule([&](const auto& member) {
    INFO("rule: ", std::string(member.name));
    check_threads<S>(member.rule, chunks);
    check_threads<S>(member.rule, matrices);
    check_threads<S>(member.rule, equal);  // batches
  });
}

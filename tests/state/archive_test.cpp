#include "algoperf/state/archive.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../memory_archive.hpp"

namespace ap = algoperf;

namespace {

struct Inner {
  std::vector<float> weights;
  template <class Archive>
  void visit(Archive& archive) {
    archive.array("weights", weights.data(), weights.size());
  }
};

struct Outer {
  int t = 0;
  Inner first, second;
  double nothing_to_keep = 0;
  template <class Archive>
  void visit(Archive& archive) {
    archive.number("t", t);
    ap::visit_scoped(archive, "first", first);
    ap::visit_scoped(archive, "second", second);
    ap::visit_scoped(archive, "nothing", nothing_to_keep);
    archive.number("t_again", t);
  }
};

}  // namespace

TEST_CASE("one visit member writes and reads, with names in scopes") {
  Outer written{3, {{1, 2}}, {{4}}}, read{0, {{0, 0}}, {{0}}};
  const ap::testing::Saved saved = ap::testing::save(written);
  CHECK(saved.size() == 4);
  CHECK(saved.count("first/weights") == 1);
  CHECK(saved.count("second/weights") == 1);
  CHECK(saved.count("t_again") == 1);  // the scope has ended
  ap::testing::load(read, saved);
  CHECK(read.t == 3);
  CHECK(read.first.weights == written.first.weights);
  CHECK(read.second.weights == written.second.weights);
}

#include "algoperf/core/layout.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

namespace ap = algoperf;

namespace {

// A rule that treats tensors alike if their `key` is equal.
template <class Key>
struct GroupedBy {
  Key key;
  void group(const ap::TensorSpec& spec, ap::GroupKey& into) const { into.mix(100, key(spec)); }
};
template <class Key>
GroupedBy(Key) -> GroupedBy<Key>;

const GroupedBy by_rank{[](const ap::TensorSpec& spec) { return spec.shape.rank; }};
const GroupedBy all_alike{[](const ap::TensorSpec&) { return std::size_t{0}; }};

ap::Layout mlp() {
  ap::Layout layout;
  layout.add({"0.weight", ap::Kind::weight, {5, 3}});
  layout.add({"0.bias", ap::Kind::bias, {5}});
  layout.add({"1.weight", ap::Kind::weight, {4, 5}});
  layout.add({"1.bias", ap::Kind::bias, {4}});
  return layout;
}

std::vector<std::string> names_of(const ap::Layout& layout, const std::vector<ap::TensorHandle>& tensors) {
  std::vector<std::string> names;
  for (const ap::TensorHandle handle : tensors) names.push_back(layout.spec(handle).name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("tensors start at multiples of the alignment, with padding in between") {
  const ap::Layout layout = mlp();
  const std::size_t offsets[] = {0, 16, 32, 64}, sizes[] = {15, 5, 20, 4};
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(layout.place_of({i}).offset == offsets[i]);
    CHECK(layout.place_of({i}).size == sizes[i]);
  }
  CHECK(layout.size() == 80);
  CHECK(layout.parameters() == 44);

  ap::Layout packed(1);
  for (const ap::TensorHandle handle : layout.tensors()) packed.add(layout.spec(handle));
  CHECK(packed.size() == 44);
  CHECK(packed.place_of({3}).offset == 40);
  CHECK(ap::Layout().size() == 0);
}

TEST_CASE("a layout is a range of its tensors in arena order") {
  ap::Layout layout = mlp();
  layout.arrange_for(by_rank);
  Names names;
  for (const ap::TensorSpec& tensor : layout) names.push_back(tensor.name);
  CHECK(names == Names{"0.weight", "1.weight", "0.bias", "1.bias"});
  CHECK(names == names_of(layout, layout.tensors()));
  const ap::Layout empty;
  CHECK((empty.begin() == empty.end()));
  static_assert(std::forward_iterator<ap::Layout::Iterator>);
}

TEST_CASE("tensors are found by name") {
  const ap::Layout layout = mlp();
  CHECK(layout.find("1.weight").index == 2);
  CHECK(layout.spec(layout.find("1.weight")).shape == ap::Shape{4, 5});
  CHECK_THROWS_WITH_AS((void)layout.find("2.weight"), "Layout: there is no tensor '2.weight'", ap::Error);
}

TEST_CASE("duplicate names, empty tensors and an alignment of 0 are rejected") {
  ap::Layout layout = mlp();
  CHECK_THROWS_WITH_AS(layout.add({"0.bias", ap::Kind::bias, {1}}), "Layout: the tensor name '0.bias' is used twice",
                       ap::Error);
  CHECK_THROWS_WITH_AS(layout.add({"empty", ap::Kind::weight, {3, 0}}), "Layout: tensor 'empty' has no elements",
                       ap::Error);
  CHECK_THROWS_WITH_AS(ap::Layout(0), "Layout: alignment is 0, expected at least 1 and less than 2^48", ap::Error);
  CHECK(layout.size() == mlp().size());  // a rejected tensor does not change the layout
}

TEST_CASE("regions are the maximal runs of neighbouring tensors treated alike") {
  const ap::Layout layout = mlp();
  const std::vector<ap::Region> whole = layout.regions_for(all_alike);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].begin == 0);
  CHECK(whole[0].end == layout.size());
  CHECK(whole[0].tensors.size() == 4);

  const std::vector<ap::Region> turns = layout.regions_for(by_rank);
  REQUIRE(turns.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(turns[i].begin == layout.place_of(turns[i].tensors[0]).offset);
    CHECK(turns[i].end == (i < 3 ? turns[i + 1].begin : layout.size()));
  }
  CHECK(ap::Layout().regions_for(by_rank).empty());
}

TEST_CASE("arrange_for makes tensors treated alike neighbours, keeps their order, and keeps handles valid") {
  ap::Layout layout = mlp();
  const ap::TensorHandle bias = layout.find("0.bias");
  layout.arrange_for(by_rank);
  CHECK(names_of(layout, layout.tensors()) == Names{"0.weight", "1.weight", "0.bias", "1.bias"});
  CHECK(layout.spec(bias).name == "0.bias");
  CHECK(layout.place_of(bias).offset == 48);
  CHECK(layout.size() == mlp().size());

  const std::vector<ap::Region> regions = layout.regions_for(by_rank);
  REQUIRE(regions.size() == 2);
  CHECK(names_of(layout, regions[0].tensors) == Names{"0.weight", "1.weight"});
  CHECK(names_of(layout, regions[1].tensors) == Names{"0.bias", "1.bias"});
  CHECK(regions[1].begin == regions[0].end);
  CHECK(regions[1].size() == 32);

  layout.arrange_for(by_rank);  // a second call changes nothing
  CHECK(names_of(layout, layout.tensors()) == Names{"0.weight", "1.weight", "0.bias", "1.bias"});
}

TEST_CASE("keys of several predicates are their common refinement") {
  ap::GroupKey a, b, c;
  a.mix(2, 0), a.mix(3, 2);
  b.mix(2, 1), b.mix(3, 2);
  c.mix(2, 0), c.mix(3, 2);
  CHECK(a == c);
  CHECK(!(a == b));
  CHECK(a < b);
}

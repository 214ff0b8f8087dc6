#include "algoperf/nn/tied.hpp"

#include <algorithm>

#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/flatten.hpp"
#include "algoperf/nn/layers/layer_norm.hpp"
#include "algoperf/nn/residual.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

constexpr ap::Embedding table{.vocabulary = 16, .width = 5, .init = ap::Init::lecun_normal};
constexpr ap::Tied tied(table, ap::Flatten{}, ap::Dense{.units = 5});
constexpr ap::Model tied_model(ap::Shape{3}, tied);
static_assert(tied_model.output() == ap::Shape{16});
static_assert(tied_model.tokens() == 16);
static_assert(tied_model.parameters() == 16 * 5 + 15 * 5 + 5 + 16);

// Compares with a model that has a separate head, initialised with the table's values: the outputs are equal, and the
// shared table's gradient is the sum of the gradients of the table and the head.
TEST_CASE_TEMPLATE("tied: an embedding and a head share their matrix", B, NN_BACKENDS) {
  const ap::Model shared(ap::Shape{3}, tied);
  const ap::Model apart(ap::Shape{3}, table, ap::Flatten{}, ap::Dense{.units = 5}, ap::Dense{.units = 16});
  const ap::Layout one = ap::layout_of(shared), two = ap::layout_of(apart);
  const auto place = [](const ap::Layout& layout, const char* name) { return layout.place_of(layout.find(name)); };
  const std::pair<const char*, const char*> same[] = {{"0.embedding.weight", "0.weight"},
                                                      {"0.1.weight", "2.weight"},
                                                      {"0.1.bias", "2.bias"},
                                                      {"0.bias", "3.bias"},
                                                      {"0.embedding.weight", "3.weight"}};
  Start start{4, 6, normals(one.size(), 3), {}, normals(4 * 16, 4)}, other = start;
  for (int i = 0; i < 12; ++i) start.input.push_back((i * 5) % 16);
  other.input = start.input;
  other.values.assign(two.size(), 0);
  for (const auto& [from, to] : same)
    std::copy_n(start.values.begin() + static_cast<std::ptrdiff_t>(place(one, from).offset), place(one, from).size,
                other.values.begin() + static_cast<std::ptrdiff_t>(place(two, to).offset));
  const Outcome found = run<B>(shared, start), expected = run<B>(apart, other);
  CHECK(distance(found.outputs, expected.outputs) < tolerance<B>());
  const auto gradient = [&](const Outcome& outcome, const ap::Layout& layout, const char* name) {
    const auto begin = outcome.gradients.begin() + static_cast<std::ptrdiff_t>(place(layout, name).offset);
    return Numbers(begin, begin + static_cast<std::ptrdiff_t>(place(layout, name).size));
  };
  Numbers sum = gradient(expected, two, "0.weight");
  const Numbers head = gradient(expected, two, "3.weight");
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += head[i];
  CHECK(distance(gradient(found, one, "0.embedding.weight"), sum) < tolerance<B>());
  for (const auto& [from, to] : {same[1], same[2], same[3]})
    CHECK(distance(gradient(found, one, from), gradient(expected, two, to)) < tolerance<B>());
}

TEST_CASE_TEMPLATE("tied: gradients", B, NN_BACKENDS) {
  check_model<B>(ap::Model(ap::Shape{3}, tied), {.batch = 4, .capacity = 9});
  check_model<B>(ap::Model(ap::Shape{3}, ap::Tied(table, ap::Flatten{}, ap::Dense{.units = 5}, Softsign{},
                                                  ap::Residual(ap::LayerNorm{}, ap::Dense{.units = 5}, Softsign{}))),
                 {.batch = 4});
}

TEST_CASE("tied: names and errors") {
  const ap::Layout layout = ap::layout_of(ap::Model(ap::Shape{3}, tied));
  CHECK(layout.tensors().size() == 4);
  CHECK(layout.spec(layout.find("0.bias")).output);
  CHECK(declare_error(ap::Model(ap::Shape{3}, ap::Tied(table, ap::Flatten{}))) ==
        "0: Tied has layers with output shape {15}, expected the 5 elements of a row of the table");
}

}  // namespace

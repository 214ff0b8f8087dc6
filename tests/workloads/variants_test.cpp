#include "algoperf/workloads/variants.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/all.hpp>
#include <cmath>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/folder.hpp"
#include "algoperf/workloads/shared_data.hpp"

using namespace algoperf;

namespace {

// What distinguishes a model: the names, shapes and first values of its tensors, and its outputs after a step.
template <class W, class Data>
std::string description_of(const W& workload, const Data& data) {
  TrainingLoop loop(workload.model(), workload.loss(), sgd(), Constant{1e-3}, ShuffledEpochs{.batch = 4});
  std::string text;
  for (const TensorHandle handle : loop.layout().tensors()) {
    const TensorSpec& spec = loop.layout().spec(handle);
    text += spec.name + std::to_string(spec.shape.size()) + " ";
  }
  loop.run(data, UntilStep{1});
  return text + std::to_string(loop.evaluate(data, CrossEntropy{}).metric);
}

// Returns the names of the variants of a workload, and checks that each trains and differs from the others.
template <class W, class Data>
std::vector<std::string> checked_variants(const W& workload, const Data& data) {
  std::vector<std::string> names;
  std::set<std::string> descriptions{description_of(workload, data)};
  CHECK(std::string(workload.base) == workload.name);
  workload.each_variant([&](const auto& variant) {
    CAPTURE(variant.name);
    names.push_back(variant.name);
    CHECK(variant.base == workload.name);
    CHECK(variant.name.starts_with(workload.name + "_"));
    CHECK(variant.model().output() == workload.model().output());
    CHECK(descriptions.insert(description_of(variant, data)).second);
    variant.each_variant([](const auto&) { FAIL("a variant has variants"); });
  });
  return names;
}

template <class Data>
std::int32_t example_label(const Data& data, std::uint32_t i) {
  std::vector<typename Data::Input> input(data.shape().size());
  std::int32_t label = 0;
  data.gather(&i, 1, input.data(), &label);
  return label;
}

}  // namespace

TEST_CASE("variants: digits") {
  const auto digits = Glyphs{.count = 8}.render().subset(0, 8);
  CHECK(checked_variants(GlyphDigitsLinear{}, digits) ==
        std::vector<std::string>{"glyphs_linear_layernorm", "glyphs_linear_large_init"});
  CHECK(checked_variants(GlyphDigits{}, digits) ==
        std::vector<std::string>{"glyphs_mlp_tanh", "glyphs_mlp_layernorm", "glyphs_mlp_resnet",
                                 "glyphs_mlp_model_size", "glyphs_mlp_large_init"});
  CHECK(checked_variants(GlyphDigitsCnn{}, digits) ==
        std::vector<std::string>{"glyphs_cnn_gelu", "glyphs_cnn_layernorm", "glyphs_cnn_resnet",
                                 "glyphs_cnn_model_size", "glyphs_cnn_large_init"});
}

TEST_CASE("variants: characters, which share the text") {
  const Folder folder;
  std::filesystem::create_directory(folder / "shakespeare");
  std::string text;
  for (int i = 0; i < 800; ++i) text += static_cast<char>('a' + i * i % 26);
  folder.write("shakespeare/input.txt", text);
  const Shakespeare base{.data = folder.path()};
  const auto train = base.train();
  CHECK(checked_variants(base, train.subset(0, 16)) ==
        std::vector<std::string>{"shakespeare_mlp_gelu", "shakespeare_mlp_post_ln", "shakespeare_mlp_no_resnet",
                                 "shakespeare_mlp_model_size", "shakespeare_mlp_embed_init"});
  folder.write("shakespeare/input.txt", "too short to load");
  base.each_variant([&](const auto& variant) { CHECK(variant.train().size() == train.size()); });
}

TEST_CASE("variants keep the settings of their base") {
  const GlyphDigits noisy{.seed = 7, .label_noise = 0.25};
  noisy.each_variant([](const auto& variant) {
    CHECK(variant.seed == 7);
    CHECK(variant.label_noise == 0.25);
  });
}

TEST_CASE("a workload of one's own data") {
  const InMemory<float> digits = Glyphs{.count = 60}.render();
  const auto made = [&](const WorkloadSettings& settings) {
    return DataWorkload(settings, linear_model(digits.shape(), digits.classes()), SoftmaxCrossEntropy{}, ErrorRate{},
                        digits.subset(0, 40), digits.subset(40, 50), digits.subset(50, 60));
  };
  const auto own = made({.name = "own", .target = {0.25}, .step_hint = 30});
  static_assert(Workload<std::remove_const_t<decltype(own)>>);
  CHECK(std::string(own.name) == "own");
  CHECK(own.target() == Target{0.25});
  CHECK(own.step_hint() == 30);
  CHECK(own.train().size() == 40);
  CHECK(own.validation().size() == 10);
  CHECK(example_label(own.validation(), 0) == example_label(digits, 40));
  CHECK(example_label(own.test(), 9) == example_label(digits, 59));
  CHECK_THROWS_WITH_AS(made({.name = ""}), "DataWorkload: the name is empty", Error);
  CHECK_THROWS_WITH_AS(made({.name = "own", .target = {NAN}}), "DataWorkload own: the target is NaN", Error);
  CHECK_THROWS_WITH_AS(made({.name = "own", .step_hint = 0}), "DataWorkload own: step_hint is 0, expected at least 1",
                       Error);
}

TEST_CASE("shared data: one load for all holders of a key, freed with the last") {
  using Shared = detail::SharedData<std::vector<int>>;
  int loads = 0;
  const auto make = [&] { return ++loads, std::vector<int>(3, loads); };
  {
    const Shared first, second;
    const std::vector<int>& data = first("a", make);
    CHECK(&second("a", make) == &data);
    const Shared copy = first;
    CHECK(&copy("a", make) == &data);
    CHECK(&copy("b", make) != &data);  // other settings
    CHECK(&first("a", make) == &data);
    CHECK(loads == 2);
  }
  CHECK(Shared{}("a", make).front() == 3);

  Shared moved, assigned;
  {
    Shared held;
    CHECK(held("a", make).front() == 4);
    assigned = held;
    moved = std::move(held);
    CHECK(&assigned("a", make) == &moved("a", make));
  }
  assigned = Shared{};
  CHECK(moved("a", make).front() == 4);
  const std::string long_key(100, 'b');  // on the heap, where AddressSanitizer would find a leak
  CHECK_THROWS_AS(assigned(long_key, [&]() -> std::vector<int> { fail("no such file"); }), Error);
  CHECK(assigned(long_key, make).front() == 5);
}

TEST_CASE("shared data: threads load, copy and destroy it at the same time") {
  using Shared = detail::SharedData<std::string>;
  const Shared kept;
  const std::string& data = kept("a", [] { return std::string(100, 'a'); });
  std::vector<std::thread> threads;
  std::vector<int> others(4);
  for (int& other : others)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Shared copy = kept;
        if (&copy("a", [] { return std::string(); }) != &data) ++other;
        const Shared another;
        if (another(std::to_string(i % 3), [&] { return std::to_string(i % 3); }) != std::to_string(i % 3)) ++other;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(others == std::vector<int>(4, 0));
}

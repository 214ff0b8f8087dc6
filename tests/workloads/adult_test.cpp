// The Adult table as numbers and categories, the recommendation model against torch (make_dlrm.py), and its
// workload.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/nn/metrics/area_under_roc.hpp>
#include <algoperf/workloads/adult.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../golden/dlrm.hpp"
#include "../support/check_error.hpp"
#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_adult {

static_assert(Workload<Adult>);
static_assert(parameters_of(Dlrm{}) == 78833);
static_assert(parameters_of(Dlrm{.layer_norm = true}) - parameters_of(Dlrm{}) ==
              2 * (16 + 64 + 32 + 16 + 64 + 64 + 32));
static_assert(parameters_of(AdultDlrmResnet::model()) ==
              4096 * 16 + 7 * 64 + 2 * 65 * 64 + (64 + 8 * 16 + 1) * 64 + 3 * 65 * 64 + 65);

struct Rows {
  std::vector<float> numbers = std::vector<float>(2);
  std::vector<std::int32_t> categories = std::vector<std::int32_t>(2), labels = std::vector<std::int32_t>(1);
  struct To {
    Rows& rows;
    template <FieldName name>
    auto* at() const {
      if constexpr (std::string_view(name) == "numbers")
        return rows.numbers.data();
      else
        return std::string_view(name) == "label" ? rows.labels.data() : rows.categories.data();
    }
  };
};
Rows row(const NumbersAndCategories& data, std::uint32_t i) {
  Rows rows;
  data.gather(&i, 1, Rows::To{rows});
  return rows;
}

TEST_CASE("hashed columns: logarithms of numbers, and hashes of the column and the category") {
  const Folder folder;
  folder.write("t.csv", "age,city,loss,pet,label\n20,Ulm,-3,cat,no\n30,cat,7,Ulm,yes\n40,Ulm,0,cat,no\n");
  const Table table = load_csv(folder / "t.csv", {.label = "label"});
  const NumbersAndCategories data = hashed_columns(table, 1000);
  REQUIRE(data.size() == 3);
  CHECK(data.shape("numbers") == Shape{2});
  CHECK(data.shape("categories") == Shape{2});
  const Rows first = row(data, 0), second = row(data, 1), third = row(data, 2);
  CHECK(first.numbers[0] == near(std::log(21.0), 1e-6));
  CHECK(first.numbers[1] == 0);
  CHECK(second.numbers[1] == near(std::log(8.0), 1e-6));
  CHECK(first.labels[0] == 0);
  CHECK(second.labels[0] == 1);
  CHECK(first.categories == third.categories);
  // The same text in another column is another category.
  CHECK(first.categories[0] != second.categories[1]);
  CHECK(first.categories[1] != second.categories[0]);
  // Reference values of FNV-1a.
  CHECK(detail::fnv_1a("") == 0xCBF29CE484222325u);
  CHECK(detail::fnv_1a("foobar") == 0x85944171F73967E8u);
  CHECK(first.categories[0] == static_cast<std::int32_t>(detail::fnv_1a("city=Ulm") % 1000));
  for (const Rows& each : {row(hashed_columns(table, 3), 0), row(hashed_columns(table, 3), 1)})
    for (const std::int32_t token : each.categories) CHECK((token >= 0 && token < 3));

  // An unknown category, and values that stand for none.
  const std::vector<Column> columns{{"x"}, {"pet", false, {"cat"}}, {"label", false, {"no", "yes"}}};
  const NumbersAndCategories unknown = hashed_columns(Table(columns, 2, {1, 1, 0, 2, -1, 1, 3, NAN, 0}), 1000);
  for (const std::uint32_t i : {0u, 1u, 2u}) {
    Rows rows;
    unknown.gather(&i, 1, Rows::To{rows});
    CHECK(rows.categories[0] == static_cast<std::int32_t>(detail::fnv_1a("pet=") % 1000));
  }

  folder.write("n.csv", "age,label\n1,no\n2,yes\n");
  CHECK(sentence([&] { hashed_columns(load_csv(folder / "n.csv", {.label = "label"})); }) ==
        "hashed_columns: the table has 1 numeric and 0 categorical columns besides the label, expected at least one of "
        "each");
  CHECK(sentence([&] { hashed_columns(table, 0); }) == "hashed_columns: there are 0 buckets, expected 1 to 2147483647");
}

auto golden_data() {
  std::vector<double> numbers;
  std::vector<std::int32_t> tokens, labels;
  for (std::int32_t i = 0; i < 15; ++i) numbers.push_back(std::sin(0.1 + 0.37 * i));
  for (std::int32_t i = 0; i < 10; ++i) tokens.push_back((5 * i + 2) % 7);
  for (std::int32_t i = 0; i < 5; ++i) labels.push_back(i % 2);
  return InMemoryFields<Field<"numbers", double>, Field<"categories", std::int32_t>, Field<"label", std::int32_t>>(
      {numbers, {3}}, {tokens, {2}}, {labels, {1}});
}
constexpr Dlrm small{.numbers = 3, .categories = 2, .vocabulary = 7, .width = 4, .bottom = {5}, .top = {6, 6, 4}};
constexpr Dlrm small_layer_norm() {
  Dlrm model = small;
  model.layer_norm = true;
  return model;
}
constexpr Dlrm small_residual() {
  Dlrm model = small;
  model.bottom = {5, 5};
  model.top = {6, 6, 6};
  model.residual = true;
  return model;
}

TEST_CASE("dlrm: losses, gradients and steps of AdamW are torch's, also of the variants") {
  const auto check = [](const Dlrm& model, const golden::Model& expected) {
    golden::check(model, SigmoidCrossEntropy{}, golden_data(), expected);
  };
  check(small, golden::dlrm);
  check(small_layer_norm(), golden::dlrm_layer_norm);
  check(small_residual(), golden::dlrm_residual);
}

TEST_CASE("dlrm: gradients agree with differences") {
  for (const Dlrm& model : {small, small_layer_norm(), small_residual()}) {
    check_error(gradient_check(model, SigmoidCrossEntropy{}, {.batch = 3, .samples = 20}));
  }
}

TEST_CASE("dlrm: initial values") {
  TrainingLoop loop(Dlrm{}, SigmoidCrossEntropy{}, sgd(), Constant{1}, ShuffledEpochs{.batch = 4}, Host<double>{});
  const auto moments = [&](const char* tensor) {
    double sum = 0, squares = 0, least = 1e300, most = -1e300;
    const auto values = loop.values(tensor);
    for (const double x : values) {
      sum += x;
      squares += x * x;
      least = std::min(least, x), most = std::max(most, x);
    }
    const double n = static_cast<double>(values.size());
    struct Moments {
      double mean, deviation, least, most;
    };
    return Moments{sum / n, std::sqrt(squares / n - sum * sum / n / n), least, most};
  };
  const auto table = moments("table.weight");  // uniform in [0, 1 / 64)
  CHECK(table.mean == near(1.0 / 128, 0.02));
  CHECK(table.least >= 0);
  CHECK(table.most < 1.0 / 64);
  const auto bottom = moments("bottom.1.weight");  // uniform in +-sqrt(6 / 96)
  CHECK(bottom.deviation == near(std::sqrt(2.0 / 96), 0.05));
  CHECK(bottom.most < 0.25);
  CHECK(moments("top.1.weight").deviation == near(std::sqrt(2.0 / 128), 0.05));
  CHECK(moments("top.1.weight").most > std::sqrt(6.0 / 128));
  CHECK(moments("top.1.bias").deviation == near(1.0 / 8, 0.3));
}

// The table of the workload needs 30,162 rows; these are fewer.
NumbersAndCategories few_rows() {
  std::vector<float> numbers;
  std::vector<std::int32_t> tokens, labels;
  RandomStream random(RandomKey{2});
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 6; ++k) numbers.push_back(random.uniform());
    for (int k = 0; k < 8; ++k) tokens.push_back(static_cast<std::int32_t>(random.below(50)));
    labels.push_back(numbers[numbers.size() - 6] > 0.6f ? 1 : 0);
  }
  return NumbersAndCategories({numbers, {6}}, {tokens, {8}}, {labels, {1}});
}

TEST_CASE("dlrm: threads and prefetching change no bit, and a resumed run continues with the same bits") {
  const NumbersAndCategories data = few_rows();
  const auto learner = [](const auto&... tail) {
    return TrainingLoop(Dlrm{.vocabulary = 50}, SigmoidCrossEntropy{}, adamw(), Constant{0.01},
                        ShuffledEpochs{.batch = 16}, tail...);
  };
  check_reproducible(learner, data, 60);
  auto loop = learner();
  loop.run(data, UntilStep{60});
  CHECK(loop.evaluate(data, AreaUnderRoc{}).metric > 0.9);
}

TEST_CASE("adult: the real table, and the variants") {
  CHECK(sentence([] { Adult{.data = "/nonexistent"}.train(); }).find("/nonexistent/adult/adult.csv") !=
        std::string::npos);
  std::set<std::string> names;
  Adult{}.each_variant([&](const auto& variant) { names.insert(variant.name); });
  CHECK(names == std::set<std::string>{"adult_dlrm_layernorm", "adult_dlrm_embed_init", "adult_dlrm_resnet"});
  CHECK(AdultWorkload<AdultDlrmLayerNorm>{}.target().value > Adult{}.target().value);
  const std::string folder = data_path("adult");
  if (folder.empty()) return;
  const Adult task{.data = folder + "/.."};
  CHECK(task.train().size() == 24000);
  CHECK(task.validation().size() == 3000);
  CHECK(task.test().size() == 3162);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{1e-3}, ShuffledEpochs{.batch = 128});
  loop.run(task.train(), UntilStep{300});
  CHECK(loop.evaluate(task.validation(), task.metric()).metric < 0.36);
  CHECK(loop.evaluate(task.validation(), AreaUnderRoc{}).metric > 0.87);
}

}  // namespace algoperf::testing::of_adult

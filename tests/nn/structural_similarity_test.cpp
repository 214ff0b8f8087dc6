#include "algoperf/nn/metrics/structural_similarity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "../golden/ssim.hpp"
#include "algoperf/algoperf.hpp"

using namespace algoperf;

namespace {

struct ImagePair {
  std::vector<double> prediction, target;
};
ImagePair pair_of(const golden::SsimCase& of) {
  ImagePair pair;
  for (std::size_t k = 0; k < of.rows * of.columns; ++k) {
    const double i = static_cast<double>(k), target = of.mean + of.amplitude * std::sin(0.1 + 0.37 * i);
    pair.target.push_back(target);
    pair.prediction.push_back(of.offset + of.slope * target + of.cosine * std::cos(0.7 * i) + of.sine * std::sin(i));
  }
  return pair;
}
EvaluatedRows<double, double> rows_of(const ImagePair& pair, std::size_t rows) {
  return {rows, pair.target.size() / rows, pair.prediction.data(), pair.target.data()};
}

// A convolution by 1.
struct SameImage {
  template <class Net>
  constexpr Value operator()(Net& net) const {
    return net("scale", Conv2d{.size = 1, .init = Init::ones, .bias = false}, net.field("input", {8, 7, 1}));
  }
};
using ImagesWithIntensity = InMemoryFields<Field<"input", float>, Field<"label", float>, Field<"intensity", float>>;

}  // namespace

TEST_CASE("structural similarity: agrees with scikit-image") {
  for (const golden::SsimCase& of : golden::ssim) {
    INFO(of.rows, " x ", of.columns, ", range ", of.range);
    const StructuralSimilarity metric{.rows = of.rows, .columns = of.columns, .range = of.range};
    StructuralSimilarity::State state;
    metric.add(state, rows_of(pair_of(of), 1));
    CHECK(std::abs(metric.value(state) - of.value) < 1e-13);
  }
}

TEST_CASE("structural similarity: the mean over images, with their weights and intensities") {
  const golden::SsimCase &first = golden::ssim[2], &second = golden::ssim[10];
  REQUIRE((first.rows == 8 && second.rows == 8 && second.range == 2.5));
  ImagePair both = pair_of(first), other = pair_of(second);
  // The second image is stored as 2 + 4 times its pixels.
  for (double& x : other.prediction) x = (x - 2) / 4;
  for (double& x : other.target) x = (x - 2) / 4;
  both.prediction.insert(both.prediction.end(), other.prediction.begin(), other.prediction.end());
  both.target.insert(both.target.end(), other.target.begin(), other.target.end());
  const StructuralSimilarity metric{.rows = 8, .columns = 11, .intensity_field = "intensity"};
  auto rows = rows_of(both, 2);
  const double weights[] = {3, 1};
  rows.weights = weights;
  rows.fields = {{0, 1, 1, 2, 4, 2.5}};
  StructuralSimilarity::State state;
  metric.add(state, rows);
  CHECK(std::abs(metric.value(state) - (3 * first.value + second.value) / 4) < 1e-12);

  rows.fields = {{0, 1, 1}};
  CHECK_THROWS_WITH(metric.add(state, rows),
                    "StructuralSimilarity: the field 'intensity' has 3 values for 2 images, expected three per image: "
                    "mean, deviation and range");
}

TEST_CASE("structural similarity: errors and NaN") {
  const ImagePair pair = pair_of(golden::ssim[0]);
  StructuralSimilarity::State state;
  CHECK_THROWS_WITH((StructuralSimilarity{.rows = 6, .columns = 7}.add(state, rows_of(pair, 1))),
                    "StructuralSimilarity: images have 6 rows and 7 columns, expected at least 7 each");
  CHECK_THROWS_WITH((StructuralSimilarity{.rows = 7, .columns = 8}.add(state, rows_of(pair, 1))),
                    "StructuralSimilarity: an image has 7 rows and 8 columns, but the model has 49 outputs per row");
  CHECK_THROWS_WITH((StructuralSimilarity{.range = 0}.add(state, rows_of(pair, 1))),
                    "StructuralSimilarity: range is 0, expected more than 0");
  ImagePair broken = pair;
  broken.prediction[3] = NAN;
  StructuralSimilarity{}.add(state, rows_of(broken, 1));
  CHECK(std::isnan(StructuralSimilarity{}.value(state)));
}

TEST_CASE("structural similarity: in a training loop, which reads the field that the metric names") {
  std::vector<float> inputs(3 * 56), labels(3 * 56), intensity;
  RandomStream random(RandomKey{3});
  for (float& x : inputs) x = random.uniform();
  for (float& x : labels) x = random.uniform();
  for (int i = 0; i < 3; ++i) intensity.insert(intensity.end(), {0.5f, static_cast<float>(i + 1), 2.0f});
  const ImagesWithIntensity data({inputs, {8, 7, 1}}, {labels, {8, 7, 1}}, {intensity, {3}});
  TrainingLoop loop(SameImage{}, WithField{MeanAbsoluteError{}, "intensity", {3}}, sgd(), Constant{0.1},
                    ShuffledEpochs{.batch = 2});
  const StructuralSimilarity metric{.rows = 8, .columns = 7, .intensity_field = "intensity"};
  double expected = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    StructuralSimilarity::State state;
    EvaluatedRows<float, float> row{1, 56, inputs.data() + 56 * i, labels.data() + 56 * i};
    row.fields = {{0.5f, static_cast<float>(i + 1), 2.0f}};
    metric.add(state, row);
    expected += metric.value(state) / 3;
  }
  CHECK(std::abs(loop.evaluate(data, metric, 2).metric - expected) < 1e-12);

  StructuralSimilarity other = metric;
  other.intensity_field = "scale";
  CHECK_THROWS_WITH(loop.evaluate(data, other),
                    "the metric 'structural similarity' reads the field 'scale', which neither the model nor the loss "
                    "declares with elements of type `parameter`");
}

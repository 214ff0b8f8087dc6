// The training loop of examples/01_train.cpp, written by hand over Eigen: the same network, update rule, schedule and
// target, on clusters of random points. It has none of the library's checks, checkpoints or observers.
// docs/compile-time.md compares the time of compiling both.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index classes = 10, width = 784, batch = 128;
constexpr int steps = 1500, warmup = 50;

struct Data {
  Matrix x;
  std::vector<Eigen::Index> labels;

  Data(Eigen::Index n, const Matrix& centres, std::mt19937& random) : x(n, width) {
    std::normal_distribution<float> noise(0, 3);
    for (Eigen::Index i = 0; i < n; ++i) {
      labels.push_back(i % classes);
      x.row(i) = centres.row(i % classes);
      for (float& each : x.row(i)) each += noise(random);
    }
  }
};

// A tensor, its gradient, and Adam's moments.
struct Tensor {
  Matrix value, gradient, first, second;

  Tensor(Eigen::Index rows, Eigen::Index cols) : value(Matrix::Zero(rows, cols)) { gradient = first = second = value; }
  void adam(float scale, float rate, int t) {
    constexpr float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-8f, decay = 0.1f;
    const auto power = static_cast<float>(t);
    first = beta1 * first + (1 - beta1) * scale * gradient;
    second.array() = beta2 * second.array() + (1 - beta2) * (scale * gradient).array().square();
    const auto step = first.array() / (1 - std::pow(beta1, power)) /
                      ((second.array() / (1 - std::pow(beta2, power))).sqrt() + epsilon);
    value.array() -= rate * (step + decay * value.array());
  }
};

class Mlp {
 public:
  explicit Mlp(std::mt19937& random) {
    constexpr std::array<Eigen::Index, 4> sizes{width, 256, 256, classes};
    for (std::size_t i = 0; i < layers; ++i) {
      weights_.emplace_back(sizes[i], sizes[i + 1]);
      biases_.emplace_back(1, sizes[i + 1]);
      std::normal_distribution<float> normal(0, std::sqrt(2 / static_cast<float>(sizes[i])));
      for (float& each : weights_[i].value.reshaped()) each = normal(random);
    }
  }

  const Matrix& logits(const Matrix& x) {
    for (std::size_t i = 0; i < layers; ++i) {
      outputs_[i].noalias() = (i == 0 ? x : outputs_[i - 1]) * weights_[i].value;
      outputs_[i].rowwise() += biases_[i].value.row(0);
      if (i + 1 < layers) outputs_[i] = outputs_[i].cwiseMax(0);
    }
    return outputs_[layers - 1];
  }

  void step(const Matrix& x, const std::vector<Eigen::Index>& labels, float rate, int t) {
    Matrix slope = logits(x);
    slope.colwise() -= slope.rowwise().maxCoeff().eval();
    slope = slope.array().exp();
    slope.array().colwise() /= slope.rowwise().sum().array().eval();
    for (Eigen::Index i = 0; i < slope.rows(); ++i) slope(i, labels[static_cast<std::size_t>(i)]) -= 1;
    slope /= static_cast<float>(slope.rows());
    for (std::size_t i = layers; i-- > 0;) {
      weights_[i].gradient.noalias() = (i == 0 ? x : outputs_[i - 1]).transpose() * slope;
      biases_[i].gradient = slope.colwise().sum();
      if (i == 0) break;
      const Matrix below = slope * weights_[i].value.transpose();
      slope = (outputs_[i - 1].array() > 0).select(below, 0.0f);
    }
    float square = 0;
    for (std::size_t i = 0; i < layers; ++i)
      square += weights_[i].gradient.squaredNorm() + biases_[i].gradient.squaredNorm();
    const float scale = std::min(1.0f, 1 / std::sqrt(square));
    for (std::size_t i = 0; i < layers; ++i) {
      weights_[i].adam(scale, rate, t);
      biases_[i].adam(scale, rate, t);
    }
  }

 private:
  static constexpr std::size_t layers = 3;
  std::vector<Tensor> weights_, biases_;
  std::array<Matrix, layers> outputs_;
};

double error_rate(Mlp& mlp, const Data& data) {
  const Matrix& logits = mlp.logits(data.x);
  int wrong = 0;
  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    Eigen::Index best = 0;
    logits.row(i).maxCoeff(&best);
    wrong += best != data.labels[static_cast<std::size_t>(i)];
  }
  return wrong / static_cast<double>(logits.rows());
}

}  // namespace

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const Matrix centres = Matrix::NullaryExpr(classes, width, [&] { return 0.5f * normal(random); });
  const Data train(20000, centres, random), validation(4000, centres, random);
  Mlp mlp(random);
  std::vector<std::size_t> order(train.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t next = order.size();
  Matrix x(batch, width);
  std::vector<Eigen::Index> labels(batch);
  for (int t = 1; t <= steps; ++t) {
    if (next + batch > order.size()) {
      std::shuffle(order.begin(), order.end(), random);
      next = 0;
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::size_t example = order[next++];
      x.row(static_cast<Eigen::Index>(i)) = train.x.row(static_cast<Eigen::Index>(example));
      labels[i] = train.labels[example];
    }
    const double part = static_cast<double>(t - warmup) / (steps - warmup);
    const double rate =
        4e-3 * (t < warmup ? t / static_cast<double>(warmup) : (1 + std::cos(std::numbers::pi * part)) / 2);
    mlp.step(x, labels, static_cast<float>(rate), t);
    if (t % 100 != 0) continue;
    const double error = error_rate(mlp, validation);
    std::printf("step %d: validation error %.3f\n", t, error);
    if (error <= 0.03) return 0;
  }
  return 1;
}

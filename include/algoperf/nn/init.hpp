// Initialisers: the distributions of a layer's initial values. Each tensor has a separate random stream, keyed by its
// index in declaration order. Appending a layer leaves the initial values of the others unchanged; inserting a layer
// before them changes them.
#pragma once

#include <cstddef>

#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../core/random.hpp"

namespace algoperf {

// A distribution of initial values: Init::he_normal, Init::constant(0.1), Init::normal(0.02).divide_variance(8).
struct Init {
  enum class Distribution : unsigned char {
    standard,
    constant,
    he_normal,
    lecun_normal,
    glorot_uniform,
    glorot_normal,
    torch_uniform,
    symmetric_uniform,  // in [-1, 1)
    unit_normal,
    fan_out_normal,
  };

  Distribution distribution = Distribution::standard;
  double mean = 0;             // added to what the distribution draws
  double variance_factor = 1;  // multiplies the variance of what it draws

  static const Init standard;  // the model's: Model::with_init, or else he_normal
  static const Init zeros;
  static const Init ones;
  static const Init he_normal;       // normal, variance 2 / fan_in: before a ReLU (He et al. 2015)
  static const Init lecun_normal;    // normal, variance 1 / fan_in
  static const Init glorot_uniform;  // uniform, variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010)
  static const Init glorot_normal;   // normal, the same variance
  static const Init torch_uniform;   // uniform in +-1 / sqrt(fan_in): torch's default for linear and convolution layers
  static const Init unit_normal;     // normal, variance 1
  static const Init fan_out_normal;  // normal, variance 1 / fan_out: the biases of AlgoPerf's DLRM
  static const Init small_normal;    // normal, standard deviation 0.02: the weights of GPT-2 (Radford et al. 2019)

  static constexpr Init constant(double value) { return {Distribution::constant, value}; }
  // Uniform in [low, high), low <= high.
  static constexpr Init uniform(double low, double high) {
    return {Distribution::symmetric_uniform, (low + high) / 2, (high - low) * (high - low) / 4};
  }
  // Normal, with a mean of 0.
  static constexpr Init normal(double deviation) { return {Distribution::unit_normal, 0, deviation * deviation}; }
  // Returns this distribution with its variance divided by `by` > 0. A constant has no variance.
  constexpr Init divide_variance(double by) const { return {distribution, mean, variance_factor / by}; }

  friend constexpr bool operator==(const Init&, const Init&) = default;
};

inline constexpr Init Init::standard{};
inline constexpr Init Init::zeros = Init::constant(0);
inline constexpr Init Init::ones = Init::constant(1);
inline constexpr Init Init::he_normal{Init::Distribution::he_normal};
inline constexpr Init Init::lecun_normal{Init::Distribution::lecun_normal};
inline constexpr Init Init::glorot_uniform{Init::Distribution::glorot_uniform};
inline constexpr Init Init::glorot_normal{Init::Distribution::glorot_normal};
inline constexpr Init Init::torch_uniform{Init::Distribution::torch_uniform};
inline constexpr Init Init::unit_normal{Init::Distribution::unit_normal};
inline constexpr Init Init::fan_out_normal{Init::Distribution::fan_out_normal};
inline constexpr Init Init::small_normal = Init::normal(0.02);

// Writes initial values into host memory of the layout's size.
template <class S>
class Initializer {
 public:
  Initializer(const Layout& layout, S* values, RandomKey key) : layout_(layout), values_(values), key_(key) {}

  // Sets the meaning of Init::standard.
  void set_standard(Init init) {
    standard_ = init;
    if (init.distribution == Init::Distribution::standard) standard_.distribution = Init::he_normal.distribution;
  }

  void operator()(TensorHandle handle, Init init, std::size_t fan_in = 1, std::size_t fan_out = 1);

 private:
  static bool is_uniform(Init::Distribution distribution);
  // Returns the factor by which the distribution multiplies a variable that is normal with variance 1, or uniform in
  // [-1, 1).
  static double scale(Init::Distribution distribution, double fan_in, double fan_out);

  const Layout& layout_;
  S* values_;
  RandomKey key_;
  Init standard_ = Init::he_normal;
};

template <class S>
ALGOPERF_COLD void Initializer<S>::operator()(TensorHandle handle, Init init, std::size_t fan_in, std::size_t fan_out) {
  using Distribution = Init::Distribution;
  if (init.distribution == Distribution::standard)
    init = {standard_.distribution, standard_.mean + init.mean, standard_.variance_factor * init.variance_factor};
  const TensorPlace place = layout_.place_of(handle);
  const double factor = math::sqrt(init.variance_factor);
  const double width = scale(init.distribution, static_cast<double>(fan_in), static_cast<double>(fan_out));
  const bool constant = init.distribution == Distribution::constant, uniform = is_uniform(init.distribution);
  RandomStream random(key_.fold(handle.index));
  for (std::size_t i = 0; i < place.size; ++i) {
    const double drawn = constant ? 0 : uniform ? 2 * random.uniform_double() - 1 : random.normal();
    values_[place.offset + i] = static_cast<S>(init.mean + factor * (width * drawn));
  }
}

template <class S>
bool Initializer<S>::is_uniform(Init::Distribution distribution) {
  using enum Init::Distribution;
  return distribution == glorot_uniform || distribution == torch_uniform || distribution == symmetric_uniform;
}

template <class S>
double Initializer<S>::scale(Init::Distribution distribution, double fan_in, double fan_out) {
  using enum Init::Distribution;
  switch (distribution) {
    case he_normal:
      return math::sqrt(2 / fan_in);
    case lecun_normal:
    case torch_uniform:
      return math::sqrt(1 / fan_in);
    case glorot_uniform:
      return math::sqrt(6 / (fan_in + fan_out));
    case glorot_normal:
      return math::sqrt(2 / (fan_in + fan_out));
    case fan_out_normal:
      return math::sqrt(1 / fan_out);
    case symmetric_uniform:
    case unit_normal:
    case standard:
    case constant:
      break;
  }
  return 1;
}

namespace detail {

// Whether a layer has a member initialize. This is a concept because clang 14 evaluates a requires-expression inside a
// generic lambda to false.
template <class L, class S>
concept Initializes = requires(const L& layer, Initializer<S>& set, const typename L::Handles& handles, Shape in) {
  layer.initialize(set, handles, in);
};

}  // namespace detail

}  // namespace algoperf

// Initialisers: the distributions of a layer's initial values. Each tensor has a separate random stream, keyed by its
// index in declaration order. Appending a layer leaves the initial values of the others unchanged; inserting a layer
// before them changes them.
#pragma once

#include <cstddef>

#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../core/random.hpp"

namespace algoperf {

enum class Init {
  standard,  // the model's: Model::with_init, or else he_normal
  zeros,
  ones,
  he_normal,       // normal, variance 2 / fan_in: before a ReLU (He et al. 2015)
  lecun_normal,    // normal, variance 1 / fan_in
  glorot_uniform,  // uniform, variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010)
  torch_uniform,   // uniform in +-1 / sqrt(fan_in): torch's default for linear and convolution layers
  unit_normal,     // normal, variance 1
  small_normal,    // normal, standard deviation 0.02: all weights of GPT-2 (Radford et al. 2019)
};

// Writes initial values into host memory of the layout's size.
template <class S>
class Initializer {
 public:
  Initializer(const Layout& layout, S* values, RandomKey key) : layout_(layout), values_(values), key_(key) {}

  // Sets the meaning of Init::standard.
  void set_standard(Init init) { standard_ = init == Init::standard ? Init::he_normal : init; }

  void operator()(TensorHandle handle, Init init, std::size_t fan_in = 1, std::size_t fan_out = 1) {
    const TensorPlace place = layout_.place_of(handle);
    RandomStream random(key_.fold(handle.index));
    if (init == Init::standard) init = standard_;
    for (std::size_t i = 0; i < place.size; ++i)
      values_[place.offset + i] =
          static_cast<S>(draw(random, init, static_cast<double>(fan_in), static_cast<double>(fan_out)));
  }

 private:
  static double draw(RandomStream& random, Init init, double fan_in, double fan_out) {
    switch (init) {
      case Init::standard:
      case Init::zeros:
        return 0;
      case Init::ones:
        return 1;
      case Init::he_normal:
        return math::sqrt(2 / fan_in) * random.normal();
      case Init::lecun_normal:
        return math::sqrt(1 / fan_in) * random.normal();
      case Init::glorot_uniform:
        return math::sqrt(6 / (fan_in + fan_out)) * (2 * random.uniform_double() - 1);
      case Init::torch_uniform:
        return math::sqrt(1 / fan_in) * (2 * random.uniform_double() - 1);
      case Init::unit_normal:
        return random.normal();
      case Init::small_normal:
        return 0.02 * random.normal();
    }
    return 0;
  }

  const Layout& layout_;
  S* values_;
  RandomKey key_;
  Init standard_ = Init::he_normal;
};

namespace detail {

// Whether a layer has a member initialize. This is a concept because clang 14 evaluates a requires-expression inside a
// generic lambda to false.
template <class L, class S>
concept Initializes = requires(const L& layer, Initializer<S>& set, const typename L::Handles& handles, Shape in) {
  layer.initialize(set, handles, in);
};

}  // namespace detail

}  // namespace algoperf

// expect: algoperf: a stage with `over` needs `template <class T> Sums<T, N> measure(T u, T p) const`
#include <algoperf/rules/all.hpp>

struct Normalize {
  static constexpr algoperf::Over over = algoperf::Over::tensor;
  template <class S>
  algoperf::Scale<S> at(algoperf::Step, const algoperf::Sums<double, 1>&, algoperf::TensorFacts) const {
    return {};
  }
};

auto rule = algoperf::chain(Normalize{}, algoperf::Descend{});

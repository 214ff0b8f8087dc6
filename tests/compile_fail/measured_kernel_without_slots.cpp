// expect: algoperf: a stage's kernel needs `static constexpr std::size_t slots`
#include <algoperf/rules/all.hpp>

struct Normalize {
  static constexpr algoperf::Over over = algoperf::Over::tensor;
  template <class T>
  algoperf::Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  template <class S>
  double at(algoperf::Step, const algoperf::Sums<double, 1>& sums, algoperf::TensorFacts) const {
    return sums[0];
  }
};

auto rule = algoperf::chain(Normalize{}, algoperf::Descend{});

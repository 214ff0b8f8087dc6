// expect: algoperf: a measuring stage needs `template <class S> Kernel<S> at(Step, const Sums<double, N>&, TensorFacts)
// const`
#include <algoperf/rules/all.hpp>

struct Normalize {
  static constexpr algoperf::Over over = algoperf::Over::tensor;
  template <class T>
  algoperf::Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
};

auto rule = algoperf::chain(Normalize{}, algoperf::Descend{});

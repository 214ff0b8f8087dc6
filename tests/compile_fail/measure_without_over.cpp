// expect: algoperf: a stage with measure(u, p) needs `static constexpr Over over`, the scope of its sums
#include <algoperf/rules/all.hpp>

struct Normalize {
  template <class T>
  algoperf::Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  template <class S>
  algoperf::Scale<S> at(algoperf::Step, const algoperf::Sums<double, 1>&, algoperf::TensorFacts) const {
    return {};
  }
};

auto rule = algoperf::chain(Normalize{}, algoperf::Descend{});

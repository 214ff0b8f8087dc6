// expect: algoperf: a stage's kernel needs `template <class T> T operator()(T u, T p, Slots<T, slots>& s) const`
#include <algoperf/rules/all.hpp>

struct Halve {
  static constexpr std::size_t slots = 0;
  template <class T>
  T operator()(T u) const {
    return u / 2;
  }
};

auto rule = algoperf::chain(Halve{}, algoperf::Descend{});

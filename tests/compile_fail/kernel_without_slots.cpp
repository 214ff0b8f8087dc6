// expect: algoperf: a stage's kernel needs `static constexpr std::size_t slots`
#include <algoperf/rules/chain/chain.hpp>
#include <algoperf/rules/stages/descend.hpp>

struct Halve {
  template <class T>
  T operator()(T u, T, algoperf::Slots<T, 0>&) const {
    return u / 2;
  }
};

auto rule = algoperf::chain(Halve{}, algoperf::Descend{});

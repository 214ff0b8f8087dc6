// expect: algoperf: a stage's kernel needs `static constexpr std::size_t slots`
#include <algoperf/rules/all.hpp>

struct Twice {
  template <class S>
  double at(algoperf::Step) const {
    return 2;
  }
};

auto rule = algoperf::chain(Twice{}, algoperf::Descend{});

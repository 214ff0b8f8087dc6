// expect: algoperf: a layer needs `constexpr LayerMemory memory(Shape in) const`
#include <algoperf/nn/all.hpp>

struct Same {
  constexpr algoperf::Shape output(algoperf::Shape in) const { return in; }
  struct Handles {};
  constexpr std::uint64_t parameters(algoperf::Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(algoperf::Shape, std::uint64_t, Tally&) const {}
  template <class Tally>
  constexpr void count_backward(algoperf::Shape, std::uint64_t, bool, Tally&) const {}
};

algoperf::Sequential model(algoperf::Flatten{}, Same{});

// expect: algoperf: a layer needs `Handles declare(Layout&, const std::string& name, Shape in) const`
#include <algoperf/nn/all.hpp>

struct Same {
  constexpr algoperf::Shape output(algoperf::Shape in) const { return in; }
  struct Handles {};
  constexpr std::uint64_t parameters(algoperf::Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(algoperf::Shape, std::uint64_t, Tally&) const {}
  template <class Tally>
  constexpr void count_backward(algoperf::Shape, std::uint64_t, bool, Tally&) const {}
  constexpr algoperf::LayerMemory memory(algoperf::Shape) const { return {}; }
};

algoperf::Sequential model(algoperf::Flatten{}, Same{});

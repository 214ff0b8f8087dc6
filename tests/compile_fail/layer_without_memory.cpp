// expect: algoperf: a layer needs `constexpr LayerMemory memory(Shape in) const`
#include <algoperf/nn/all.hpp>

struct Same {
  constexpr algoperf::Shape output(algoperf::Shape in) const { return in; }
  struct Handles {};
  constexpr algoperf::Cost cost(algoperf::Shape) const { return {}; }
};

algoperf::Sequential model(algoperf::Flatten{}, Same{});

// expect: algoperf: a layer needs `count_forward(Shape in, std::uint64_t batch, Tally&)`
#include <algoperf/nn/all.hpp>

struct Same {
  constexpr algoperf::Shape output(algoperf::Shape in) const { return in; }
  struct Handles {};
  constexpr std::uint64_t parameters(algoperf::Shape) const { return 0; }
};

algoperf::Sequential model(algoperf::Flatten{}, Same{});

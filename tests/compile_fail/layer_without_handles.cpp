// expect: algoperf: a layer needs a type `Handles`, the tensors it declares (an empty struct if none)
#include <algoperf/nn/all.hpp>

struct Same {
  constexpr algoperf::Shape output(algoperf::Shape in) const { return in; }
};

algoperf::Sequential model(algoperf::Flatten{}, Same{});

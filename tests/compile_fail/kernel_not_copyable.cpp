// expect: algoperf: a stage's kernel must be trivially copyable, because it is copied to devices
#include <algoperf/rules/all.hpp>
#include <vector>

struct Table {
  static constexpr std::size_t slots = 0;
  std::vector<float> factors;
  template <class T>
  T operator()(T u, T, algoperf::Slots<T, 0>&) const {
    return u;
  }
};

auto rule = algoperf::chain(Table{}, algoperf::Descend{});

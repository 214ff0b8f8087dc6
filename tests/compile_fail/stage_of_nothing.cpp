// expect: algoperf: a stage's kernel needs `static constexpr std::size_t slots`
#include <algoperf/rules/all.hpp>

struct Empty {};

auto rule = algoperf::chain(Empty{}, algoperf::Descend{});

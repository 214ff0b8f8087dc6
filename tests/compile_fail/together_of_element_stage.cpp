// expect: algoperf: together(first, second) takes two stages that scale each tensor, such as ClipByRms{}
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::together(algoperf::Adam{}, algoperf::ScaleByParameterRms{}), algoperf::Descend{});

// expect: algoperf: together(first, second) takes two stages that scale each tensor, such as ClipByRms{}
#include <algoperf/rules/all.hpp>

auto clip = algoperf::masked(algoperf::ClipByRms{}, algoperf::decayable);
auto rule = algoperf::chain(algoperf::together(clip, algoperf::ScaleByParameterRms{}), algoperf::Descend{});

// expect: algoperf: fuse_measurements(first, second) takes two stages that scale each tensor, such as ClipByRms{}
#include <algoperf/rules/all.hpp>

auto clip = algoperf::masked(algoperf::ClipByRms{}, algoperf::decayable);
auto rule = algoperf::chain(algoperf::fuse_measurements(clip, algoperf::ScaleByParameterRms{}), algoperf::Descend{});

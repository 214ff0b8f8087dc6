// expect: algoperf: fuse_measurements(first, second) takes two stages that scale each tensor, such as ClipByRms{}
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::fuse_measurements(algoperf::Adam{}, algoperf::ScaleByParameterRms{}),
                            algoperf::Descend{});

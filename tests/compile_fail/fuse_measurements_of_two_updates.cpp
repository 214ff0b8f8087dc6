// expect: algoperf: the second stage of fuse_measurements(...) must measure only p, as ScaleByParameterRms{} does
#include <algoperf/rules/all.hpp>

auto rule =
    algoperf::chain(algoperf::fuse_measurements(algoperf::ClipByRms{}, algoperf::ClipByRms{}), algoperf::Descend{});

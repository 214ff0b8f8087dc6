// expect: algoperf: the second stage of together(...) must measure the parameters alone, as ScaleByParameterRms{}
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::together(algoperf::ClipByRms{}, algoperf::ClipByRms{}), algoperf::Descend{});

// expect: algoperf: this chain never scales by the learning rate: add the stage Descend{}, usually last
#include <algoperf/rules/chain/chain.hpp>
#include <algoperf/rules/stages/adam.hpp>

auto rule = algoperf::chain(algoperf::Adam{});

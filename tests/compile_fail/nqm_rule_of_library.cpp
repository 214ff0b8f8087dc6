// expect: algoperf: a rule of the noisy quadratic model is NqmSgd{}, NqmMomentum{}, NqmEma{}, or a struct with
#include <algoperf/rules/all.hpp>
#include <algoperf/scaling/all.hpp>

const double loss = algoperf::NoisyQuadratic{}.loss(algoperf::sgd(), 10);

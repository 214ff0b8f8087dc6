// expect: algoperf: update_cost counts operations per parameter
#include <algoperf/algoperf.hpp>
#include <algoperf/scaling/cost/step_cost.hpp>
namespace ap = algoperf;

void count() { ap::update_cost(ap::muon()); }

// expect: algoperf: update_cost counts what is done to each parameter
#include <algoperf/algoperf.hpp>
#include <algoperf/scaling/cost/step_cost.hpp>
namespace ap = algoperf;

void count() { ap::update_cost(ap::muon()); }

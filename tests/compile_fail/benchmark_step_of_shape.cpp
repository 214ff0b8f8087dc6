// expect: algoperf: ALGOPERF_OPTIMIZER_STEP(rule, backend, sizes...) needs integer sizes, one benchmark each
#include <algoperf/backend/host.hpp>
#include <algoperf/benchmark/optimizer_step.hpp>
#include <algoperf/rules/recipes/adamw.hpp>

ALGOPERF_OPTIMIZER_STEP(algoperf::adamw(), algoperf::Host{}, algoperf::Shape{784, 256});

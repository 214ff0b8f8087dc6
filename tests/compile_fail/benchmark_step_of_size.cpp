// expect: algoperf: ALGOPERF_OPTIMIZER_STEP(rule, backend, sizes...) needs a backend before its sizes
#include <algoperf/backend/host.hpp>
#include <algoperf/benchmark/optimizer_step.hpp>
#include <algoperf/rules/recipes/adamw.hpp>

ALGOPERF_OPTIMIZER_STEP(algoperf::adamw(), 1024, 4096);

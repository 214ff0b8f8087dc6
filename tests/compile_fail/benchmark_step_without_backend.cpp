// expect: algoperf: a benchmark of an optimizer step needs a rule, a backend, and a size
#include <algoperf/backend/host.hpp>
#include <algoperf/benchmark/optimizer_step.hpp>
#include <algoperf/rules/recipes/adamw.hpp>

ALGOPERF_OPTIMIZER_STEP(algoperf::adamw());

// expect: algoperf: Evaluate(data, metric, options) needs a metric
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) { Evaluate evaluate(data, {.every = 5}); }

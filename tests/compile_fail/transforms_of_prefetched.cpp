// expect: algoperf: transforms of prefetched data would not be prefetched: prefetch the transformed data instead
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) { transformed(prefetched(data), RandomFlip{}); }

// expect: algoperf: a slice of transformed data would drop the transforms: transform the slice instead
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void halve(const InMemory<float>& data) { const Slice half(transformed(data, RandomFlip{}), 0, data.size() / 2); }

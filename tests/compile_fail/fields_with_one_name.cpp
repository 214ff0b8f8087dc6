// expect: algoperf: two fields of a data set have the same name
#include <algoperf/algoperf.hpp>

using namespace algoperf;

std::size_t fields() { return FieldList<Field<"input", float>, Field<"input", std::int32_t>>::size; }

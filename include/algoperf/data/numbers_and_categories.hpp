#pragma once

#include <cstdint>

#include "in_memory_fields.hpp"

namespace algoperf {

// The data of recommendation models such as Dlrm: "numbers", "categories", tokens of one table, and "label", 0 or 1.
using NumbersAndCategories =
    InMemoryFields<Field<"numbers", float>, Field<"categories", std::int32_t>, Field<"label", std::int32_t>>;

}  // namespace algoperf

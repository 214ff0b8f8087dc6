#pragma once

#include "../core/error.hpp"

namespace algoperf {

// Visits an option that state depends on. Throws Error, naming the owner and the option, if an archive that is read has
// another value.
template <class Archive>
void visit_option(Archive& archive, const char* owner, const char* name, double value) {
  double saved = value;
  archive.number(name, saved);
  if constexpr (Archive::reading)
    require(saved == value, owner, ": the archive is of a run with ", name, " ", saved, ", expected ", value);
}

}  // namespace algoperf

// visit_arena: archives an arena in the backend's memory, tensor by tensor.
#pragma once

#include "../core/layout.hpp"

namespace algoperf::detail {

template <class Archive, class Backend, class Scalar>
void visit_arena(Archive& archive, const Backend& backend, const Layout& layout, Scalar* arena) {
  for (const TensorHandle handle : layout.tensors()) {
    const TensorPlace place = layout.place_of(handle);
    archive.array(layout.spec(handle).name.c_str(), backend, arena + place.offset, place.size);
  }
}

}  // namespace algoperf::detail

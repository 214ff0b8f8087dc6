// RecordingOf<Backend>: the type of a backend's recording of a step (backend/concept.hpp), or an empty type if it has
// none.
#pragma once

#include "../backend/concept.hpp"

namespace algoperf::detail {

struct NoRecording {};
template <class Backend>
struct ChooseRecording {
  using type = NoRecording;
};
template <AsynchronousBackend Backend>
struct ChooseRecording<Backend> {
  using type = typename Backend::Recording;
};
template <class Backend>
using RecordingOf = typename ChooseRecording<Backend>::type;

}  // namespace algoperf::detail

// Checkpoints: files of named arrays in named sections. A file is written completely or not at all. Loading throws
// Error if the file has another format or layout, or is damaged.
//
//   save_checkpoint(path, loop)   load_checkpoint(path, loop)   the full state of a loop, or of any type with
//                                                               visit(archive)
//   load_values(path, loop)                                     the parameters only
//   load_values(path, loop, where)                              some of the parameters, for a model with another head
//   load_evaluation_values(path, loop)                          averaged parameters if the loop's rule averages
//
// The observer Checkpoints adds sections for the run's report and for observers; these functions read its files too.
//
// The format: state/checkpoint_format.hpp.
#pragma once

#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../state/archive.hpp"
#include "../state/checkpoint_reader.hpp"
#include "../state/checkpoint_writer.hpp"

namespace algoperf {

namespace detail {

// Reads with visit(file), completely or not at all: if visit throws, the previous state is restored.
template <class Visit>
void load_whole(CheckpointReader& file, const Visit& visit) {
  CheckpointWriter before;
  visit(before);
  try {
    visit(file);
  } catch (...) {
    CheckpointReader back("the previous state", before.finish());
    visit(back);
    throw;
  }
}

// Visits the section of the trained state, which every file must have.
template <class Archive, class T>
void visit_state(Archive& archive, const std::string& path, T& object) {
  const auto visit = [&](auto& section) { object.visit(section); };
  if constexpr (Archive::reading)
    require(archive.section(state_section, visit), path, ": has no section '", state_section, "'");
  else
    archive.section(state_section, visit);
}

}  // namespace detail

// Writes the state of `object`. Of a loop on several ranks, all must call it; rank 0 writes the file.
template <class T>
void save_checkpoint(const std::string& path, T& object) {
  if constexpr (requires { object.gather_state(); }) {
    object.gather_state();
    if (!object.ranks().is_root()) return;
  }
  CheckpointWriter file;
  detail::visit_state(file, path, object);
  file.write(path);
}

// Reads the state of `object`. Throws Error, and leaves `object` unchanged, if the file does not fit it.
template <class T>
void load_checkpoint(const std::string& path, T& object) {
  CheckpointReader file(path);
  detail::load_whole(file, [&](auto& archive) { detail::visit_state(archive, path, object); });
}

namespace detail {

// Loads the values in the scope `scope_name` of the tensors that `where` accepts, and leaves the others unchanged. If
// `whole` is true, the scope must hold no other tensors.
template <class Loop, class Where>
void load_values(CheckpointReader& file, const std::string& path, Loop& loop, const char* scope_name, bool whole,
                 const Where& where) {
  const ArchiveScope scope(file, scope_name);
  const Layout& layout = loop.layout();
  std::vector<typename Loop::Backend::Scalar> values(layout.size());
  loop.backend().read(values.size(), static_cast<const Loop&>(loop).values(), values.data());
  std::size_t count = 0;
  for (const TensorHandle handle : layout.tensors()) {
    if (!where(layout.spec(handle))) continue;
    const char* const name = layout.spec(handle).name.c_str();
    require(file.seek(name), path, ": has no parameters '", name, "'");
    file.array(name, values.data() + layout.place_of(handle).offset, layout.place_of(handle).size);
    ++count;
  }
  require(count > 0, path, ": no tensor of the model was selected");
  require(!whole || file.count() == count, path, ": holds ", file.count(), " tensors, the model has ", count);
  loop.backend().write(values.size(), values.data(), loop.values());
}
template <class Loop, class Where>
void load_values(const std::string& path, Loop& loop, bool evaluated, bool whole, const Where& where) {
  CheckpointReader file(path);
  require(file.open(state_section), path, ": has no section '", state_section, "'");
  if (evaluated) {
    const ArchiveScope scope(file, evaluation_values_scope);
    evaluated = file.count() > 0;
  }
  load_values(file, path, loop, evaluated ? evaluation_values_scope : values_scope, whole, where);
}

}  // namespace detail

// Loads only the parameters, matched by tensor name, into a loop or a Predictor. The loop's rule, schedule, selector
// and step may differ from the file's and remain unchanged. Throws Error, and changes nothing, unless the file has
// the same tensors as the loop.
template <class Loop>
void load_values(const std::string& path, Loop& loop) {
  detail::load_values(path, loop, false, true, otherwise);
}

// Loads the parameters of the tensors that `where`, a predicate of a TensorSpec, accepts; the file may hold more. To
// start from the body of another model with a new head:
//   load_values(path, loop, [](const TensorSpec& tensor) { return !tensor.output; });
// Throws Error, and changes nothing, if the file lacks one of these tensors or has it with another size, or if `where`
// accepts none.
template <class Loop, class Where>
void load_values(const std::string& path, Loop& loop, const Where& where) {
  detail::load_values(path, loop, false, false, where);
}

// Loads the parameters that the saved loop was evaluated with: averages if its rule averages, else the same as
// load_values. The metric that BestCheckpoint compares is computed with these.
template <class Loop>
void load_evaluation_values(const std::string& path, Loop& loop) {
  detail::load_values(path, loop, true, true, otherwise);
}
template <class Loop, class Where>
void load_evaluation_values(const std::string& path, Loop& loop, const Where& where) {
  detail::load_values(path, loop, true, false, where);
}

}  // namespace algoperf

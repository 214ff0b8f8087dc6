// Checkpoints: a file of named arrays in named sections, written whole or not at all, and refused with a sentence when
// it is foreign, damaged or of another layout.
//
//   save_checkpoint(path, loop)   load_checkpoint(path, loop)   all of a loop, or of anything with visit(archive)
//   load_values(path, loop)                                     its parameters alone
//   load_values(path, loop, where)                              of some tensors, for a model with another head
//   load_evaluation_values(path, loop)                          averaged, where its rule averages
//
// The observer Checkpoints adds sections for the run's report and for observers; these functions read its files too.
//
// The format: checkpoint_format.hpp.
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

// Reads with visit(file), wholly or not at all: if that throws, visit puts back what it had written before.
template <class Visit>
void load_whole(CheckpointReader& file, const Visit& visit) {
  CheckpointWriter before;
  visit(before);
  try {
    visit(file);
  } catch (...) {
    CheckpointReader back("what was before", before.finish());
    visit(back);
    throw;
  }
}

// The section of what is trained, which no file lacks.
template <class Archive, class T>
void visit_state(Archive& archive, const std::string& path, T& object) {
  const auto visit = [&](auto& section) { object.visit(section); };
  if constexpr (Archive::reading)
    require(archive.section(state_section, visit), path, ": has no section '", state_section, "'");
  else
    archive.section(state_section, visit);
}

}  // namespace detail

template <class T>
void save_checkpoint(const std::string& path, T& object) {
  CheckpointWriter file;
  detail::visit_state(file, path, object);
  file.write(path);
}

// Throws Error, and leaves `object` as it was, if the file does not fit it.
template <class T>
void load_checkpoint(const std::string& path, T& object) {
  CheckpointReader file(path);
  detail::load_whole(file, [&](auto& archive) { detail::visit_state(archive, path, object); });
}

namespace detail {

// The values within `scope` of all tensors that `where` accepts, the others as they are; `whole`: all that it has.
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
  require(count > 0, path, ": none of the model's tensors was asked for");
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

// The parameters alone, tensor by tensor by name, into a loop whose rule, schedule, selector and step may be others and
// stay as they are, or into a Predictor. Throws Error, and changes nothing, unless the file's tensors are the loop's.
template <class Loop>
void load_values(const std::string& path, Loop& loop) {
  detail::load_values(path, loop, false, true, otherwise);
}

// The parameters of the tensors that `where`, a predicate of a TensorSpec, accepts; the file may hold more. To go on
// from another model's body with a new head:
//   load_values(path, loop, [](const TensorSpec& tensor) { return !tensor.output; });
// Throws Error, and changes nothing, if the file lacks one of them or has it in another size, or if there is none.
template <class Loop, class Where>
void load_values(const std::string& path, Loop& loop, const Where& where) {
  detail::load_values(path, loop, false, false, where);
}

// The parameters that the loop was evaluated by: averages, where its rule averages, and else the same as load_values.
// What BestCheckpoint found best was found with these.
template <class Loop>
void load_evaluation_values(const std::string& path, Loop& loop) {
  detail::load_values(path, loop, true, true, otherwise);
}
template <class Loop, class Where>
void load_evaluation_values(const std::string& path, Loop& loop, const Where& where) {
  detail::load_values(path, loop, true, false, where);
}

}  // namespace algoperf

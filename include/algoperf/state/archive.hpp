// The Archive protocol, which names state for checkpoints. Every stateful type has one member
//     template <class Archive> void visit(Archive& archive);
// that names each part of its state: archive.number("t", t_); archive.array("momentum", data, size). The same member
// serves writing and reading; the archive's constant `reading` distinguishes them, so that a type can recompute derived
// state after reading. For a backend's memory, pass the backend: archive.array("exp_avg", backend, data, size).
// The archives are in checkpoint_writer.hpp, checkpoint_reader.hpp and state_dict.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/config.hpp"

namespace algoperf {

// Prefixes every name within its lifetime with `name/`.
template <class Archive>
class ArchiveScope {
 public:
  ArchiveScope(Archive& archive, const std::string& name) : archive_(archive), length_(archive.prefix.size()) {
    archive.prefix += name;
    archive.prefix += '/';
  }
  ~ArchiveScope() { archive_.prefix.resize(length_); }
  ArchiveScope(const ArchiveScope&) = delete;
  ArchiveScope& operator=(const ArchiveScope&) = delete;

 private:
  Archive& archive_;
  std::size_t length_;
};

// Visits `object` within the scope `name`, if it has a visit member.
template <class Archive, class T>
void visit_scoped(Archive& archive, const std::string& name, T& object) {
  if constexpr (requires { object.visit(archive); }) {
    const ArchiveScope scope(archive, name);
    object.visit(archive);
  }
}

}  // namespace algoperf

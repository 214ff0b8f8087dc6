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

// Throws Error, if the archive checks files, unless its next entry is `name` with n values of type T. Call it before
// allocating memory for a number of values that the archive declares.
template <class T, class Archive>
void expect_values(Archive& archive, const char* name, std::size_t n) {
  if constexpr (requires { archive.template expect<T>(name, n); }) archive.template expect<T>(name, n);
}

// Visits a text as two entries: its size in bytes, called `size_name`, and its characters.
template <class Archive>
void visit_text(Archive& archive, const char* size_name, const char* name, std::string& text) {
  std::uint64_t size = text.size();
  archive.number(size_name, size);
  if constexpr (Archive::reading) {
    expect_values<char>(archive, name, static_cast<std::size_t>(size));
    text.resize(static_cast<std::size_t>(size));
  }
  archive.array(name, text.data(), text.size());
}

}  // namespace algoperf

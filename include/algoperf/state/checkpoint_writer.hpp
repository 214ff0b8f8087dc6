#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "atomic_file.hpp"
#include "checkpoint_format.hpp"

namespace algoperf {

// Builds the bytes of a checkpoint in memory, section by section.
class CheckpointWriter {
 public:
  static constexpr bool reading = false;
  std::string prefix;

  CheckpointWriter() {
    put(detail::checkpoint_magic, sizeof detail::checkpoint_magic);
    put_number(detail::checkpoint_version);
  }

  // Writes a section called `name` with the entries that `visit(*this)` names.
  template <class Visit>
  void section(const std::string& name, const Visit& visit) {
    put_name(name);
    const std::size_t at = bytes_.size();
    put_number(std::uint64_t{0});
    visit(*this);
    const std::uint64_t size = bytes_.size() - at - sizeof size;
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }
  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  template <class T>
  void array(const char* name, const T* data, std::size_t n) {
    static_assert(std::is_arithmetic_v<T>);
    put_name(prefix + name);
    put_number(detail::type_code<T>());
    put_number(static_cast<std::uint64_t>(n));
    put(data, n * sizeof(T));
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, const T* data, std::size_t n) {
    std::vector<T> host(n);
    backend.read(n, data, host.data());
    array(name, host.data(), n);
  }

  // Returns the bytes of entries written outside of sections, which append() adds to another file's section.
  std::string entries() const {
    return bytes_.substr(sizeof detail::checkpoint_magic + sizeof detail::checkpoint_version);
  }
  void append(const std::string& entries) { bytes_ += entries; }
  // Returns the bytes of the whole file; call it after the last section.
  std::string finish() {
    put_number(std::uint32_t{0});
    put_number(detail::fnv1a(bytes_, bytes_.size()));
    return std::move(bytes_);
  }
  // Writes the file. If that fails, throws Error and leaves an existing file at `path` unchanged.
  void write(const std::string& path) { write_file(path, finish()); }

 private:
  void put_name(const std::string& name) {
    put_number(static_cast<std::uint32_t>(name.size()));
    put(name.data(), name.size());
  }
  template <class T>
  void put_number(T value) {
    put(&value, sizeof value);
  }
  void put(const void* data, std::size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  std::string bytes_;
};

}  // namespace algoperf

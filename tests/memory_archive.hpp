// Two small archives for tests: write a state into a map of names, read it back.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "algoperf/core/error.hpp"

namespace algoperf::testing {

using Saved = std::map<std::string, std::vector<unsigned char>>;

// Returns how many arrays whose names end in `ending` differ.
inline std::size_t changed(const Saved& before, const Saved& after, const std::string& ending) {
  std::size_t count = 0;
  for (const auto& [name, bytes] : after) count += name.ends_with(ending) && bytes != before.at(name);
  return count;
}
// Returns how many arrays have names that end in `ending`.
inline std::size_t arrays_named(const Saved& saved, const std::string& ending) {
  std::size_t count = 0;
  for (const auto& [name, bytes] : saved) count += name.ends_with(ending);
  return count;
}

struct MemoryWriter {
  static constexpr bool reading = false;
  Saved saved;
  std::string prefix;

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  template <class T>
  void array(const char* name, T* data, std::size_t size) {
    std::vector<unsigned char>& bytes = saved[prefix + name];
    bytes.resize(size * sizeof(T));
    if (size > 0) std::memcpy(bytes.data(), data, bytes.size());
  }
  // Memory of a backend, which may be a device's.
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, T* data, std::size_t size) {
    std::vector<T> host(size);
    backend.read(size, static_cast<const T*>(data), host.data());
    array(name, host.data(), size);
  }
};

struct MemoryReader {
  static constexpr bool reading = true;
  const Saved& saved;
  std::string prefix = {};

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  template <class T>
  void array(const char* name, T* data, std::size_t size) {
    const auto found = saved.find(prefix + name);
    require(found != saved.end(), "MemoryReader: there is no '", prefix, name, "'");
    require(found->second.size() == size * sizeof(T), "MemoryReader: '", prefix, name, "' has ", found->second.size(),
            " bytes, expected ", size * sizeof(T));
    if (size > 0) std::memcpy(data, found->second.data(), found->second.size());
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, T* data, std::size_t size) {
    std::vector<T> host(size);
    array(name, host.data(), size);
    backend.write(size, static_cast<const T*>(host.data()), data);
  }
};

template <class State>
Saved save(State& state) {
  MemoryWriter writer;
  state.visit(writer);
  return writer.saved;
}

template <class State>
void load(State& state, const Saved& saved) {
  MemoryReader reader{saved};
  state.visit(reader);
}

}  // namespace algoperf::testing

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "checkpoint_format.hpp"
#include "read_file.hpp"

namespace algoperf {

// Verifies a whole file and gives access to sections and their entries by name. Entries are read in the order in which
// they were written.
class CheckpointReader {
 public:
  static constexpr bool reading = true;
  std::string prefix;

  explicit CheckpointReader(const std::string& path) : CheckpointReader(path, read_file(path)) {}
  // `bytes` are the file's contents; `path` names it in error messages.
  CheckpointReader(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {
    const std::size_t head = sizeof detail::checkpoint_magic + sizeof detail::checkpoint_version;
    require(bytes_.size() >= head && std::memcmp(bytes_.data(), detail::checkpoint_magic, 8) == 0, path_,
            ": not an algoperf checkpoint");
    std::uint32_t version = 0;
    std::memcpy(&version, bytes_.data() + sizeof detail::checkpoint_magic, sizeof version);
    require(version == detail::checkpoint_version, path_, ": checkpoint format ", version, ", expected ",
            detail::checkpoint_version);
    std::uint64_t expected = 0;
    require(bytes_.size() >= head + sizeof expected, path_, ": truncated after ", bytes_.size(), " bytes");
    const std::size_t end = bytes_.size() - sizeof expected;
    std::memcpy(&expected, bytes_.data() + end, sizeof expected);
    require(detail::fnv1a(bytes_, end) == expected, path_, ": damaged or truncated (the checksum of its ",
            bytes_.size(), " bytes does not match)");
    find_sections(head, end);
  }

  // Reads the entries that `visit(*this)` names from the section `name`. Returns false if there is no such section.
  // Throws Error if the section has other entries.
  template <class Visit>
  bool section(const std::string& name, const Visit& visit) {
    if (!open(name)) return false;
    visit(*this);
    require(at_ == end_, path_, ": holds more than this run has: it was written by another run");
    return true;
  }
  // Moves to the beginning of a section; returns false if there is none of that name.
  bool open(const std::string& name) {
    for (const Section& section : sections_) {
      if (section.name != name) continue;
      at_ = begin_ = section.begin;
      end_ = section.end;
      return true;
    }
    return false;
  }
  // Moves to an entry of the section; returns false if there is none. Searches from the current position, then from the
  // beginning.
  bool seek(const char* name) {
    const std::string full = prefix + name;
    const std::size_t here = at_;
    return seek(full, here, end_) || seek(full, begin_, here);
  }
  // Moves behind the next entries whose names begin with the current prefix and `scope`/.
  void skip_scope(const std::string& scope) {
    const std::string full = prefix + scope + "/";
    while (at_ < end_) {
      const Entry entry = entry_here();
      if (entry.name.compare(0, full.size(), full) != 0) return;
      at_ = entry.next;
    }
  }
  // Returns the number of entries of the section whose names begin with the current prefix.
  std::size_t count() {
    std::size_t n = 0;
    for (at_ = begin_; at_ < end_;) {
      const Entry entry = entry_here();
      n += entry.name.compare(0, prefix.size(), prefix) == 0;
      at_ = entry.next;
    }
    return n;
  }

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  // Throws Error unless the next entry is `name` with n values of type T; to be called before allocating memory for
  // them.
  template <class T>
  void expect(const char* name, std::size_t n) {
    (void)next_entry<T>(name, n);
  }
  template <class T>
  void array(const char* name, T* data, std::size_t n) {
    const Entry entry = next_entry<T>(name, n);
    if (n > 0) std::memcpy(data, bytes_.data() + entry.values, n * sizeof(T));
    at_ = entry.next;
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, T* data, std::size_t n) {
    std::vector<T> host(n);
    array(name, host.data(), n);
    backend.write(n, host.data(), data);
  }

 private:
  bool seek(const std::string& full, std::size_t begin, std::size_t end) {
    for (at_ = begin; at_ < end;) {
      const Entry entry = entry_here();
      if (entry.name == full) return true;
      at_ = entry.next;
    }
    return false;
  }
  struct Section {
    std::string name;
    std::size_t begin, end;
  };
  struct Entry {
    std::string name;
    std::uint8_t type;
    std::uint64_t count;
    std::size_t values, next;  // offsets in the file
  };

  template <class T>
  Entry next_entry(const char* name, std::size_t n) {
    const std::string full = prefix + name;
    require(at_ < end_, path_, ": ends before '", full, "': it was written by another run");
    const Entry entry = entry_here();
    require(entry.name == full, path_, ": at offset ", at_, " found '", entry.name, "', expected '", full,
            "': it was written by another model, rule or selector");
    require(entry.type == detail::type_code<T>(), path_, ": '", full, "' has another element type");
    require(entry.count == n, path_, ": '", full, "' has ", entry.count, " values, expected ", n);
    return entry;
  }
  void find_sections(std::size_t begin, std::size_t end) {
    at_ = begin;
    end_ = end;
    for (;;) {
      const std::size_t offset = at_;
      const std::string name = take_name();
      if (name.empty()) break;
      const auto size = take<std::uint64_t>();
      require(size <= end_ - at_, path_, ": damaged at offset ", offset);
      sections_.push_back({name, at_, at_ + static_cast<std::size_t>(size)});
      at_ = sections_.back().end;
    }
    require(at_ == end_, path_, ": damaged at offset ", at_);
  }
  Entry entry_here() {
    const std::size_t offset = at_;
    Entry entry{};
    entry.name = take_name();
    entry.type = take<std::uint8_t>();
    entry.count = take<std::uint64_t>();
    const std::size_t size = detail::size_of_type(entry.type);
    require(size > 0 && entry.count <= (end_ - at_) / size, path_, ": damaged at offset ", offset);
    entry.values = at_;
    entry.next = at_ + static_cast<std::size_t>(entry.count) * size;
    at_ = offset;
    return entry;
  }
  std::string take_name() {
    const std::size_t offset = at_;
    const auto length = take<std::uint32_t>();
    require(length <= end_ - at_, path_, ": damaged at offset ", offset);
    return bytes_.substr(std::exchange(at_, at_ + length), length);
  }
  template <class T>
  T take() {
    T value;
    require(sizeof value <= end_ - at_, path_, ": truncated at offset ", at_);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string path_, bytes_;
  std::vector<Section> sections_;
  std::size_t begin_ = 0, at_ = 0, end_ = 0;  // of the current section
};

}  // namespace algoperf

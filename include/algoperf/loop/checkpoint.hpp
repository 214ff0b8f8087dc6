// Checkpoints: a file of named arrays in named sections, written whole or not at all, and refused with a sentence when
// it is foreign, damaged or of another layout.
//
//   save_checkpoint(path, loop)   load_checkpoint(path, loop)   all of a loop, or of anything with visit(archive)
//   load_values(path, loop)                                     its parameters alone
//
// The observer Checkpoints adds sections for the run's report and for observers; these functions read its files too.
//
// Format 2, little-endian: "ALGOPERF", u32 version; sections {u32 name length, name, u64 bytes, entries}, each entry
// {u32 name length, name, u8 type, u64 count, values}; a section with an empty name and nothing else; the FNV-1a 64
// checksum of all before it. Types: 1 u8, 2 i32, 3 u32, 4 i64, 5 u64, 6 f32, 7 f64. What is trained lies in the section
// "state".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/archive.hpp"
#include "../core/atomic_file.hpp"
#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../core/read_file.hpp"

namespace algoperf {

namespace detail {

inline constexpr char checkpoint_magic[8] = {'A', 'L', 'G', 'O', 'P', 'E', 'R', 'F'};
inline constexpr std::uint32_t checkpoint_version = 2;

template <class T>
constexpr std::uint8_t type_code() {
  if constexpr (std::is_same_v<T, float>)
    return 6;
  else if constexpr (std::is_same_v<T, double>)
    return 7;
  else if constexpr (sizeof(T) == 1)
    return 1;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? 2 : 3;
  else
    return std::is_signed_v<T> ? 4 : 5;
}

// Of one value; 0 of a type there is not.
constexpr std::size_t size_of_type(std::uint8_t code) {
  constexpr std::size_t sizes[] = {0, 1, 4, 4, 8, 8, 4, 8};
  return code < sizeof sizes / sizeof *sizes ? sizes[code] : 0;
}

inline std::uint64_t fnv1a(const std::string& bytes, std::size_t n) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (std::size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3u;
  return hash;
}

}  // namespace detail

static_assert(std::endian::native == std::endian::little, "algoperf: checkpoints are little-endian");

// Collects sections in memory.
class CheckpointWriter {
 public:
  static constexpr bool reading = false;
  std::string prefix;

  CheckpointWriter() {
    put(detail::checkpoint_magic, sizeof detail::checkpoint_magic);
    put_number(detail::checkpoint_version);
  }

  // Writes what `visit(*this)` names as the section `name`.
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

  // The whole file, after the last section.
  std::string finish() {
    put_number(std::uint32_t{0});
    put_number(detail::fnv1a(bytes_, bytes_.size()));
    return std::move(bytes_);
  }
  // Writes the file. Throws Error, and leaves what was at `path`, if that cannot be done.
  void write(const std::string& path) {
    AtomicFile file(path);
    file.write(finish());
    file.commit();
  }

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

// Checks a whole file, and hands out sections and their entries by name. Entries come in the order they were written.
class CheckpointReader {
 public:
  static constexpr bool reading = true;
  std::string prefix;

  explicit CheckpointReader(const std::string& path) : CheckpointReader(path, read_file(path)) {}
  // `bytes` are the file's; errors call it `path`.
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

  // Reads what `visit(*this)` names from the section `name`, and all of it. False if there is no such section.
  template <class Visit>
  bool section(const std::string& name, const Visit& visit) {
    if (!open(name)) return false;
    visit(*this);
    require(at_ == end_, path_, ": holds more than this run has: it was written by another run");
    return true;
  }
  // Goes to the beginning of a section, if it is there.
  bool open(const std::string& name) {
    for (const Section& section : sections_) {
      if (section.name != name) continue;
      at_ = begin_ = section.begin;
      end_ = section.end;
      return true;
    }
    return false;
  }
  // Goes to an entry of the section, if it is there.
  bool seek(const char* name) {
    const std::string full = prefix + name;
    at_ = begin_;
    while (at_ < end_) {
      const Entry entry = entry_here();
      if (entry.name == full) return true;
      at_ = entry.next;
    }
    return false;
  }
  // How many entries of the section lie within the present prefix.
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
  template <class T>
  void array(const char* name, T* data, std::size_t n) {
    const std::string full = prefix + name;
    require(at_ < end_, path_, ": ends before '", full, "': it was written by another run");
    const Entry entry = entry_here();
    require(entry.name == full, path_, ": at offset ", at_, " found '", entry.name, "', expected '", full,
            "': it was written by another model, rule or selector");
    require(entry.type == detail::type_code<T>(), path_, ": '", full, "' has another number type");
    require(entry.count == n, path_, ": '", full, "' has ", entry.count, " values, expected ", n);
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
  struct Section {
    std::string name;
    std::size_t begin, end;
  };
  struct Entry {
    std::string name;
    std::uint8_t type;
    std::uint64_t count;
    std::size_t values, next;  // where they lie
  };

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
  std::size_t begin_ = 0, at_ = 0, end_ = 0;  // of the section
};

namespace detail {

inline constexpr const char* state_section = "state";

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

// The parameters alone, tensor by tensor by name, into a loop whose rule, schedule, selector and step may be others and
// stay as they are. Throws Error, and changes nothing, unless the file's tensors are the loop's.
template <class Loop>
void load_values(const std::string& path, Loop& loop) {
  CheckpointReader file(path);
  require(file.open(detail::state_section), path, ": has no section '", detail::state_section, "'");
  const ArchiveScope scope(file, "values");
  const Layout& layout = loop.layout();
  std::vector<typename Loop::Backend::Scalar> values(layout.size());  // its padding is 0, as an arena's
  for (const TensorHandle handle : layout.tensors()) {
    const char* const name = layout.spec(handle).name.c_str();
    require(file.seek(name), path, ": has no parameters '", name, "'");
    file.array(name, values.data() + layout.place_of(handle).offset, layout.place_of(handle).size);
  }
  require(file.count() == layout.tensors().size(), path, ": holds ", file.count(), " tensors, the model has ",
          layout.tensors().size());
  loop.backend().write(values.size(), values.data(), loop.values());
}

}  // namespace algoperf

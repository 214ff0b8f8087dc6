// Checkpoints: a file of named arrays, written whole or not at all, and refused with a sentence when it is foreign,
// damaged or of another layout.
//
// Format 1, little-endian: "ALGOPERF", u32 version, then entries {u32 name length, name, u8 type, u64 count, values},
// an entry with an empty name, and the FNV-1a 64 checksum of all before it. Types: 1 u8, 2 i32, 3 u32, 4 i64, 5 u64, 6
// f32, 7 f64.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/archive.hpp"
#include "../core/atomic_file.hpp"
#include "../core/error.hpp"
#include "../core/read_file.hpp"

namespace algoperf {

namespace detail {

inline constexpr char checkpoint_magic[8] = {'A', 'L', 'G', 'O', 'P', 'E', 'R', 'F'};
inline constexpr std::uint32_t checkpoint_version = 1;

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

inline std::uint64_t fnv1a(const std::string& bytes, std::size_t n) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (std::size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3u;
  return hash;
}

}  // namespace detail

static_assert(std::endian::native == std::endian::little, "algoperf: checkpoints are little-endian");

// Collects entries in memory.
class CheckpointWriter {
 public:
  static constexpr bool reading = false;
  std::string prefix;

  CheckpointWriter() {
    put(detail::checkpoint_magic, sizeof detail::checkpoint_magic);
    put_number(detail::checkpoint_version);
  }
  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  template <class T>
  void array(const char* name, const T* data, std::size_t n) {
    static_assert(std::is_arithmetic_v<T>);
    entry<T>(name, n);
    put(data, n * sizeof(T));
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, const T* data, std::size_t n) {
    std::vector<T> host(n);
    backend.read(n, data, host.data());
    array(name, host.data(), n);
  }
  // Writes the file. Throws Error, and leaves what was at `path`, if that cannot be done.
  void write(const std::string& path) {
    put_number(std::uint32_t{0});
    put_number(detail::fnv1a(bytes_, bytes_.size()));
    AtomicFile file(path);
    file.write(bytes_);
    file.commit();
  }

 private:
  template <class T>
  void entry(const char* name, std::size_t n) {
    const std::string full = prefix + name;
    put_number(static_cast<std::uint32_t>(full.size()));
    put(full.data(), full.size());
    put_number(detail::type_code<T>());
    put_number(static_cast<std::uint64_t>(n));
  }
  template <class T>
  void put_number(T value) {
    put(&value, sizeof value);
  }
  void put(const void* data, std::size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  std::string bytes_;
};

// Reads a whole file, checks it, and hands out entries by name. Entries come in the order they were written.
class CheckpointReader {
 public:
  static constexpr bool reading = true;
  std::string prefix;

  explicit CheckpointReader(std::string path) : path_(std::move(path)), bytes_(read_file(path_)) {
    const std::size_t head = sizeof detail::checkpoint_magic + sizeof detail::checkpoint_version;
    require(bytes_.size() >= head && std::memcmp(bytes_.data(), detail::checkpoint_magic, 8) == 0, path_,
            ": not an algoperf checkpoint");
    at_ = sizeof detail::checkpoint_magic;
    const auto version = take<std::uint32_t>();
    require(version == detail::checkpoint_version, path_, ": checkpoint format ", version, ", expected ",
            detail::checkpoint_version);
    std::uint64_t expected = 0;
    require(bytes_.size() >= head + sizeof expected, path_, ": truncated after ", bytes_.size(), " bytes");
    end_ = bytes_.size() - sizeof expected;
    std::memcpy(&expected, bytes_.data() + end_, sizeof expected);
    require(detail::fnv1a(bytes_, end_) == expected, path_, ": damaged or truncated (the checksum of its ",
            bytes_.size(), " bytes does not match)");
  }

  template <class T>
  void number(const char* name, T& value) {
    array(name, &value, 1);
  }
  template <class T>
  void array(const char* name, T* data, std::size_t n) {
    const std::string full = prefix + name;
    const std::size_t offset = at_;
    const auto length = take<std::uint32_t>();
    require(length > 0, path_, ": ends before '", full, "': it was written by another run");
    require(length <= end_ - at_, path_, ": damaged at offset ", offset);
    const std::string found = bytes_.substr(at_, length);
    at_ += length;
    require(found == full, path_, ": at offset ", offset, " found '", found, "', expected '", full,
            "': it was written by another model, rule or selector");
    const auto type = take<std::uint8_t>();
    const auto count = take<std::uint64_t>();
    require(type == detail::type_code<T>(), path_, ": '", full, "' has another number type");
    require(count == n, path_, ": '", full, "' has ", count, " values, expected ", n);
    require(n <= (end_ - at_) / sizeof(T), path_, ": truncated within '", full, "'");
    if (n > 0) std::memcpy(data, bytes_.data() + at_, n * sizeof(T));
    at_ += n * sizeof(T);
  }
  template <class Backend, class T>
  void array(const char* name, const Backend& backend, T* data, std::size_t n) {
    std::vector<T> host(n);
    array(name, host.data(), n);
    backend.write(n, host.data(), data);
  }
  void finish() {
    require(take<std::uint32_t>() == 0 && at_ == end_, path_,
            ": holds more than this run has: it was written by another run");
  }

 private:
  template <class T>
  T take() {
    T value;
    require(sizeof value <= end_ - at_ || end_ == 0, path_, ": truncated at offset ", at_);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string path_, bytes_;
  std::size_t at_ = 0, end_ = 0;
};

template <class T>
void save_checkpoint(const std::string& path, T& object) {
  CheckpointWriter writer;
  object.visit(writer);
  writer.write(path);
}

// Throws Error and leaves `object` half-read if the file does not fit it; the file's own integrity is checked first.
template <class T>
void load_checkpoint(const std::string& path, T& object) {
  CheckpointReader reader(path);
  object.visit(reader);
  reader.finish();
}

}  // namespace algoperf

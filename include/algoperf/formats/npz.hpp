// NumPy's .npz, many arrays a file: a zip archive of .npy files.
//
//   save_npz("values.npz", values_dict(loop));       numpy.load("values.npz")["0.weight"]
//   load_values(load_npz("theirs.npz"), loop);       of numpy.savez and numpy.savez_compressed
//
// Needs libzip.
#pragma once

#include <zip.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../core/atomic_file.hpp"
#include "../core/read_file.hpp"
#include "concept.hpp"
#include "npy_bytes.hpp"

namespace algoperf {

namespace detail {

// An archive in memory.
class Zip {
 public:
  // Reads one, which `bytes` must outlive; or makes one.
  Zip(const std::string& path, const std::string& bytes) : Zip(path, bytes.data(), bytes.size(), ZIP_RDONLY) {}
  explicit Zip(const std::string& path) : Zip(path, nullptr, 0, ZIP_TRUNCATE) {}
  ~Zip() {
    if (archive_ != nullptr) zip_discard(archive_);
    zip_source_free(source_);
  }
  Zip(const Zip&) = delete;
  Zip& operator=(const Zip&) = delete;

  std::size_t count() const { return static_cast<std::size_t>(zip_get_num_entries(archive_, 0)); }
  std::string name(std::size_t i) const {
    const char* const name = zip_get_name(archive_, i, 0);
    require(name != nullptr, path_, ": entry ", i, " has no name");
    return name;
  }
  // Memory grows with what is there, not with what is promised.
  std::string read(std::size_t i) const {
    zip_file_t* const opened = zip_fopen_index(archive_, i, 0);
    require(opened != nullptr, path_, ": '", name(i), "' cannot be read: ", zip_strerror(archive_));
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(opened, zip_fclose);
    std::string bytes;
    char buffer[1 << 16];
    zip_int64_t n;
    while ((n = zip_fread(opened, buffer, sizeof buffer)) > 0) bytes.append(buffer, static_cast<std::size_t>(n));
    require(n == 0, path_, ": '", name(i), "' cannot be read: ", zip_file_strerror(opened));
    return bytes;
  }

  // `bytes` must live until finish().
  void add(const std::string& name, const std::string& bytes) {
    zip_source_t* const source = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    const zip_int64_t at = source == nullptr ? -1 : zip_file_add(archive_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (at < 0) zip_source_free(source);
    require(at >= 0, path_, ": '", name, "' cannot be added: ", zip_strerror(archive_));
    const auto place = static_cast<zip_uint64_t>(at);
    constexpr zip_uint16_t first_of_1980 = 0x21;  // the same bytes each time
    require(zip_set_file_compression(archive_, place, ZIP_CM_STORE, 0) == 0 &&
                zip_file_set_dostime(archive_, place, 0, first_of_1980, 0) == 0,
            path_, ": '", name, "' cannot be added: ", zip_strerror(archive_));
  }
  std::string finish() {
    if (zip_close(archive_) != 0) fail(path_, ": cannot be written: ", zip_strerror(archive_));
    archive_ = nullptr;  // a closed archive is gone
    zip_stat_t facts;
    require(zip_source_stat(source_, &facts) == 0 && zip_source_open(source_) == 0, path_, ": cannot be written");
    std::string bytes(facts.size, 0);
    const zip_int64_t n = zip_source_read(source_, bytes.data(), bytes.size());
    zip_source_close(source_);
    require(n >= 0 && static_cast<std::size_t>(n) == bytes.size(), path_, ": cannot be written");
    return bytes;
  }

 private:
  Zip(const std::string& path, const char* data, std::size_t size, int mode) : path_(path) {
    zip_error_t error;
    zip_error_init(&error);
    source_ = zip_source_buffer_create(data, size, 0, &error);
    if (source_ != nullptr) {
      zip_source_keep(source_);
      archive_ = zip_open_from_source(source_, mode, &error);
      if (archive_ == nullptr) zip_source_free(source_);
    }
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (archive_ != nullptr) return;
    if (source_ != nullptr) zip_source_free(source_);
    fail(path, ": is no zip archive: ", reason);
  }

  std::string path_;
  zip_source_t* source_ = nullptr;
  zip_t* archive_ = nullptr;
};

}  // namespace detail

// Stored, not compressed, as numpy.savez. Throws Error where there is nothing to save, NumPy has no type for an array,
// or the file cannot be written.
inline void save_npz(const std::string& path, const StateDict& dict) {
  require(!dict.arrays().empty(), path, ": there are no arrays to save");
  std::vector<std::string> files;
  for (const StateDict::Array& array : dict.arrays()) files.push_back(detail::npy_bytes(path, array));
  detail::Zip zip(path);
  for (std::size_t i = 0; i < files.size(); ++i) zip.add(dict.arrays()[i].name + ".npy", files[i]);
  const std::string bytes = zip.finish();
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

// Throws Error naming the file, and the entry where it is one's fault.
inline StateDict load_npz(const std::string& path) {
  const std::string bytes = read_file(path);
  const detail::Zip zip(path, bytes);
  StateDict dict;
  for (std::size_t i = 0; i < zip.count(); ++i) {
    const std::string entry = zip.name(i);
    const std::size_t stem = entry.size() - std::min<std::size_t>(entry.size(), 4);
    require(entry.substr(stem) == ".npy", path, ": entry '", entry, "' is no .npy file");
    const std::string name = entry.substr(0, stem);
    require(!dict.contains(name), path, ": has two entries '", entry, "'");
    detail::read_npy(path + ", entry '" + entry + "'", zip.read(i), name, dict);
  }
  return dict;
}

}  // namespace algoperf

// Zip archives in memory, through libzip.
#pragma once

#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../core/error.hpp"

namespace algoperf::detail {

// An archive in memory, open for reading or for writing.
class Zip {
 public:
  // Opens the archive in `bytes`, which must outlive this object, for reading. Decompresses at most `limit` bytes in
  // total.
  Zip(const std::string& path, const std::string& bytes, std::uint64_t limit)
      : Zip(path, bytes.data(), bytes.size(), ZIP_RDONLY) {
    limit_ = limit;
  }
  // Creates an empty archive for writing.
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
  // A stream that reads entry i from front to back; the archive must outlive it.
  class Entry {
   public:
    Entry(Zip& zip, std::size_t i) : zip_(zip), i_(i), file_(zip_fopen_index(zip.archive_, i, 0), zip_fclose) {
      require(file_ != nullptr, zip.path_, ": '", zip.name(i), "' cannot be read: ", zip_strerror(zip.archive_));
    }
    // Reads up to n bytes; returns fewer only at the end, where the checksum is verified.
    std::size_t read(void* to, std::size_t n) {
      std::size_t done = 0;
      while (done < n) {
        const zip_int64_t got = zip_fread(file_.get(), static_cast<char*>(to) + done, n - done);
        require(got >= 0, zip_.path_, ": '", zip_.name(i_), "' cannot be read: ", zip_file_strerror(file_.get()));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
      }
      zip_.unpacked_ += done;
      require(zip_.unpacked_ <= zip_.limit_, zip_.path_, ": decompresses to more than the limit of ", zip_.limit_,
              " bytes");
      return done;
    }

   private:
    Zip& zip_;
    std::size_t i_;
    std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file_;
  };

  // Adds an entry. `bytes` must live until finish().
  void add(const std::string& name, const std::string& bytes) {
    zip_source_t* const source = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    const zip_int64_t at = source == nullptr ? -1 : zip_file_add(archive_, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (at < 0) zip_source_free(source);
    require(at >= 0, path_, ": '", name, "' cannot be added: ", zip_strerror(archive_));
    const auto place = static_cast<zip_uint64_t>(at);
    constexpr zip_uint16_t first_of_1980 = 0x21;  // a fixed date makes the archive reproducible
    require(zip_set_file_compression(archive_, place, ZIP_CM_STORE, 0) == 0 &&
                zip_file_set_dostime(archive_, place, 0, first_of_1980, 0) == 0,
            path_, ": '", name, "' cannot be added: ", zip_strerror(archive_));
  }
  std::string finish() {
    if (zip_close(archive_) != 0) fail(path_, ": cannot be written: ", zip_strerror(archive_));
    archive_ = nullptr;  // zip_close frees the archive
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
    fail(path, ": is not a zip archive: ", reason);
  }

  std::string path_;
  zip_source_t* source_ = nullptr;
  zip_t* archive_ = nullptr;
  std::uint64_t limit_ = 0, unpacked_ = 0;  // of all entries together
};

}  // namespace algoperf::detail

// TarFile: reads the files of a tar archive (POSIX.1-1988 ustar and GNU), plain or gzipped, in sequence. Link with
// zlib.
//
// An archive has, for each member, a header of 512 bytes and the contents padded to a multiple of 512 bytes; at least
// one block of zeros ends it. A name that does not fit in the header is stored in a separate member before the one it
// names, in GNU's format (type L) or POSIX's (type x).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "../../core/error.hpp"
#include "gz_file.hpp"
#include "in_quotes.hpp"

namespace algoperf {

struct TarEntry {
  std::string name;   // with its folders, as stored
  std::string bytes;  // the contents
};

// Folders, links and devices are skipped. Throws Error with the archive and the byte offset after decompression if a
// checksum is wrong, the archive ends early, or a member type or extension is not supported (sparse files, files of
// 8 GiB or more). Memory use is bounded by the archive's contents, not by the sizes its headers declare.
class TarFile {
 public:
  explicit TarFile(const std::string& path, std::uint64_t limit = GzFile::default_limit) : file_(path, limit) {}

  const std::string& path() const { return file_.path(); }

  // Writes the next file over `entry`; returns false at the end of the archive.
  bool next(TarEntry& entry) {
    std::string long_name;
    while (!ended_) {
      const std::size_t start = file_.offset();
      file_.read_all(header_, block, "a tar header");
      if (std::all_of(header_, header_ + block, [](char c) { return c == 0; })) {
        ended_ = true;
        drain();
        break;
      }
      check_header(start);
      const char type = header_[156];
      const std::string name = long_name.empty() ? short_name() : long_name;
      const std::size_t size = type == '1' ? 0 : octal(124, 12, "size", start);  // a hard link has no contents
      if (type == 'L' || type == 'x') {
        constexpr std::size_t most = std::size_t{1} << 20;
        require(size <= most, path(), ": the long name at byte ", start, " has ", size, " bytes, expected at most ",
                most);
        const std::string contents = read_contents(size, start, "the long name");
        const std::string found = type == 'L' ? contents.substr(0, contents.find('\0')) : path_of(contents, start);
        if (!found.empty()) long_name = found;
        continue;
      }
      require(std::string_view("01234567gK").find(type) != std::string_view::npos || type == 0, path(), ": the member ",
              detail::in_quotes(name), " at byte ", start, " is of type ", detail::in_quotes({&type, 1}),
              ", which is not supported");
      const std::string contents_of = detail::in_quotes(name);
      if (type == '0' || type == '7' || type == 0) {
        entry.name = name;
        entry.bytes = read_contents(size, start, contents_of);
        return true;
      }
      skip(size, start, contents_of);
      if (type != 'g' && type != 'K') long_name.clear();  // the long name belonged to the skipped member
    }
    require(long_name.empty(), path(), ": ends after the long name ", detail::in_quotes(long_name),
            ", expected its member");
    return false;
  }

 private:
  static constexpr std::size_t block = 512;

  std::string_view field(std::size_t at, std::size_t width) const { return std::string_view(header_ + at, width); }
  // Returns the field up to its first zero byte.
  std::string text(std::size_t at, std::size_t width) const {
    return std::string(field(at, width).substr(0, field(at, width).find('\0')));
  }

  // Parses octal digits after optional blanks, up to a blank, a zero byte or the end of the field.
  std::size_t octal(std::size_t at, std::size_t width, const char* what, std::size_t start) const {
    std::string_view digits = field(at, width);
    while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
    const bool whole = end == digits.data() + digits.size() || *end == ' ' || *end == 0;
    require(error == std::errc{} && whole, path(), ": the ", what, " at byte ", start + at, " is ",
            detail::in_quotes(field(at, width)), ", expected an octal number");
    return number;
  }

  void check_header(std::size_t start) const {
    constexpr std::size_t sum_at = 148, sum_width = 8;
    std::size_t sum = sum_width * ' ';  // the checksum field itself counts as blanks
    for (std::size_t i = 0; i < block; ++i)
      if (i < sum_at || i >= sum_at + sum_width) sum += static_cast<unsigned char>(header_[i]);
    require(field(257, 5) == "ustar", path(), ": the bytes from ", start + 257, " are ",
            detail::in_quotes(field(257, 5)), ", expected ", detail::in_quotes("ustar"), " of a tar header");
    const std::size_t stored = octal(sum_at, sum_width, "checksum", start);
    require(sum == stored, path(), ": the checksum at byte ", start + sum_at, " is ", stored,
            ", but the bytes of the header add up to ", sum);
  }

  // Returns the header's name, preceded by its prefix if there is one. GNU headers use these bytes for other
  // purposes.
  std::string short_name() const {
    const std::string prefix = field(257, 6) == std::string_view("ustar\0", 6) ? text(345, 155) : "";
    return prefix.empty() ? text(0, 100) : prefix + "/" + text(0, 100);
  }

  // Returns the path from POSIX extension records, "<length of the record> <key>=<value>\n"; empty if there is none.
  std::string path_of(std::string_view records, std::size_t start) const {
    std::string result;
    while (!records.empty()) {
      std::size_t length = 0;
      const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
      const std::size_t digits = static_cast<std::size_t>(end - records.data());
      const bool fits = error == std::errc{} && length > digits + 1 && length <= records.size() &&
                        records[digits] == ' ' && records[length - 1] == '\n';
      require(fits, path(), ": the extension at byte ", start, " has ", detail::in_quotes(records),
              ", expected a length, a blank, key=value and a line feed");
      const std::string_view record = records.substr(digits + 1, length - digits - 2);
      const std::string_view key = record.substr(0, record.find('='));
      require(key != "size" && !key.starts_with("GNU.sparse"), path(), ": the extension at byte ", start,
              " has the key ", detail::in_quotes(key), ", which is not supported");
      if (key == "path" && record.size() > key.size()) result = record.substr(key.size() + 1);
      records.remove_prefix(length);
    }
    return result;
  }

  void require_whole(std::size_t got, std::size_t size, std::size_t start, const std::string& what) const {
    require(got == size, path(), ": ends at byte ", file_.offset(), ", expected ", size, " bytes of ", what,
            " from byte ", start + block);
  }
  std::string read_contents(std::size_t size, std::size_t start, const std::string& what) {
    std::string contents;
    require_whole(file_.append(contents, size), size, start, what);
    skip_filling(size, what, start);
    return contents;
  }
  void skip(std::size_t size, std::size_t start, const std::string& what) {
    char scratch[1 << 14];
    for (std::size_t done = 0; done < size;) {
      const std::size_t want = std::min(size - done, sizeof scratch), got = file_.read(scratch, want);
      done += got;
      if (got < want) require_whole(done, size, start, what);
    }
    skip_filling(size, what, start);
  }
  void skip_filling(std::size_t size, const std::string& what, std::size_t start) {
    char scratch[block];
    const std::size_t filling = (block - size % block) % block, got = file_.read(scratch, filling);
    require(got == filling, path(), ": ends at byte ", file_.offset(), " within the block of ", what, " from byte ",
            start + block);
  }
  // Reads to the end of the file, which also checks the gzip checksum.
  void drain() {
    char scratch[1 << 14];
    while (file_.read(scratch, sizeof scratch) > 0) {
    }
  }

  GzFile file_;
  char header_[block] = {};
  bool ended_ = false;
};

}  // namespace algoperf

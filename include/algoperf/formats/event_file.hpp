// EventFile: writes scalars for TensorBoard.
#pragma once

#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../core/error.hpp"

namespace algoperf {

namespace detail {

// The cyclic redundancy check CRC-32C (Castagnoli), RFC 3720, appendix B.4.
inline std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = entry >> 1 ^ (entry & 1 ? 0x82F63B78u : 0);
      entries[i] = entry;
    }
    return entries;
  }();
  std::uint32_t sum = 0xFFFFFFFFu;
  for (const char c : bytes) sum = table[(sum ^ static_cast<unsigned char>(c)) & 255] ^ sum >> 8;
  return ~sum;
}

// Appends an integer, the lowest byte first.
template <class T>
void append_little_endian(std::string& to, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) to += static_cast<char>(value >> 8 * i & 255);
}

// Fields of a message of protocol buffers: a key, and a varint, a fixed number of bytes, or a length and bytes.
inline void append_varint(std::string& to, std::uint64_t value) {
  for (; value > 127; value >>= 7) to += static_cast<char>((value & 127) | 128);
  to += static_cast<char>(value);
}
inline void append_field(std::string& to, unsigned field, double value) {
  append_varint(to, field << 3 | 1);
  append_little_endian(to, std::bit_cast<std::uint64_t>(value));
}
inline void append_field(std::string& to, unsigned field, float value) {
  append_varint(to, field << 3 | 5);
  append_little_endian(to, std::bit_cast<std::uint32_t>(value));
}
inline void append_field(std::string& to, unsigned field, std::uint64_t value) {
  append_varint(to, field << 3);
  append_varint(to, value);
}
inline void append_field(std::string& to, unsigned field, std::string_view bytes) {
  append_varint(to, field << 3 | 2);
  append_varint(to, bytes.size());
  to += bytes;
}

}  // namespace detail

// A new file `events.out.tfevents.<seconds>.<host>.<process>.<number>` in a folder, which is made if it does not exist.
// TensorBoard shows all such files of a folder as one run, and the scalars of a tag as a curve over steps. Scalars
// are stored as float. A file that ends within a record, because the program was killed, is shown up to that record.
// Throws Error if the folder or the file cannot be written.
// Source: tensorflow/core/util/event.proto, summary.proto and lib/io/record_writer.
class EventFile {
 public:
  // With first_step > 0, as after a resumption, TensorBoard forgets what earlier files of the folder have from this
  // step on.
  explicit EventFile(const std::string& folder, std::uint64_t first_step = 0) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    require(!error, folder, ": cannot be made (", error.message(), ")");
    char host[256] = "localhost";
    ::gethostname(host, sizeof host - 1);
    const std::string start = folder + "/events.out.tfevents." + std::to_string(static_cast<std::uint64_t>(seconds())) +
                              "." + host + "." + std::to_string(::getpid()) + ".";
    for (int number = 0; file_ == nullptr; ++number) {
      path_ = start + std::to_string(number);
      file_ = std::fopen(path_.c_str(), "wbx");  // x: fails if the file exists
      require(file_ != nullptr || errno == EEXIST, path_, ": cannot be written (", std::strerror(errno), ")");
    }
    std::string version;
    detail::append_field(version, 3, std::string_view("brain.Event:2"));
    write(event(0) + version);
    if (first_step > 0) {
      std::string start_of_session, session;
      detail::append_field(start_of_session, 1, std::uint64_t{1});
      detail::append_field(session, 7, std::string_view(start_of_session));
      write(event(first_step) + session);
    }
    flush();
  }
  ~EventFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  const std::string& path() const { return path_; }

  // Adds a point to the curve of a tag such as "train/loss"; tags with a common part before "/" are shown together.
  void scalar(std::string_view tag, double value, std::uint64_t step) {
    std::string point, values, summary;
    detail::append_field(point, 1, tag);
    detail::append_field(point, 2, static_cast<float>(value));
    detail::append_field(values, 1, std::string_view(point));
    detail::append_field(summary, 5, std::string_view(values));
    write(event(step) + summary);
  }
  // Hands everything to the operating system.
  void flush() { require(std::fflush(file_) == 0, path_, ": cannot be written (", std::strerror(errno), ")"); }

 private:
  static double seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  static std::string event(std::uint64_t step) {
    std::string bytes;
    detail::append_field(bytes, 1, seconds());
    detail::append_field(bytes, 2, step);
    return bytes;
  }
  // Writes a record: the length, its check, the bytes, their check.
  void write(const std::string& bytes) {
    const auto check = [](std::string_view of) {
      const std::uint32_t crc = detail::crc32c(of);
      return (crc >> 15 | crc << 17) + 0xA282EAD8u;
    };
    std::string record;
    detail::append_little_endian(record, std::uint64_t{bytes.size()});
    detail::append_little_endian(record, check(record));
    record += bytes;
    detail::append_little_endian(record, check(bytes));
    require(std::fwrite(record.data(), 1, record.size(), file_) == record.size(), path_, ": cannot be written (",
            std::strerror(errno), ")");
  }

  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace algoperf

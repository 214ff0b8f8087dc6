#include "algoperf/formats/event_file.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

// Returns the messages of a file, and checks the framing that TFRecord readers check.
std::vector<std::string> event_records(const std::string& path) {
  const std::string bytes = bytes_of(path);
  const auto masked = [](const std::string& of) {
    const std::uint32_t crc = ap::detail::crc32c(of);
    return (crc >> 15 | crc << 17) + 0xA282EAD8u;
  };
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    std::uint32_t of_size = 0, of_bytes = 0;
    REQUIRE(at + 12 <= bytes.size());
    std::memcpy(&size, &bytes[at], 8);
    std::memcpy(&of_size, &bytes[at + 8], 4);
    CHECK(of_size == masked(bytes.substr(at, 8)));
    REQUIRE(at + 16 + size <= bytes.size());
    records.push_back(bytes.substr(at + 12, size));
    std::memcpy(&of_bytes, &bytes[at + 12 + size], 4);
    CHECK(of_bytes == masked(records.back()));
    at += 16 + size;
  }
  return records;
}

// A message without its first field, the time of nine bytes.
std::string without_time(const std::string& record) {
  REQUIRE(record.size() >= 9);
  CHECK(record[0] == 0x09);
  double seconds = 0;
  std::memcpy(&seconds, &record[1], 8);
  CHECK(seconds > 1.7e9);
  return record.substr(9);
}

}  // namespace

TEST_CASE("CRC-32C of the examples in RFC 3720") {
  CHECK(ap::detail::crc32c("123456789") == 0xE3069283u);
  CHECK(ap::detail::crc32c(std::string(32, '\0')) == 0x8A9136AAu);
  CHECK(ap::detail::crc32c(std::string(32, '\xff')) == 0x62A8AB43u);
}

TEST_CASE("event files have the bytes of TensorBoard's messages") {
  const Folder folder;
  std::string path;
  {
    ap::EventFile file(folder / "a/b");
    path = file.path();
    file.scalar("train/loss", 0.5, 300);
  }
  CHECK(path.starts_with(folder / "a/b/events.out.tfevents."));
  const std::vector<std::string> records = event_records(path);
  REQUIRE(records.size() == 2);
  // Read by the tensorboard package (tests/golden/check_events.py) as step 0 with file_version, and step 300 with a
  // summary of one value with tag and simple_value.
  CHECK(without_time(records[0]) == std::string("\x10\x00\x1a\x0d"
                                                "brain.Event:2",
                                                17));
  CHECK(without_time(records[1]) ==
        std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0atrain/loss\x15\x00\x00\x00\x3f", 24));
}

TEST_CASE("a file of a resumed run begins with the step from which earlier points are forgotten") {
  const Folder folder;
  const ap::EventFile first(folder.path()), second(folder.path(), 6);
  CHECK(first.path() != second.path());
  CHECK(event_records(first.path()).size() == 1);
  const std::vector<std::string> records = event_records(second.path());
  REQUIRE(records.size() == 2);
  CHECK(without_time(records[1]) == std::string("\x10\x06\x3a\x02\x08\x01", 6));
}

TEST_CASE("a folder that cannot be made is refused") {
  const Folder folder;
  folder.write("f", "");
  CHECK(sentence([&] { ap::EventFile file(folder / "f/g"); }).starts_with(folder / "f/g: cannot be made ("));
}

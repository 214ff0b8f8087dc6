#include "algoperf/data/readers/idx.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "../support/near.hpp"
#include "files.hpp"

namespace ap = algoperf;
namespace fs = std::filesystem;

namespace {

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::string idx(const std::vector<std::uint32_t>& dims, const std::string& elements, char type = 8) {
  std::string bytes{0, 0, type, static_cast<char>(dims.size())};
  for (const std::uint32_t n : dims) bytes += big_endian(n);
  return bytes + elements;
}

std::string error_of(const std::string& path) {
  return sentence([&] { ap::read_idx(path); });
}

const std::string two_images = idx({2, 2, 3}, std::string("\x00\xff\x33\x01\x02\x03\x04\x05\x06\x07\x08\x09", 12));
const std::string two_labels = idx({2}, std::string("\x07\x00", 2));

}  // namespace

TEST_CASE("IDX files are read plain, gzipped, and under the name without .gz") {
  const Folder folder;
  const std::string images = folder.write("images", two_images);
  write_gzipped(folder, "labels.gz", two_labels);
  const ap::Idx raw = ap::read_idx(images);
  CHECK(raw.dims == std::vector<std::size_t>{2, 2, 3});
  CHECK(raw.bytes[1] == 255);
  const auto data = ap::load_idx(images, folder / "labels");
  CHECK(data.size() == 2);
  CHECK(data.shape() == ap::Shape(2, 3, 1));
  CHECK(data.classes() == 10);
  CHECK(data.inputs()[1] == 1.0f);
  CHECK(data.inputs()[2] == 0.2f);
  CHECK(data.labels() == std::vector<std::int32_t>{7, 0});
  CHECK(ap::read_idx(write_gzipped(folder, "zipped", two_images)).bytes == raw.bytes);
  CHECK(ap::read_idx(folder / "labels.gz").bytes.size() == 2);
  CHECK(ap::read_idx(folder.write("none", idx({0}, ""))).bytes.empty());
}

TEST_CASE("an invalid header is refused with the byte offset") {
  const Folder folder;
  const std::string f = folder / "f";
  CHECK(error_of(f) == f + ": cannot be opened, nor can " + f + ".gz (No such file or directory)");
  folder.write("f", "");
  CHECK(error_of(f) == f + ": ends at byte 0, expected 4 bytes of magic number from byte 0");
  folder.write("f", "PNG?");
  CHECK(error_of(f) == f + ": starts with the bytes 80 78, expected 0 0 as in an IDX file");
  folder.write("f", idx({1}, "abcd", 13));
  CHECK(error_of(f) == f + ": the element type at byte 2 is 13, expected 8 (unsigned byte)");
  folder.write("f", idx({}, ""));
  CHECK(error_of(f) == f + ": the rank at byte 3 is 0, expected 1 to 4");
  folder.write("f", idx({1, 1, 1, 1, 1}, "a"));
  CHECK(error_of(f) == f + ": the rank at byte 3 is 5, expected 1 to 4");
  folder.write("f", two_images.substr(0, 10));
  CHECK(error_of(f) == f + ": ends at byte 10, expected 4 bytes of extent from byte 8");
}

TEST_CASE("too few and too many elements are refused with the byte offset") {
  const Folder folder;
  const std::string f = folder / "f";
  for (const bool zip : {false, true}) {
    const auto write = [&](const std::string& bytes) {
      zip ? write_gzipped(folder, "f", bytes) : folder.write("f", bytes);
    };
    write(two_images.substr(0, 20));
    CHECK(error_of(f) == f + ": ends at byte 20, expected 12 elements from byte 16 and found 4");
    write(two_images + "!");
    CHECK(error_of(f) == f + ": continues at byte 28, expected the end after 12 elements");
  }
}

TEST_CASE("a header that declares a huge size allocates no memory") {
  const Folder folder;
  const std::string f = folder / "f";
  const std::uint32_t most = 0xffffffff;
  folder.write("f", idx({most, most}, "abc"));
  CHECK(error_of(f) == f + ": ends at byte 15, expected 18446744065119617025 elements from byte 12 and found 3");
  folder.write("f", idx({most, most, most}, "abc"));
  CHECK(error_of(f) == f + ": the extents from byte 4 multiply to 2^64 elements or more");
}

TEST_CASE("corrupt gzip is distinguished from a truncated file") {
  const Folder folder;
  const std::string f = folder / "f";
  std::string noise(5000, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const std::string good = bytes_of(write_gzipped(folder, "f", idx({5000}, noise)));
  REQUIRE(error_of(f) == "");

  std::string bad = good;
  bad[bad.size() - 8] ^= 1;  // the checksum
  folder.write("f", bad);
  CHECK(error_of(f) ==
        f + ": incorrect data check near byte " + std::to_string(good.size() - 4) + " of the file as stored");

  folder.write("f", good.substr(0, good.size() / 2));
  CHECK(error_of(f) ==
        f + ": unexpected end of file near byte " + std::to_string(good.size() / 2) + " of the file as stored");

  bad = good;
  bad[10] = 7;  // an invalid block type
  folder.write("f", bad);
  CHECK(error_of(f) == f + ": invalid block type near byte 11 of the file as stored");
}

TEST_CASE("a folder is not a file") {
  const Folder folder;
  CHECK(error_of(folder.path()).find("Is a directory") != std::string::npos);
}

TEST_CASE("images and labels must match") {
  const Folder folder;
  const std::string images = folder.write("images", two_images), labels = folder.write("labels", idx({3}, "\1\2\3"));
  CHECK_THROWS_WITH_AS(ap::load_idx(images, labels),
                       (labels + ": the extent at byte 4 is 3 labels, expected 2 as in " + images).c_str(), ap::Error);
  CHECK_THROWS_WITH_AS(ap::load_idx(labels, labels),
                       (labels + ": the rank at byte 3 is 1, expected 3 (images x rows x columns)").c_str(), ap::Error);
  CHECK_THROWS_WITH_AS(ap::load_idx(images, images),
                       (images + ": the rank at byte 3 is 3, expected 1 (labels)").c_str(), ap::Error);
  folder.write("labels", idx({2}, "\1\12"));
  CHECK_THROWS_WITH_AS(ap::load_idx(images, labels), (labels + ": the label at byte 9 is 10, expected [0, 10)").c_str(),
                       ap::Error);
}

TEST_CASE("the MNIST data set") {
  const std::string found = data_path("mnist/t10k-images-idx3-ubyte.gz");
  if (found.empty()) return;
  const fs::path mnist = fs::path(found).parent_path();
  const auto test =
      ap::load_idx((mnist / "t10k-images-idx3-ubyte").string(), (mnist / "t10k-labels-idx1-ubyte").string());
  CHECK(test.size() == 10000);
  CHECK(test.shape() == ap::Shape(28, 28, 1));
  CHECK(test.labels()[0] == 7);
  const ap::Idx train = ap::read_idx((mnist / "train-images-idx3-ubyte").string());
  CHECK(train.dims == std::vector<std::size_t>{60000, 28, 28});
  double sum = 0;
  for (const std::uint8_t byte : train.bytes) sum += byte;
  CHECK(sum / 255 / static_cast<double>(train.bytes.size()) == near(0.1306604762));  // the well-known mean
}

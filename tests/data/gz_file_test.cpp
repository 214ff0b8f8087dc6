#include "algoperf/data/readers/gz_file.hpp"

#include <doctest/doctest.h>

#include <string>

#include "files.hpp"

namespace ap = algoperf;

TEST_CASE("a file is read completely, plain or gzipped, and path() is the path under which it was found") {
  const Folder folder;
  const std::string text = "some text\n";
  const ap::Unpacked plain = ap::read_unpacked(folder.write("plain", text));
  CHECK(plain.bytes == text);
  CHECK(plain.path == folder / "plain");
  write_gzipped(folder, "zipped.gz", text);
  const ap::Unpacked zipped = ap::read_unpacked(folder / "zipped");
  CHECK(zipped.bytes == text);
  CHECK(zipped.path == folder / "zipped.gz");
  CHECK(ap::read_unpacked(folder.write("empty", "")).bytes.empty());
  const std::string none = folder / "none";
  CHECK(sentence([&] { ap::read_unpacked(none); }) ==
        none + ": cannot be opened, nor can " + none + ".gz (No such file or directory)");
}

TEST_CASE("a file that decompresses to more than the limit is refused before it is fully read") {
  const Folder folder;
  const std::string bomb = write_gzipped(folder, "bomb", std::string(20 << 20, '\0'));  // 20 kB
  const std::string refused = bomb + ": decompresses to more than the limit of 1000000 bytes";
  ap::GzFile file(bomb, 1000000);
  std::string bytes;
  CHECK(sentence([&] { file.append(bytes, std::size_t{1} << 40); }) == refused);
  CHECK(bytes.size() <= 2 << 20);
  CHECK(sentence([&] { ap::read_unpacked(bomb, 1000000); }) == refused);
  CHECK(ap::read_unpacked(bomb, 20 << 20).bytes.size() == 20 << 20);
  CHECK(sentence([&] { ap::read_unpacked(folder.write("long", "12345"), 4); }) ==
        folder / "long" + ": decompresses to more than the limit of 4 bytes");
}

TEST_CASE("append stops after n bytes and at the end") {
  const Folder folder;
  ap::GzFile file(folder.write("f", "12345"));
  std::string bytes = ">";
  CHECK(file.append(bytes, 2) == 2);
  CHECK(bytes == ">12");
  CHECK(file.offset() == 2);
  CHECK(file.append(bytes, 100) == 3);
  CHECK(file.append(bytes, 100) == 0);
  CHECK(bytes == ">12345");
}

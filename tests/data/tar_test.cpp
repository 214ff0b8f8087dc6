#include "algoperf/data/readers/tar.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "files.hpp"
#include "tar_files.hpp"

namespace ap = algoperf;
using Entries = std::vector<std::pair<std::string, std::string>>;

namespace {

Entries entries(const std::string& path) {
  Entries result;
  ap::TarFile tar(path);
  for (ap::TarEntry entry; tar.next(entry);) result.emplace_back(entry.name, entry.bytes);
  ap::TarEntry after;
  CHECK(!tar.next(after));  // next() keeps returning false at the end
  return result;
}

// Writes a file `f` in a temporary folder and reads it.
struct ArchiveFile {
  ArchiveFile() : f(folder / "f") {}
  Entries read(const std::string& bytes) const { return entries(folder.write("f", bytes)); }
  std::string error(const std::string& bytes) const {
    return sentence([&] { read(bytes); });
  }
  Folder folder;
  std::string f;
};

const std::string one = tar_member("a", "hello");

}  // namespace

TEST_CASE("files are returned in order with their bytes, plain or gzipped") {
  const ArchiveFile file;
  const std::string block(512, 'x'), long_contents(3000, 'y');
  const std::string archive = tar_member("empty", "") + tar_member("d/block", block) +
                              tar_member("long", long_contents, '\0') + tar_member("last", "z", '7') + tar_end;
  const Entries expected{{"empty", ""}, {"d/block", block}, {"long", long_contents}, {"last", "z"}};
  CHECK(file.read(archive) == expected);
  CHECK(entries(write_gzipped(file.folder, "z", archive)) == expected);
  CHECK(file.read(tar_end).empty());
  CHECK(file.read(one + std::string(512, '\0')) == Entries{{"a", "hello"}});  // one block of zeros is enough
}

TEST_CASE("folders, links and devices are skipped") {
  const ArchiveFile file;
  std::string archive;
  for (const char type : {'2', '3', '4', '5', '6'}) archive += tar_member("x", "", type);
  archive += tar_member("g", "12 comment=x\n", 'g') + tar_member("k", "a long target", 'K');
  archive += tar_header("hard", 5, '1');  // a hard link's size is that of the linked file
  CHECK(file.read(archive + one + tar_end) == Entries{{"a", "hello"}});
}

TEST_CASE("long names: a prefix, GNU's member, POSIX's extension") {
  const ArchiveFile file;
  std::string prefixed = tar_header("name", 0);
  prefixed.replace(345, 6, "folder");
  CHECK(file.read(with_tar_checksum(prefixed) + tar_end) == Entries{{"folder/name", ""}});
  std::string gnu = prefixed;
  gnu.replace(257, 8, std::string("ustar  \0", 8));
  CHECK(file.read(with_tar_checksum(gnu) + tar_end) == Entries{{"name", ""}});  // a GNU header has no prefix

  const std::string name(150, 'n'), record = "160 path=" + name + "\n";
  REQUIRE(record.size() == 160);
  CHECK(file.read(tar_member("L", name + std::string(1, '\0'), 'L') + one + one + tar_end) ==
        Entries{{name, "hello"}, {"a", "hello"}});
  CHECK(file.read(tar_member("x", "11 mtime=1\n" + record, 'x') + one + tar_end) == Entries{{name, "hello"}});
  CHECK(file.read(tar_member("x", "11 mtime=1\n", 'x') + one + tar_end) == Entries{{"a", "hello"}});
  // A long name belongs to the next file, also if a comment or a long target of a link comes between.
  const std::string comment = tar_member("g", "12 comment=x\n", 'g'), target = tar_member("K", "a target", 'K');
  CHECK(file.read(tar_member("L", name, 'L') + comment + one + tar_end) == Entries{{name, "hello"}});
  CHECK(file.read(tar_member("L", name, 'L') + target + one + one + tar_end) ==
        Entries{{name, "hello"}, {"a", "hello"}});
  // A folder's long name does not apply to the next member.
  CHECK(file.read(tar_member("L", name, 'L') + tar_member("d", "", '5') + one + tar_end) == Entries{{"a", "hello"}});
}

TEST_CASE("archives written by GNU tar") {
#ifdef ALGOPERF_SOURCE_DIR
  const std::string corpus = ALGOPERF_SOURCE_DIR "/tests/fuzz/corpus/tar/";
  std::string folders;
  for (int i = 0; i < 3; ++i) folders += "a_folder_of_forty_characters_for_a_test/";
  const Entries expected{{"short.txt", "hello\n"}, {folders + "long.txt", "contents of a long name\n"}};
  for (const char* const name : {"gnu", "ustar", "pax", "ustar.gz"})
    CHECK_MESSAGE(entries(corpus + name) == expected, name);
#endif
}

TEST_CASE("an invalid archive is refused with the byte offset") {
  const ArchiveFile file;
  const std::string& f = file.f;
  CHECK(sentence([&] { entries(f); }) == f + ": cannot be opened, nor can " + f + ".gz (No such file or directory)");
  CHECK(file.error("") == f + ": ends at byte 0, expected 512 bytes of a tar header from byte 0");
  CHECK(file.error(one) == f + ": ends at byte 1024, expected 512 bytes of a tar header from byte 1024");
  CHECK(file.error(std::string(512, 'x')) ==
        f + ": the bytes from 257 are \"xxxxx\", expected \"ustar\" of a tar header");
  std::string broken = one;
  broken[0] = 'b';
  CHECK(file.error(one + broken + tar_end).starts_with(f + ": the checksum at byte 1172 is "));
  CHECK(file.error(one.substr(0, 514)) == f + ": ends at byte 514, expected 5 bytes of \"a\" from byte 512");
  CHECK(file.error(one.substr(0, 700)) == f + ": ends at byte 700 within the block of \"a\" from byte 512");
  CHECK(file.error(tar_header("d", 9, '5') + "1234") ==
        f + ": ends at byte 516, expected 9 bytes of \"d\" from byte 512");
  CHECK(file.error(tar_member("s", "", 'S') + tar_end) ==
        f + ": the member \"s\" at byte 0 is of type \"S\", which is not supported");
  std::string sized = tar_header("a", 0);
  for (const char* const size : {"\x80          ", "0000000000x", "           "}) {
    sized.replace(124, 12, std::string(size) + " ");
    CHECK(file.error(with_tar_checksum(sized)).starts_with(f + ": the size at byte 124 is \""));
  }
  sized.replace(124, 12, std::string("        8 \0x", 12));
  CHECK(file.error(with_tar_checksum(sized)).ends_with(", expected an octal number"));
  std::string summed = one;
  summed.replace(148, 8, "checksum");
  CHECK(file.error(summed) == f + ": the checksum at byte 148 is \"checksum\", expected an octal number");
}

TEST_CASE("invalid long names are refused") {
  const ArchiveFile file;
  const std::string& f = file.f;
  CHECK(file.error(tar_member("L", "name", 'L') + tar_end) ==
        f + ": ends after the long name \"name\", expected its member");
  CHECK(file.error(tar_header("L", 1048577, 'L')) ==
        f + ": the long name at byte 0 has 1048577 bytes, expected at most 1048576");
  CHECK(file.error(tar_header("x", 20, 'x') + "10 ") ==
        f + ": ends at byte 515, expected 20 bytes of the long name from byte 512");
  for (const char* const record : {"path=x\n", "99 path=x\n", "8 path=x\n", "10 path=x ", "2 ", "10_path=x\n", "3"})
    CHECK(file.error(tar_member("x", record, 'x') + one + tar_end)
              .starts_with(f + ": the extension at byte 0 has \"" + std::string(record).substr(0, 1)));
  CHECK(file.error(tar_member("x", "9 size=9\n", 'x') + one + tar_end) ==
        f + ": the extension at byte 0 has the key \"size\", which is not supported");
  CHECK(file.error(tar_member("x", "22 GNU.sparse.major=1\n", 'x') + one + tar_end) ==
        f + ": the extension at byte 0 has the key \"GNU.sparse.major\", which is not supported");
}

TEST_CASE("neither a huge declared size nor a decompression bomb allocates memory") {
  const ArchiveFile file;
  CHECK(file.error(tar_header("a", 077777777777) + "123") ==
        file.f + ": ends at byte 515, expected 8589934591 bytes of \"a\" from byte 512");
  const std::string bomb = write_gzipped(file.folder, "bomb", tar_header("a", 20 << 20) + std::string(20 << 20, '\0'));
  const auto read = [&] {
    ap::TarFile tar(bomb, 1000000);
    ap::TarEntry entry;
    tar.next(entry);
  };
  CHECK(sentence(read) == bomb + ": decompresses to more than the limit of 1000000 bytes");
}

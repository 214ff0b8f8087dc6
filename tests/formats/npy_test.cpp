#include "algoperf/formats/npy.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>

#include "../support/folder.hpp"
#include "algoperf/formats/npz.hpp"
#include "sentence.hpp"

namespace ap = algoperf;

namespace {

const std::string golden = ALGOPERF_SOURCE_DIR "/tests/golden/formats/";  // made by make_formats.py

// A .npy file of version 1.
std::string npy(const std::string& header, const std::string& data = {}) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size() & 0xFF) +
         static_cast<char>(header.size() >> 8) + header + data;
}

}  // namespace

TEST_CASE("arrays of every rank come back, and expressions are evaluated") {
  const Folder folder;
  const std::string path = folder / "x.npy";
  const xt::xarray<double> matrix = {{1, 2, 3}, {4, 5, 6}};
  ap::save_npy(path, matrix * 2);
  CHECK(ap::load_npy<double>(path) == matrix * 2);
  const xt::xarray<double, xt::layout_type::column_major> columns = matrix;
  ap::save_npy(path, columns);
  CHECK(ap::load_npy<double>(path) == matrix);
  const xt::xarray<std::int32_t> number = 7;
  ap::save_npy(path, number);
  CHECK(ap::load_npy<std::int32_t>(path).dimension() == 0);
  CHECK(ap::load_npy<std::int32_t>(path)() == 7);
  const xt::xarray<float> none = xt::zeros<float>({0, 3});
  ap::save_npy(path, none);
  CHECK(ap::load_npy<float>(path).shape()[1] == 3);
}

TEST_CASE("the bytes are NumPy's own") {
  const Folder folder;
  const xt::xarray<float> array = {{0, 1, 2}, {3, 4, 5}};
  ap::save_npy(folder / "x.npy", array);
  CHECK(bytes_of(folder / "x.npy") == bytes_of(golden + "numpy.npy"));
}

TEST_CASE("what NumPy wrote is read: archives, compressed too") {
  CHECK(ap::load_npy<float>(golden + "numpy.npy")(1, 2) == 5);
  for (const char* const name : {"numpy.npz", "numpy_compressed.npz"}) {
    const ap::StateDict dict = ap::load_npz(golden + name);
    CHECK(dict.arrays().size() == 3);
    CHECK(dict.get<float>("0.weight") == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(dict.at("0.weight").shape == std::vector<std::size_t>{2, 3});
    CHECK(dict.get<std::int64_t>("step") == std::vector<std::int64_t>{12});
    CHECK(dict.at("flags").type == "bool");
  }
}

TEST_CASE("arrays whose first axis runs fastest come with their rows first") {
  const xt::xarray<float> weight = {{0, 1, 2}, {3, 4, 5}};
  CHECK(ap::load_npy<float>(golden + "columns_first.npy") == weight);
  const auto cube = ap::load_npy<std::int16_t>(golden + "columns_first_cube.npy");
  REQUIRE(cube.dimension() == 3);
  CHECK(cube.shape()[0] == 4);
  CHECK(cube.shape()[2] == 2);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 2; ++k) CHECK(cube(i, j, k) == static_cast<std::int16_t>(12 * k + 4 * j + i));
  const ap::StateDict dict = ap::load_npz(golden + "columns_first.npz");
  CHECK(ap::as_xtensor<float>(dict, "transposed") == xt::transpose(weight));
  CHECK(dict.get<float>("vector") == std::vector<float>{0, 1, 2});

  // Axes of one element, more of them than loops could nest, and none at all.
  const Folder folder;
  std::string ones;
  for (int i = 0; i < 100; ++i) ones += "1, ";
  const std::string head = "{'descr': '|u1', 'fortran_order': True, 'shape': (";
  CHECK(ap::load_npy<std::uint8_t>(folder.write("x", npy(head + "2, " + ones + "2)}", "acbd")))(1) == 'b');
  CHECK(ap::load_npy<std::uint8_t>(folder.write("x", npy(head + "0, 3)}"))).shape()[1] == 3);
}

TEST_CASE("truth values are read as bytes, and written as NumPy writes them") {
  const xt::xarray<std::uint8_t> expected = {{1, 0}, {0, 1}};
  CHECK(ap::load_npy<std::uint8_t>(golden + "bool.npy") == expected);
  CHECK(sentence(golden + "bool.npy", [&] { ap::load_npy<std::int8_t>(golden + "bool.npy"); }) ==
        ": holds bool, expected int8");
  const Folder folder;
  ap::save_npy(folder / "x", expected > 0);
  CHECK(bytes_of(folder / "x") == bytes_of(golden + "bool.npy"));
}

TEST_CASE("archives come back, the same bytes each time") {
  const Folder folder;
  ap::StateDict dict;
  dict.set("0.weight", std::vector<float>{1, 2, 3, 4}, {2, 2});
  dict.set("t", std::uint64_t{3});
  ap::save_npz(folder / "a.npz", dict);
  ap::save_npz(folder / "b.npz", dict);
  CHECK(ap::load_npz(folder / "a.npz").arrays() == dict.arrays());
  CHECK(bytes_of(folder / "a.npz") == bytes_of(folder / "b.npz"));
  CHECK(!std::filesystem::exists(folder / "a.npz.tmp"));

  CHECK(sentence(folder / "a.npz", [&] { ap::save_npz(folder / "a.npz", {}); }) == ": there are no arrays to save");
  dict.set("brain", std::vector{ap::bfloat16(1)});
  CHECK(sentence(folder / "a.npz", [&] { ap::save_npz(folder / "a.npz", dict); }) ==
        ": 'brain' is bfloat16, which NumPy has no type for");
  CHECK(bytes_of(folder / "a.npz") == bytes_of(folder / "b.npz"));  // what was there is kept
}

namespace {

// A .npz of one deflated entry: this .npy header, then `zeros` of them.
std::string bomb(const std::string& header, std::size_t zeros) {
  std::string npy = "\x93NUMPY";
  npy += std::string("\1\0", 2) + static_cast<char>(header.size()) + '\0' + header;
  npy.resize(npy.size() + zeros);
  zip_source_t* const whole = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(whole);
  zip_t* const zip = zip_open_from_source(whole, ZIP_TRUNCATE, nullptr);
  REQUIRE(zip_file_add(zip, "x.npy", zip_source_buffer(zip, npy.data(), npy.size(), 0), 0) == 0);
  REQUIRE(zip_set_file_compression(zip, 0, ZIP_CM_DEFLATE, 1) == 0);
  REQUIRE(zip_close(zip) == 0);
  zip_stat_t facts;
  REQUIRE(zip_source_stat(whole, &facts) == 0);
  std::string bytes(facts.size, 0);
  REQUIRE(zip_source_open(whole) == 0);
  REQUIRE(zip_source_read(whole, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
  zip_source_close(whole);
  zip_source_free(whole);
  return bytes;
}

// Bytes by which the call makes this process larger than it has ever been, asked of a process of its own.
template <class Call>
std::size_t memory_of(const Call& call) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  if (fork() == 0) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    call();
    getrusage(RUSAGE_SELF, &after);
    const std::size_t grown = static_cast<std::size_t>(after.ru_maxrss - before.ru_maxrss) * 1024;
    _exit(write(ends[1], &grown, sizeof grown) == sizeof grown ? 0 : 1);
  }
  std::size_t grown = 0;
  close(ends[1]);
  const bool told = read(ends[0], &grown, sizeof grown) == sizeof grown;
  close(ends[0]);
  int status = 1;
  wait(&status);
  REQUIRE((told && status == 0));
  return grown;
}

}  // namespace

TEST_CASE("an archive that unpacks to more than it declares takes no more memory than it declares") {
  const Folder folder;
  const std::string path = folder / "x.npz";
  constexpr std::size_t megabyte = 1 << 20;
  const auto told = [&] { return sentence(path, [&] { ap::load_npz(path); }); };
  folder.write("x.npz", bomb("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 64 * megabyte));
  CHECK(bytes_of(path).size() < megabyte);
  CHECK(told() == ", entry 'x.npy': holds more than 3 bytes of data, expected 3 by its shape and type");
  CHECK(memory_of(told) < 16 * megabyte);

  // What it declares is there: as much is taken, but not beyond the limit.
  folder.write("x.npz", bomb("{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,), }", 64 * megabyte));
  CHECK(ap::load_npz(path).at("x").size == 64 * megabyte);
  CHECK(memory_of([&] { ap::load_npz(path); }) > 64 * megabyte);
  const auto limited = [&] { return sentence(path, [&] { ap::load_npz(path, megabyte); }); };
  CHECK(limited() == ": unpacks to more than 1048576 bytes, the limit");
  CHECK(memory_of(limited) < 16 * megabyte);
  folder.write("x.npz", bomb("{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,), }", 4));
  CHECK(told() == ", entry 'x.npy': holds 4 bytes of data, expected 67108864 by its shape and type");
  CHECK(memory_of(told) < 16 * megabyte);
}

TEST_CASE("the limit is of all entries together, headers included") {
  const Folder folder;
  const std::string path = folder / "x.npz";
  ap::StateDict dict;
  dict.set("a", std::vector<std::uint8_t>(100));
  dict.set("b", std::vector<std::uint8_t>(100));
  ap::save_npz(path, dict);
  CHECK(ap::load_npz(path, 456).arrays() == dict.arrays());  // 128 + 100, twice
  CHECK(sentence(path, [&] { ap::load_npz(path, 455); }) == ": unpacks to more than 455 bytes, the limit");
}

TEST_CASE("files that are none, each with its sentence") {
  const Folder folder;
  const std::string path = folder / "x";
  const auto told = [&](const std::string& bytes) {
    folder.write("x", bytes);
    return sentence(path, [&] { ap::load_npy<float>(path); });
  };
  CHECK(told("") == ": is no .npy file");
  CHECK(told(std::string("\x93NUMPY\7\0\0\0\0\0", 12)) == ": is .npy of version 7, expected 1 to 3");
  CHECK(told(std::string("\x93NUMPY\1\0\xff\xff", 10)) ==
        ": is cut short: a header of 65535 bytes is promised, 0 follow");
  CHECK(told(npy("{'descr': '<f4'}")) ==
        ": the header of this .npy cannot be read at character 16, expected descr, fortran_order and shape");
  CHECK(told(npy("{'descr': '<f4', 'descr': '<f4'}")) ==
        ": the header of this .npy cannot be read at character 25, expected descr, fortran_order and shape, once each");
  CHECK(told(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "1234")) ==
        ": is of type '>f4', expected numbers, low byte first");
  CHECK(told(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,)}", "1234")) ==
        ": holds 4 bytes of data, expected 39999999999996 by its shape and type");
  CHECK(told(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "12345")) ==
        ": holds more than 4 bytes of data, expected 4 by its shape and type");
  CHECK(told(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999, 9)}")) ==
        ": its shape and type make more bytes than memory has");
  CHECK(told(std::string("\x93NUMPY\2\0\0\0\1\0", 12)) == ": has a header of 65536 bytes, expected at most 65535");
  CHECK(told(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}")) ==
        ": the header of this .npy cannot be read at character 70, expected a size");
  CHECK(told(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "12345678")) ==
        ": holds float64, expected float32");

  const auto told_of_archive = [&](const std::string& bytes) {
    folder.write("x", bytes);
    return sentence(path, [&] { ap::load_npz(path); });
  };
  CHECK(told_of_archive("no archive") == ": is no zip archive: Not a zip archive");
  std::string broken = bytes_of(golden + "numpy.npz");
  broken[broken.find("\x80?")] ^= 1;  // of 1.0f
  CHECK(told_of_archive(broken) == ": '0.weight.npy' cannot be read: CRC error");
}

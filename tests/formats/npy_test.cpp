#include "algoperf/formats/npy.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("what NumPy wrote is read: versions, compressed archives, columns first refused") {
  CHECK(ap::load_npy<float>(golden + "numpy.npy")(1, 2) == 5);
  for (const char* const name : {"numpy.npz", "numpy_compressed.npz"}) {
    const ap::StateDict dict = ap::load_npz(golden + name);
    CHECK(dict.arrays().size() == 3);
    CHECK(dict.get<float>("0.weight") == std::vector<float>{0, 1, 2, 3, 4, 5});
    CHECK(dict.at("0.weight").shape == std::vector<std::size_t>{2, 3});
    CHECK(dict.get<std::int64_t>("step") == std::vector<std::int64_t>{12});
    CHECK(dict.at("flags").type == "bool");
  }
  const std::string columns = golden + "columns_first.npy";
  CHECK(sentence(columns, [&] { ap::load_npy<float>(columns); }) ==
        ": its first axis runs fastest (fortran_order), expected the last: numpy.ascontiguousarray makes it so");
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
        ": is of type '>f4', expected whole or floating-point numbers, low byte first");
  CHECK(told(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,)}", "1234")) ==
        ": holds 4 bytes of data, which its shape and type do not fill");
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
  broken[broken.find("'descr'") + 1] = 'x';
  CHECK(told_of_archive(broken) == ": '0.weight.npy' cannot be read: CRC error");
}

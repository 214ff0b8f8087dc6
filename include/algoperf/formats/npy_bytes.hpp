// Conversion between arrays and the bytes of NumPy's .npy format, for npy.hpp and npz.hpp. A .npy file has one array; a
// header, which is a Python dict, gives its type and shape.
// The format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1, 2 and 3.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "concept.hpp"
#include "npy_header.hpp"

namespace algoperf::detail {

// A source that reads bytes in memory from front to back.
class BytesReader {
 public:
  explicit BytesReader(const std::string& bytes) : bytes_(bytes) {}
  std::size_t read(void* to, std::size_t n) {
    n = std::min(n, bytes_.size() - at_);
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

// Appends up to n bytes to `to`, fewer only at the end of the source. The capacity allocated is at most twice the bytes
// read plus a buffer, and at most n; while it grows, the old block exists beside the new one.
template <class Source, class Bytes>
void append(Source& source, Bytes& to, std::size_t n) {
  constexpr std::size_t buffer = 1 << 16;
  for (std::size_t wanted = 0, got = 0; n > 0 && got == wanted; n -= got) {
    const std::size_t before = to.size();
    wanted = std::min(n, buffer);
    if (to.capacity() < before + wanted) to.reserve(before + std::min(n, std::max(wanted, before)));
    to.resize(before + wanted);
    got = source.read(to.data() + before, wanted);
    to.resize(before + got);
  }
}

// Converts an array from column-major order (first axis fastest) to row-major order (last axis fastest).
inline std::vector<unsigned char> rows_first(const std::vector<unsigned char>& from,
                                             const std::vector<std::size_t>& shape, std::size_t width) {
  struct Axis {
    std::size_t side, stride, at;  // stride: in `from`, in bytes
  };
  std::vector<Axis> axes;
  std::size_t stride = width;
  for (const std::size_t side : shape) {
    if (side > 1) axes.push_back({side, stride, 0});
    stride *= side;
  }
  std::vector<unsigned char> to(from.size());
  for (std::size_t done = 0, place = 0; done < to.size(); done += width) {
    std::memcpy(to.data() + done, from.data() + place, width);
    for (std::size_t i = axes.size(); i-- > 0;) {
      place += axes[i].stride;
      if (++axes[i].at < axes[i].side) break;
      place -= axes[i].side * axes[i].stride;
      axes[i].at = 0;
    }
  }
  return to;
}

// Adds the array of `source`, a complete .npy file, to the dict; `where` names it in error messages. source.read(to, n)
// returns up to n bytes, fewer only at the end. Reads the header, then the number of bytes that it declares and one
// more. A column-major array (fortran_order) is transposed, which takes a second copy of it temporarily.
template <class Source>
void read_npy_from(Source&& source, const std::string& where, const std::string& name, StateDict& dict) {
  std::string start;
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(start[i])); };
  append(source, start, 10);
  require(start.size() == 10 && start.compare(0, 6, "\x93NUMPY") == 0, where, ": is not a .npy file");
  const std::size_t version = byte(6);
  require(version >= 1 && version <= 3, where, ": is a .npy file of version ", version, ", expected 1 to 3");
  if (version > 1) append(source, start, 2);
  require(version == 1 || start.size() == 12, where, ": is truncated");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  constexpr std::size_t longest = 65535;  // the maximum of version 1; numeric arrays need less
  require(length <= longest, where, ": has a header of ", length, " bytes, expected at most ", longest);
  std::string text;
  append(source, text, length);
  require(text.size() == length, where, ": is truncated: a header of ", length, " bytes is declared, but ", text.size(),
          " follow");
  const NpyHeader header = NpyHeaderReader(where, text).read();

  const char order = header.type.empty() ? '?' : header.type[0];
  const NumberType* const type = find_number_type(&NumberType::numpy, header.type.substr(header.type.empty() ? 0 : 1));
  require(type != nullptr && (order == '<' || order == '|' || order == '='), where, ": is of type '", header.type,
          "', expected little-endian numbers");
  const std::size_t most = (SIZE_MAX - 1) / type->bytes, elements = elements_within(header.shape, most - 1);
  require(elements < most, where, ": its shape and type need more bytes than memory can hold");
  const std::size_t size = elements * type->bytes;
  std::vector<unsigned char> data;
  append(source, data, size + 1);
  require(data.size() == size, where, ": holds ", data.size() > size ? "more than " : "", std::min(data.size(), size),
          " bytes of data, expected ", size, " for its shape and type");
  if (header.columns_first) data = rows_first(data, header.shape, type->bytes);
  dict.set_bytes(name, type->name, type->bytes, header.shape, std::move(data));
}
// Adds the array of a .npy file in memory.
inline void read_npy(const std::string& where, const std::string& bytes, const std::string& name, StateDict& dict) {
  read_npy_from(BytesReader(bytes), where, name, dict);
}

inline std::string npy_bytes(const std::string& where, const StateDict::Array& array) {
  const NumberType* const type = find_number_type(&NumberType::name, array.type);
  require(type != nullptr && *type->numpy != 0, where, ": '", array.name, "' is ", array.type,
          ", which NumPy has no type for");
  std::string text = std::string("{'descr': '") + (type->bytes == 1 ? '|' : '<') + type->numpy +
                     "', 'fortran_order': False, 'shape': (";
  for (const std::size_t side : array.shape) text += std::to_string(side) + ", ";
  if (array.shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  const std::size_t unpadded = 10 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  require(text.size() < 65536, where, ": '", array.name, "' has too many axes");
  std::string bytes = "\x93NUMPY";
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, text.size() & 0xFF, text.size() >> 8})
    bytes += static_cast<char>(static_cast<unsigned char>(byte));
  bytes += text;
  bytes.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return bytes;
}

}  // namespace algoperf::detail

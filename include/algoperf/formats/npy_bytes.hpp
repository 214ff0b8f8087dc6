// NumPy's .npy, one array, its type and shape in a header that is a Python dict: as bytes, for npy.hpp and npz.hpp.
// The format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1, 2 and 3.
#pragma once

#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "concept.hpp"

namespace algoperf::detail {

// What the dict of a header says.
struct NpyHeader {
  std::string type;  // with the sign of byte order, such as "<f4"
  bool columns_first = false;
  std::vector<std::size_t> shape;
};

// Reads the dict, of the three keys that NumPy writes in whatever order.
class NpyHeaderReader {
 public:
  NpyHeaderReader(const std::string& where, const std::string& text) : where_(where), text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    must(take('{'), "a dict");
    while (!take('}')) {
      const std::string key = quoted();
      must(take(':'), "a colon");
      if (key == "descr" && !std::exchange(has_type, true))
        header.type = quoted();
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        header.columns_first = truth();
      else if (key == "shape" && !std::exchange(has_shape, true))
        header.shape = sizes();
      else
        must(false, "descr, fortran_order and shape, once each");
      must(take(',') || peek() == '}', "a comma");
    }
    must(has_type && has_order && has_shape, "descr, fortran_order and shape");
    must(at_ == text_.size() || peek() == 0, "nothing more");
    return header;
  }

 private:
  void must(bool holds, const char* expected) const {
    require(holds, where_, ": the header of this .npy cannot be read at character ", at_, ", expected ", expected);
  }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return peek() == c && (++at_, true); }
  std::string quoted() {
    const char quote = peek();
    must(quote == '\'' || quote == '"', "a string");
    const std::size_t begin = ++at_, end = text_.find(quote, begin);
    must(end != std::string::npos, "a string that ends");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool truth() {
    peek();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)})
      if (text_.compare(at_, std::strlen(word), word) == 0) return at_ += std::strlen(word), value;
    must(false, "True or False");
    return false;
  }
  std::vector<std::size_t> sizes() {
    std::vector<std::size_t> sizes;
    must(take('('), "a tuple");
    while (!take(')')) {
      peek();
      std::size_t size = 0, digits = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits)
        size = 10 * size + static_cast<std::size_t>(text_[at_] - '0');
      must(digits > 0 && digits < 19, "a size");
      sizes.push_back(size);
      must(take(',') || peek() == ')', "a comma");
    }
    return sizes;
  }

  const std::string& where_;
  const std::string& text_;
  std::size_t at_ = 0;
};

// Adds the array in `bytes`, a whole .npy file, to the dict; `where` is how errors call it.
inline void read_npy(const std::string& where, const std::string& bytes, const std::string& name, StateDict& dict) {
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  require(bytes.size() >= 10 && bytes.compare(0, 6, "\x93NUMPY") == 0, where, ": is no .npy file");
  const std::size_t version = byte(6), begin = version == 1 ? 10 : 12;
  require(version >= 1 && version <= 3, where, ": is .npy of version ", version, ", expected 1 to 3");
  require(bytes.size() >= begin, where, ": is cut short");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  require(length <= bytes.size() - begin, where, ": is cut short: a header of ", length, " bytes is promised, ",
          bytes.size() - begin, " follow");
  const std::string text = bytes.substr(begin, length);
  const NpyHeader header = NpyHeaderReader(where, text).read();

  const char order = header.type.empty() ? '?' : header.type[0];
  const NumberType* const type = find_number_type(&NumberType::numpy, header.type.substr(header.type.empty() ? 0 : 1));
  require(type != nullptr && (order == '<' || order == '|' || order == '='), where, ": is of type '", header.type,
          "', expected whole or floating-point numbers, low byte first");
  require(!header.columns_first || header.shape.size() < 2, where,
          ": its first axis runs fastest (fortran_order), expected the last: numpy.ascontiguousarray makes it so");
  const std::size_t data = bytes.size() - begin - length;
  require(elements_within(header.shape, data) * type->bytes == data, where, ": holds ", data,
          " bytes of data, which its shape and type do not fill");
  const char* const from = bytes.data() + begin + length;
  dict.set_bytes(name, type->name, type->bytes, header.shape, {from, from + data});
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

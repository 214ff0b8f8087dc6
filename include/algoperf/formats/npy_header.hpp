// The header of a .npy file: a Python dict of type, order and shape.
#pragma once

#include <cctype>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../core/error.hpp"

namespace algoperf::detail {

// The contents of the header's dict.
struct NpyHeader {
  std::string type;  // with the byte-order character, such as "<f4"
  bool columns_first = false;
  std::vector<std::size_t> shape;
};

// Parses the dict, which must have the three keys that NumPy writes, in any order.
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
    peek();
    must(at_ == text_.size(), "nothing more");
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

}  // namespace algoperf::detail

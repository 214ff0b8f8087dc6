// TextSequences: a data set for language models, with a label for each character of a sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../fields.hpp"
#include "../slice.hpp"
#include "text.hpp"

namespace algoperf {

struct TextSequencesOptions {
  std::size_t length = 64;  // characters of a sequence
  std::size_t stride = 0;   // between the first characters of neighbouring sequences; 0 for `length`
};

// Has the fields "input", `length` tokens, and "label", the tokens one place later. The tokens are those of a Text,
// whose memory is shared. Example i begins at character i stride, so with the default stride a text of n characters has
// (n - 1) / length examples without common inputs.
class TextSequences {
 public:
  using Fields = FieldList<Field<"input", std::int32_t>, Field<"label", std::int32_t>>;

  // Throws Error if the text is not longer than a sequence.
  explicit TextSequences(Text text, const TextSequencesOptions& options = {})
      : text_(std::move(text)),
        length_(options.length),
        stride_(options.stride == 0 ? options.length : options.stride) {
    require(length_ > 0, "TextSequences: length is 0, expected at least 1");
    const std::size_t n = text_.tokens().size();
    require(n > length_, "TextSequences: the text has ", n,
            " characters, expected more than the length of a sequence, ", length_);
    size_ = (n - 1 - length_) / stride_ + 1;
    require(size_ <= max_examples, "TextSequences: there are ", size_, " sequences, expected at most ", max_examples,
            ": indices have 32 bits");
  }

  std::size_t size() const { return size_; }
  Shape shape(std::string_view) const { return {length_}; }  // the same for both fields
  const Text& text() const { return text_; }

  // Returns examples [begin, end) as a data set that shares the text.
  Slice<TextSequences> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  // Does not check indices: each must be below size().
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    std::int32_t *inputs = to.template at<"input">(), *labels = to.template at<"label">();
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* const from = text_.tokens().data() + indices[i] * stride_;
      for (std::size_t t = 0; t < length_; ++t) {
        *inputs++ = from[t];
        *labels++ = from[t + 1];
      }
    }
  }

 private:
  Text text_;
  std::size_t length_, stride_, size_ = 0;
};

}  // namespace algoperf

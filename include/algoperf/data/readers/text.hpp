// Text: a data set for character-level language modelling; predicts the character that follows `context` characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/copy_as.hpp"
#include "../../core/error.hpp"
#include "../../state/read_file.hpp"
#include "../concept.hpp"
#include "../shared.hpp"
#include "../slice.hpp"

namespace algoperf {

struct TextOptions {
  std::size_t context = 16;  // number of input characters before the one to predict, at least 1
};

// Characters are bytes. Tokens are the indices of the text's distinct bytes in ascending order, so there are at most
// 256. The inputs of example i are the tokens [i, i + context) and its label is token i + context, so a text of n
// characters has n - context examples. Neighbouring examples overlap: leave out `context` examples between a training
// and a validation subset so that they share no characters. Copies share the text.
class Text {
 public:
  using Input = std::int32_t;

  // Throws Error if the file cannot be read, is empty, or is not longer than the context.
  static Text load(const std::string& path, TextOptions options = {}) { return Text(read_file(path), options, path); }
  static Text from_string(const std::string& text, TextOptions options = {}) { return Text(text, options, "Text"); }

  std::size_t size() const { return tokens().size() - context_; }
  Shape shape() const { return {context_}; }
  std::size_t classes() const { return vocabulary().size(); }

  // Returns the distinct bytes, sorted: token k stands for vocabulary()[k].
  const std::string& vocabulary() const { return corpus_->vocabulary; }
  // Returns the whole text, one byte per token.
  const std::vector<std::uint8_t>& tokens() const { return corpus_->tokens; }

  // Throws Error if a byte does not occur in the text.
  std::vector<std::int32_t> encode(const std::string& text) const {
    std::vector<std::int32_t> result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t token = vocabulary().find(text[i]);
      require(token != std::string::npos, "Text: byte ", i, " to encode is ", static_cast<unsigned char>(text[i]),
              ", expected one of the ", classes(), " bytes of the vocabulary");
      result.push_back(static_cast<std::int32_t>(token));
    }
    return result;
  }
  // Throws Error if a token is outside [0, classes()).
  std::string decode(const std::int32_t* tokens, std::size_t n) const {
    std::string result;
    for (std::size_t i = 0; i < n; ++i) {
      require(tokens[i] >= 0 && static_cast<std::size_t>(tokens[i]) < classes(), "Text: token ", i, " to decode is ",
              tokens[i], ", expected [0, ", classes(), ")");
      result.push_back(vocabulary()[static_cast<std::size_t>(tokens[i])]);
    }
    return result;
  }
  std::string decode(const std::vector<std::int32_t>& tokens) const { return decode(tokens.data(), tokens.size()); }

  // Returns examples [begin, end) with the same vocabulary.
  Slice<Text> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  // Does not check indices: each must be below size().
  template <class T>
  void gather(const std::uint32_t* indices, std::size_t n, T* inputs, std::int32_t* labels) const {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint8_t* const from = tokens().data() + indices[i];
      copy_as(context_, from, inputs + i * context_);
      labels[i] = from[context_];
    }
  }

 private:
  struct Corpus {
    std::string vocabulary;
    std::vector<std::uint8_t> tokens;
  };

  Text(const std::string& text, TextOptions options, const std::string& name)
      : corpus_(number(text)), context_(options.context) {
    require(context_ > 0, name, ": context is 0, expected at least 1");
    require(!text.empty(), name, ": is empty, expected more than ", context_, " characters");
    require(text.size() > context_, name, ": has ", text.size(), " characters, expected more than the context of ",
            context_);
  }

  static Corpus number(const std::string& text) {
    bool present[256] = {};
    for (const char c : text) present[static_cast<unsigned char>(c)] = true;
    Corpus corpus;
    std::uint8_t token_of[256] = {};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (!present[byte]) continue;
      token_of[byte] = static_cast<std::uint8_t>(corpus.vocabulary.size());
      corpus.vocabulary.push_back(static_cast<char>(byte));
    }
    corpus.tokens.reserve(text.size());
    for (const char c : text) corpus.tokens.push_back(token_of[static_cast<unsigned char>(c)]);
    return corpus;
  }

  Shared<Corpus> corpus_;
  std::size_t context_;
};

}  // namespace algoperf

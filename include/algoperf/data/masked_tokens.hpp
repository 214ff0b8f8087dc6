// MaskedTokens: a data set for masked language models, which predict masked tokens from the context on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/random.hpp"
#include "concept.hpp"
#include "fields.hpp"
#include "shared.hpp"

namespace algoperf {

struct MaskedTokensOptions {
  std::size_t vocabulary = 0;  // tokens are below it; the token `vocabulary` is the mask
  std::size_t length = 64;     // tokens of a sequence
  std::size_t chosen = 10;     // tokens of a sequence to predict; BERT chooses 15 % of them
  double masked = 0.8;         // the fraction of the chosen tokens that become the mask token
  double random = 0.1;         // the fraction that become random tokens; the other chosen tokens are unchanged
  std::uint64_t seed = 1;      // of the positions and replacements in evaluations and predictions
};

// Cuts a stream of tokens into sequences of `length` without overlap, and drops an incomplete last one. Fields:
//   "input"      `length` tokens, some of them replaced
//   "position"   the positions of the `chosen` tokens to predict, in ascending order
//   "label"      `chosen` tokens: the original ones
// Each training step draws new positions and replacements. Evaluations and predictions use fixed ones per sequence.
// Copies and subsets share the tokens.
// Source: Devlin et al. 2018, arXiv:1810.04805, section 3.1; new choices in each step as in Liu et al. 2019,
//   arXiv:1907.11692, section 4.1. Random tokens are uniform and may equal the original.
class MaskedTokens {
 public:
  using Fields = FieldList<Field<"input", std::int32_t>, Field<"position", std::int32_t>, Field<"label", std::int32_t>>;
  static constexpr bool is_random = true;

  MaskedTokens(std::vector<std::int32_t> tokens, const MaskedTokensOptions& options)
      : MaskedTokens(Shared<std::vector<std::int32_t>>(std::move(tokens)), options) {}

  std::size_t size() const { return size_; }
  Shape shape(std::string_view field) const { return {field == "input" ? options_.length : options_.chosen}; }
  // Returns the number of different tokens of "input", the mask included: the vocabulary of a Bert.
  std::size_t classes() const { return options_.vocabulary + 1; }
  // Returns the sequences [begin, end). Throws Error unless begin <= end <= size().
  MaskedTokens subset(std::size_t begin, std::size_t end) const {
    require(begin <= end && end <= size_, "MaskedTokens: the range is [", begin, ", ", end,
            "), expected begin <= end <= ", size_);
    MaskedTokens part = *this;
    part.first_ += begin;
    part.size_ = end - begin;
    return part;
  }

  // Do not check indices: each must be below size().
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    write(indices, n, to,
          [this](std::size_t, std::size_t sequence) { return RandomKey{options_.seed}.fold(sequence); });
  }
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to, RandomKey key) const {
    write(indices, n, to, [key](std::size_t i, std::size_t) { return key.fold(i); });
  }

 private:
  MaskedTokens(Shared<std::vector<std::int32_t>> tokens, const MaskedTokensOptions& options)
      : tokens_(std::move(tokens)), options_(options) {
    require(options.length > 0, "MaskedTokens: length is 0, expected at least 1");
    require(options.chosen > 0 && options.chosen <= options.length, "MaskedTokens: chosen is ", options.chosen,
            ", expected 1 to the length of a sequence, ", options.length);
    require(options.masked >= 0 && options.random >= 0 && options.masked + options.random <= 1,
            "MaskedTokens: masked is ", options.masked, " and random is ", options.random,
            ", expected fractions whose sum is at most 1");
    require(options.vocabulary > 0 && options.vocabulary < INT32_MAX, "MaskedTokens: vocabulary is ",
            options.vocabulary, ", expected 1 to ", INT32_MAX - 1);
    for (std::size_t i = 0; i < tokens_->size(); ++i)
      require((*tokens_)[i] >= 0 && static_cast<std::size_t>((*tokens_)[i]) < options.vocabulary,
              "MaskedTokens: token ", i, " is ", (*tokens_)[i], ", expected [0, ", options.vocabulary, ")");
    size_ = tokens_->size() / options.length;
    require(size_ > 0, "MaskedTokens: there are ", tokens_->size(), " tokens, expected at least the length of a ",
            "sequence, ", options.length);
    require(size_ <= max_examples, "MaskedTokens: there are ", size_, " sequences, expected at most ", max_examples,
            ": indices have 32 bits");
  }

  template <class To, class KeyOf>
  void write(const std::uint32_t* indices, std::size_t n, const To& to, const KeyOf& key_of) const {
    std::int32_t *inputs = to.template at<"input">(), *positions = to.template at<"position">(),
                 *labels = to.template at<"label">();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t sequence = first_ + indices[i];
      RandomStream random(key_of(i, sequence));
      const std::int32_t* const from = tokens_->data() + sequence * options_.length;
      // Selection sampling: all sets of `chosen` positions are equally likely.
      std::size_t wanted = options_.chosen;
      for (std::size_t t = 0; t < options_.length; ++t) {
        *inputs = from[t];
        const auto left = static_cast<std::uint32_t>(options_.length - t);
        if (random.below(left) < wanted) {
          --wanted;
          *positions++ = static_cast<std::int32_t>(t);
          *labels++ = from[t];
          *inputs = replaced(from[t], random);
        }
        ++inputs;
      }
    }
  }
  std::int32_t replaced(std::int32_t token, RandomStream& random) const {
    const double u = random.uniform_double();
    if (u < options_.masked) return static_cast<std::int32_t>(options_.vocabulary);
    if (u < options_.masked + options_.random)
      return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(options_.vocabulary)));
    return token;
  }

  Shared<std::vector<std::int32_t>> tokens_;
  MaskedTokensOptions options_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace algoperf

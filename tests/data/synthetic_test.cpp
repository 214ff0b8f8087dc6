// Synthetic data sets whose best possible results are known.
#include <doctest/doctest.h>

#include <algoperf/data/graph_fields.hpp>
#include <algoperf/data/synthetic/clicks.hpp>
#include <algoperf/data/synthetic/markov_text.hpp>
#include <algoperf/data/synthetic/motif_graphs.hpp>
#include <algoperf/data/synthetic/reversed_sentences.hpp>
#include <algoperf/data/synthetic/touch_tones.hpp>
#include <algoperf/data/token_sequences.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_synthetic {

TEST_CASE("markov text: probabilities are distributions with the given branches") {
  const MarkovText chain({.seed = 3, .characters = 6, .order = 2, .branches = 2, .noise = 0.12});
  for (std::size_t state = 0; state < 36; ++state) {
    double total = 0;
    int likely = 0;
    for (std::size_t c = 0; c < 6; ++c) {
      const double p = chain.probability(state, c);
      CHECK(p >= 0.02 - 1e-15);
      likely += p > 0.02 + 1e-12;
      total += p;
    }
    CHECK(total == near(1, 1e-14));
    CHECK(likely == 2);
  }
}

// A chain of order 1 over two characters has a known entropy.
TEST_CASE("markov text: entropies are those of the formula") {
  const MarkovText chain({.seed = 1, .characters = 2, .order = 1, .branches = 1, .noise = 0.3});
  const auto h = [](double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); };
  const double a = chain.probability(0, 1), b = chain.probability(1, 0);  // to the other character
  CHECK(chain.entropy(1) == near((b * h(a) + a * h(b)) / (a + b), 1e-13));
  CHECK(chain.entropy(0) == near(h(a / (a + b)), 1e-13));
  CHECK(chain.entropy(7) == chain.entropy(1));
  const MarkovText uniform({.characters = 16, .order = 2, .noise = 1});
  CHECK(uniform.entropy(0) == near(std::log(16), 1e-13));
  CHECK(uniform.best_loss(5) == near(std::log(16), 1e-13));
}

TEST_CASE("markov text: a drawn text has the entropy of the chain") {
  const MarkovText chain;
  CHECK(chain.entropy(0) > chain.entropy(1));
  CHECK(chain.entropy(1) > chain.entropy(2));
  CHECK(chain.best_loss(2) == near((chain.entropy(1) + chain.entropy(2)) / 2, 1e-14));
  constexpr std::size_t n = 200000;
  const std::string text = chain.draw(n);
  REQUIRE(text.size() == n);
  double loss = 0, squares = 0;
  for (std::size_t i = 2; i < n; ++i) {
    const auto digit = [&](std::size_t at) { return static_cast<std::size_t>(text[at] - ' '); };
    const double nats = -std::log(chain.probability(digit(i - 2) * 16 + digit(i - 1), digit(i)));
    loss += nats / (n - 2);
    squares += nats * nats / (n - 2);
  }
  // Four standard errors, of nearly independent terms.
  CHECK(std::abs(loss - chain.entropy(2)) < 4 * std::sqrt((squares - loss * loss) / n));
  CHECK(chain.draw(50) == text.substr(0, 50));
  CHECK(chain.draw(50, 1) != text.substr(0, 50));
  CHECK(chain.draw(1).size() == 1);
}

TEST_CASE("markov text: chains that mix slowly") {
  for (const std::uint64_t seed : {1u, 5u}) {
    const MarkovText chain({.seed = seed, .characters = 7, .order = 1, .branches = 2, .noise = 0.01});
    CHECK(chain.entropy(1) <= chain.entropy(0));
  }
  const MarkovText chain({.characters = 16, .order = 2, .branches = 1, .noise = 0.01});
  CHECK(chain.entropy(2) ==
        near(-(0.99 + 0.01 / 16) * std::log(0.99 + 0.01 / 16) - 15 * 0.01 / 16 * std::log(0.01 / 16), 1e-9));
}

TEST_CASE("markov text: mistakes") {
  CHECK(sentence([] { MarkovText().best_loss(0); }) == "MarkovText: the length is 0, expected at least 1");
  const auto made = [](const MarkovText::Options& options) { return sentence([&] { MarkovText{options}; }); };
  CHECK(made({.characters = 96}) == "MarkovText: characters is 96, expected 2 to 95");
  CHECK(made({.branches = 17}) == "MarkovText: branches is 17, expected 1 to 16");
  CHECK(made({.noise = 0}) == "MarkovText: noise is 0, expected [0.01, 1]");
  CHECK(made({.order = 0}) == "MarkovText: order is 0, expected at least 1, with characters^order at most 2^20");
  CHECK(made({.order = 6}) == "MarkovText: order is 6, expected at least 1, with characters^order at most 2^20");
}

// Where a data set of clicks writes.
struct ClickRows {
  std::vector<float>& numbers;
  std::vector<std::int32_t>&categories, &labels;
  template <FieldName name>
  auto* at() const {
    if constexpr (std::string_view(name) == "numbers")
      return numbers.data();
    else
      return std::string_view(name) == "categories" ? categories.data() : labels.data();
  }
};

TEST_CASE("clicks: tokens belong to their category, examples do not depend on the count, and the best loss is honest") {
  const Clicks clicks{.count = 40000};
  const NumbersAndCategories data = clicks.draw(), tail = Clicks{.first = 39990, .count = 10}.draw();
  std::vector<float> x(4), same_x(4);
  std::vector<std::int32_t> tokens(4), same_tokens(4), label(1), same_label(1);
  const auto row = [](const NumbersAndCategories& of, std::uint32_t i, auto&... to) {
    of.gather(&i, 1, ClickRows{to...});
  };
  const std::vector<double> probabilities = clicks.probabilities();
  std::map<std::int32_t, std::size_t> seen;
  bool in_place = true;
  double ones = 0, loss = 0, squares = 0;
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    row(data, i, x, tokens, label);
    for (std::size_t k = 0; k < 4; ++k) {
      in_place = in_place && static_cast<std::size_t>(tokens[k]) / 50 == k;
      ++seen[tokens[k]];
    }
    ones += label[0];
    const double nats = -std::log(label[0] == 1 ? probabilities[i] : 1 - probabilities[i]);
    loss += nats / 40000;
    squares += nats * nats / 40000;
    if (i < 39990) continue;
    row(tail, i - 39990, same_x, same_tokens, same_label);
    CHECK(same_x == x);
    CHECK(same_tokens == tokens);
    CHECK(same_label == label);
  }
  CHECK(in_place);
  CHECK(seen.size() == clicks.tokens());
  const double rate = ones / 40000, best = clicks.best_loss();
  CHECK((rate > 0.2 && rate < 0.5));
  CHECK(std::abs(loss - best) < 4 * std::sqrt((squares - loss * loss) / 40000));
  // Less than the loss of a constant prediction, and more than nothing.
  CHECK(best < -rate * std::log(rate) - (1 - rate) * std::log(1 - rate));
  CHECK(best > 0.1);
  // Without effects, every label has the same probability.
  CHECK(Clicks{.count = 1, .bias = 1000}.best_loss() < 1e-6);
  CHECK(sentence([] { Clicks{.values = 0}.draw(); }) ==
        "Clicks: numbers is 4, categories 4 and values 0, expected at least 1 each, and categories x values below 2^31 "
        "- 1");
}

TEST_CASE("motif graphs: labels follow from the tags, and edges are listed at both ends") {
  const Graphs graphs = MotifGraphs{.count = 300}.draw();
  REQUIRE(graphs.size() == 300);
  std::size_t ones = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::size_t first = graphs.first_node[g];
    CHECK((graphs.nodes(g) >= 8 && graphs.nodes(g) <= 24));
    bool motif = false;
    std::size_t ends = 0;
    for (std::size_t v = 0; v < graphs.nodes(g); ++v) {
      const auto begin = graphs.neighbours.begin() + static_cast<std::ptrdiff_t>(graphs.first_neighbour[first + v]),
                 end = graphs.neighbours.begin() + static_cast<std::ptrdiff_t>(graphs.first_neighbour[first + v + 1]);
      ends += static_cast<std::size_t>(end - begin);
      std::size_t of_tag_1 = 0;
      for (auto n = begin; n != end; ++n) {
        of_tag_1 += graphs.tags[first + *n] == 1;
        CHECK(*n != v);
        CHECK(std::count(begin, end, *n) == 1);
        const auto back = graphs.neighbours.begin() + static_cast<std::ptrdiff_t>(graphs.first_neighbour[first + *n]),
                   back_end =
                       graphs.neighbours.begin() + static_cast<std::ptrdiff_t>(graphs.first_neighbour[first + *n + 1]);
        CHECK(std::count(back, back_end, static_cast<std::uint32_t>(v)) == 1);
      }
      motif = motif || (graphs.tags[first + v] == 0 && of_tag_1 >= 2);
    }
    CHECK((ends >= 2 * (graphs.nodes(g) - 1) && ends <= 2 * (graphs.nodes(g) + 2)));
    CHECK(graphs.labels[g] == (motif ? 1 : 0));
    ones += motif;
  }
  CHECK((ones > 50 && ones < 120));
  CHECK(MotifGraphs{.first = 299, .count = 1}.draw().labels[0] == graphs.labels[299]);
  CHECK(graph_fields(graphs).shape("nodes") == Shape{5});

  // A rotation of the tags rotates the tasks.
  const std::vector<std::int32_t> labels = motif_labels(graphs);
  REQUIRE(labels.size() == 4 * graphs.size());
  Graphs rotated = graphs;
  for (std::int32_t& tag : rotated.tags) tag = (tag + 1) % 4;
  const std::vector<std::int32_t> of_rotated = motif_labels(rotated);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i % 4 == 0) CHECK(labels[i] == graphs.labels[i / 4]);
    CHECK(of_rotated[i / 4 * 4 + (i + 1) % 4] == labels[i]);
  }
  Graphs other = graphs;
  other.tag_values.push_back(4);
  CHECK(sentence([&] { motif_labels(other); }) == "motif_labels: the graphs have 5 tags, expected 4");
  const GraphTaskFields tasks = graph_task_fields(graphs, labels, std::vector<float>(labels.size(), 1.0f));
  CHECK(tasks.size() == 300);
  CHECK(tasks.shape("label") == Shape{4});
  CHECK(tasks.rows("edges", 7) == graph_fields(graphs).rows("edges", 7));
  CHECK(sentence([&] {
          graph_task_fields(graphs, labels, {1, 1});
        }) ==
        "graph_task_fields: there are 1200 labels and 2 weights for 300 graphs, expected the same number of each per "
        "graph");
  CHECK(sentence([] { MotifGraphs{.most_nodes = 7}.draw(); }) ==
        "MotifGraphs: most_nodes is 7, expected 8 to 2147483647");
}

TEST_CASE("reversed sentences: targets are the sources' words in reverse, one for one") {
  const ReversedSentences sentences{.count = 400};
  const TranslationFields data = sentences.draw();
  const auto sources = token_sequences(data, "source"), inputs = token_sequences(data, "input"),
             labels = token_sequences(data, "label");
  std::map<std::int32_t, std::int32_t> dictionary;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t n = sources[i].size() - 1;
    REQUIRE((n >= 1 && n <= 8));
    REQUIRE(labels[i].size() == n + 1);
    CHECK(sources[i][n] == Subwords::end);
    CHECK(labels[i][n] == Subwords::end);
    CHECK(inputs[i][0] == Subwords::begin);
    CHECK(std::equal(labels[i].begin(), labels[i].end() - 1, inputs[i].begin() + 1));
    for (std::size_t t = 0; t < n; ++t) {
      CHECK((sources[i][t] >= 4 && sources[i][t] < 44));
      const auto [place, is_new] = dictionary.emplace(sources[i][t], labels[i][n - 1 - t]);
      CHECK(place->second == labels[i][n - 1 - t]);
    }
  }
  std::vector<std::int32_t> translations;
  for (const auto& [word, translation] : dictionary) translations.push_back(translation);
  std::sort(translations.begin(), translations.end());
  REQUIRE(translations.size() == 40);
  CHECK((translations.front() == 44 && translations.back() == 83));
  CHECK(std::adjacent_find(translations.begin(), translations.end()) == translations.end());
  CHECK(token_sequences(ReversedSentences{.first = 399, .count = 1}.draw(), "source")[0] == sources[399]);
  CHECK(sentences.vocabulary() == 84);
  CHECK(sentences.decode(std::vector<std::int32_t>{2, 4, 83, 3}) == "0 79");
  CHECK(sentence([] { ReversedSentences{.words = 0}.draw(); }) ==
        "ReversedSentences: words is 0 and longest 8, expected at least 1, and words below 2^30");
}

// The power of a frequency in some samples (Goertzel 1958).
double power_of(double frequency, const float* samples, std::size_t n) {
  const double factor = 2 * std::cos(2 * 3.14159265358979323846 * frequency / 8000);
  double last = 0, before = 0;
  for (std::size_t t = 0; t < n; ++t) {
    const double now = static_cast<double>(samples[t]) + factor * last - before;
    before = last;
    last = now;
  }
  return (last * last + before * before - factor * last * before) / static_cast<double>(n);
}

TEST_CASE("touch tones: a filter bank hears the digits") {
  const std::vector<double> low{697, 770, 852, 941}, high{1209, 1336, 1477};
  const std::string keys = "123456789*0#";
  for (const Utterance& number : TouchTones{.count = 40, .noise = 0.02}.draw()) {
    CHECK((number.symbols.size() >= 1 && number.symbols.size() <= 5));
    CHECK(number.sample_rate == 8000);
    std::vector<std::int32_t> heard;
    bool inside = false;
    constexpr std::size_t block = 160;  // 20 ms
    for (std::size_t t = 0; t + block <= number.samples.size(); t += block) {
      const auto loudest = [&](const std::vector<double>& of) {
        std::vector<double> powers;
        for (const double frequency : of) powers.push_back(power_of(frequency, number.samples.data() + t, block));
        const auto most = std::max_element(powers.begin(), powers.end());
        return std::pair(static_cast<std::size_t>(most - powers.begin()), *most);
      };
      const auto [row, row_power] = loudest(low);
      const auto [column, column_power] = loudest(high);
      const bool sounds = std::min(row_power, column_power) > 0.2;
      if (sounds && !inside) heard.push_back(keys[row * 3 + column] - '0' + 1);
      inside = sounds;
    }
    CHECK(heard == number.symbols);
  }
  CHECK(TouchTones{.first = 7, .count = 1}.draw()[0].samples == TouchTones{.count = 8}.draw()[7].samples);
  CHECK(sentence([] { TouchTones{.most = 0}.draw(); }) == "TouchTones: most is 0, expected 1 to 4294967295");
}

}  // namespace algoperf::testing::of_synthetic

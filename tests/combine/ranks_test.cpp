// Ranks on threads: exchanges, meetings, and Adasum over any number of ranks.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/combine/group/threads.hpp>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

using namespace algoperf;

namespace {

// Tensors of odd sizes: shorter and longer than a chunk of 8192 elements, one of which is not trained.
Layout odd_layout() {
  Layout layout;
  layout.add({"scalar", Kind::bias, {1}});
  layout.add({"long.weight", Kind::weight, {3, 8191}});
  layout.add({.name = "running_mean", .kind = Kind::bias, .shape = {13}, .buffer = true});
  layout.add({"short.weight", Kind::weight, {7, 9}});
  layout.add({"exact.weight", Kind::weight, {2, 8192}});
  return layout;
}

std::vector<std::vector<float>> random_vectors(std::size_t count, const Layout& layout) {
  std::vector<std::vector<float>> vectors(count, std::vector<float>(layout.size(), 0.0f));
  for (std::size_t v = 0; v < count; ++v) {
    RandomStream random(RandomKey{17}.fold(v));
    for (const TensorHandle handle : layout.tensors())
      for (std::size_t i = 0; i < layout.place_of(handle).size; ++i)
        vectors[v][layout.place_of(handle).offset + i] = static_cast<float>(random.normal());
  }
  return vectors;
}

// Returns the sentences of the exceptions that f(ranks) throws on each rank.
template <class F>
std::vector<std::string> failures_on_ranks(std::size_t count, const F& f) {
  std::vector<std::string> found(count);
  run_ranks(count, [&](Threads group) {
    const Ranks ranks(group.connect());
    try {
      f(ranks);
    } catch (const std::exception& error) {
      found[ranks.rank()] = error.what();
    }
  });
  return found;
}

}  // namespace

TEST_CASE("ranks gather values and arrays of different lengths, in their order") {
  for (const std::size_t count : {1u, 2u, 5u}) {
    std::vector<int> checked(count);
    run_ranks(count, [&](Threads group) {
      const Ranks ranks(group.connect());
      const std::vector<std::size_t> squares = ranks.all_gather(ranks.rank() * ranks.rank());
      std::vector<std::size_t> counts;
      for (std::size_t r = 0; r < count; ++r) counts.push_back(2 * r);
      const std::vector<double> mine(counts[ranks.rank()], static_cast<double>(ranks.rank()));
      const std::vector<double> all = ranks.all_gather(mine, counts);
      bool right = all.size() == count * (count - 1) && squares.size() == count;
      for (std::size_t r = 0, i = 0; r < count; ++r) {
        right = right && squares[r] == r * r;
        for (std::size_t k = 0; k < counts[r]; ++k) right = right && all[i++] == static_cast<double>(r);
      }
      const std::string letters = ranks.gather_on_root(std::string(ranks.rank(), 'a'));
      right = right && letters.size() == (ranks.is_root() ? count * (count - 1) / 2 : 0);
      checked[ranks.rank()] = right ? 1 : -1;
    });
    CHECK(checked == std::vector<int>(count, 1));
  }
}

TEST_CASE("a meeting returns every rank's note, and fails with one sentence on all ranks") {
  const auto met = failures_on_ranks(3, [](const Ranks& ranks) {
    const auto notes =
        ranks.meet({.at = Meeting::gradient, .step = 4, .weight = 2.0 * static_cast<double>(ranks.rank())});
    require(notes.size() == 3 && notes[2].weight == 4, "wrong notes");
  });
  CHECK(met == std::vector<std::string>(3));

  const auto different = failures_on_ranks(3, [](const Ranks& ranks) {
    ranks.meet({.at = ranks.rank() == 2 ? Meeting::evaluation : Meeting::gradient, .step = 4});
  });
  CHECK(different ==
        std::vector<std::string>(3,
                                 "rank 2 of 3 is at step 4, an evaluation, and rank 0 at step 4, a "
                                 "gradient: all ranks must make the same calls and read the same checkpoint"));
  const auto steps = failures_on_ranks(2, [](const Ranks& ranks) { ranks.meet({.step = ranks.rank()}); });
  CHECK(steps[0] == steps[1]);
  CHECK(steps[0].find("step 1, the start of the run") != std::string::npos);

  const auto numbers =
      failures_on_ranks(4, [](const Ranks& ranks) { ranks.require_same("the seed", ranks.rank() / 3); });
  CHECK(numbers == std::vector<std::string>(4, "the seed is 1 on rank 3 of 4, and 0 on rank 0"));
}

TEST_CASE("one of the ranks that fail is named on all ranks: one that diverged, or else the lowest") {
  const auto named = [](std::vector<std::uint64_t> diverged, std::size_t expected) {
    return failures_on_ranks(4, [&](const Ranks& ranks) {
      if (ranks.rank() > 0)
        throw ranks.announce("disk " + std::to_string(ranks.rank()) + " is full", 7, diverged[ranks.rank() - 1]);
      try {
        ranks.meet({.at = Meeting::gradient, .step = 8});
      } catch (const RankFailure& failure) {
        require(failure.rank == expected && failure.step == 7, "wrong failure");
        require(failure.diverged == (diverged[expected - 1] > 0), "wrong kind of failure");
        throw;
      }
    });
  };
  CHECK(named({0, 0, 0}, 1) == std::vector<std::string>(4, "rank 1 of 4: disk 1 is full"));
  CHECK(named({Ranks::divergence, Ranks::divergence, 0}, 1) ==
        std::vector<std::string>(4, "rank 1 of 4: disk 1 is full"));
  CHECK(named({0, Ranks::divergence, Ranks::divergence}, 2) ==
        std::vector<std::string>(4, "rank 2 of 4: disk 2 is full"));
  CHECK(named({0, Ranks::divergence, Ranks::own_divergence}, 3) ==
        std::vector<std::string>(4, "rank 3 of 4: disk 3 is full"));
}

TEST_CASE("a rank that ends while others wait for it fails them") {
  const auto found = failures_on_ranks(3, [](const Ranks& ranks) {
    if (ranks.rank() != 1) ranks.meet({});
  });
  CHECK(found[0] == "rank 1 of 3 has ended");
  CHECK(found[1].empty());
  CHECK(found[2] == "rank 1 of 3 has ended");
  const auto thrown = sentence([] {
    run_ranks(2, [](Threads group) {
      if (group.rank() == 1) fail("no memory");
      Ranks(group.connect()).meet({});
    });
  });
  CHECK(thrown == "rank 1 of 2 has ended: no memory");
  // The group stays broken: a rank that has noticed does not wait again.
  const auto twice = failures_on_ranks(2, [](const Ranks& ranks) {
    if (ranks.rank() == 1) return;
    CHECK_UNARY(sentence([&] { ranks.meet({}); }) == "rank 1 of 2 has ended");
    const RankFailure failure = ranks.announce("as above", 3);
    CHECK_UNARY(std::string(failure.what()) == "as above");
    ranks.meet({});
  });
  CHECK(twice[0] == "rank 1 of 2 has ended");
  // Ranks that exchange arrays of other sizes than expected.
  const auto unequal = failures_on_ranks(2, [](const Ranks& ranks) {
    const std::vector<char> out(8), in(8);
    const std::vector<ByteRange> to(2, ByteRange{0, ranks.rank() == 0 ? 8u : 4u}), from(2, ByteRange{0, 4});
    std::vector<char> received(8);
    ranks.exchange(out.data(), to, received.data(), from);
  });
  CHECK(unequal[0].find("Threads: rank 0 of 2 sends rank 0 another number of bytes") == 0);
  CHECK(unequal[1].find("Threads: rank 0 of 2 sends rank 1 another number of bytes") == 0);
  CHECK(sentence([] { run_ranks(0, [](Threads) {}); }) == "run_ranks: there are 0 ranks, expected at least 1");
}

TEST_CASE("blocks cover the arena in the order of ranks, cut where chunks of tensors begin") {
  const Layout layout = odd_layout();
  for (std::size_t count = 2; count <= 17; ++count) {
    CAPTURE(count);
    std::vector<ByteRange> blocks(count);
    std::vector<std::size_t> begins(count);
    run_ranks(count, [&](Threads group) {
      const Ranks ranks(group.connect());
      const ArrayBlocks<Host<float>> parts({}, ranks, layout, 1);
      blocks[ranks.rank()] = parts.own_block();
      if (parts.first_piece() < parts.end_piece()) begins[ranks.rank()] = parts.pieces()[parts.first_piece()].begin;
    });
    std::size_t at = 0, largest = 0;
    for (std::size_t r = 0; r < count; ++r) {
      CHECK(blocks[r].begin == at);
      if (blocks[r].size > 0) CHECK(begins[r] == blocks[r].begin);
      at += blocks[r].size;
      largest = blocks[r].size > largest ? blocks[r].size : largest;
    }
    CHECK(at == layout.size());
    CHECK(largest <= layout.size() / count + 8192 + 64);
  }
}

TEST_CASE("Adasum over 1 to 17 ranks has the bits of the tree in one process") {
  const Layout layout = odd_layout();
  for (std::size_t count = 1; count <= 17; ++count)
    for (const std::size_t each : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
      if (each > 1 && count > 5) continue;
      CAPTURE(count);
      CAPTURE(each);
      const auto vectors = random_vectors(count * each, layout);
      auto expected = vectors;
      std::vector<float*> all;
      for (auto& vector : expected) all.push_back(vector.data());
      adasum_tree(Host<float>{}, layout, all, 0, all.size());

      std::vector<int> same(count);
      run_ranks(count, [&](Threads group) {
        const Ranks ranks(group.connect());
        ArrayBlocks<Host<float>> blocks({}, ranks, layout, each);
        std::vector<std::vector<float>> own(vectors.begin() + static_cast<std::ptrdiff_t>(ranks.rank() * each),
                                            vectors.begin() + static_cast<std::ptrdiff_t>((ranks.rank() + 1) * each));
        std::vector<float*> mine;
        for (auto& vector : own) mine.push_back(vector.data());
        adasum_tree(Host<float>{}, layout, mine, ranks, blocks);
        same[ranks.rank()] = own[0] == expected[0] ? 1 : -1;
      });
      CHECK(same == std::vector<int>(count, 1));
    }
}

TEST_CASE("hierarchical Adasum and 16-bit formats over ranks have the bits of one process") {
  const Layout layout = odd_layout();
  const auto check = [&](std::size_t count, std::size_t each, std::size_t per_node, VectorFormat format) {
    CAPTURE(count);
    CAPTURE(each);
    CAPTURE(per_node);
    const auto vectors = random_vectors(count * each, layout);
    // By hand: rounded vectors, the means of nodes, the tree, the rounded result.
    auto expected = vectors;
    std::vector<float*> nodes;
    for (std::size_t v = 0; v < expected.size(); ++v) detail::round_to(format, layout.size(), expected[v].data());
    for (std::size_t v = 0; v < expected.size(); v += per_node) {
      nodes.push_back(expected[v].data());
      for (std::size_t i = 0; i < layout.size(); ++i) {
        for (std::size_t w = 1; w < per_node; ++w) expected[v][i] += expected[v + w][i];
        expected[v][i] *= 1.0f / static_cast<float>(per_node);
      }
    }
    adasum_tree(Host<float>{}, layout, nodes, 0, nodes.size());
    detail::round_to(format, layout.size(), expected[0].data());

    std::vector<int> same(count);
    run_ranks(count, [&](Threads group) {
      const Ranks ranks(group.connect());
      ArrayBlocks<Host<float>> blocks({}, ranks, layout, each);
      std::vector<std::vector<float>> own(vectors.begin() + static_cast<std::ptrdiff_t>(ranks.rank() * each),
                                          vectors.begin() + static_cast<std::ptrdiff_t>((ranks.rank() + 1) * each));
      std::vector<float*> mine;
      for (auto& vector : own) mine.push_back(vector.data());
      adasum_tree(Host<float>{}, layout, mine, ranks, blocks, per_node, format);
      same[ranks.rank()] = own[0] == expected[0] ? 1 : -1;
    });
    CHECK(same == std::vector<int>(count, 1));
  };
  for (const VectorFormat format : {VectorFormat::full, VectorFormat::bfloat16, VectorFormat::float16}) {
    check(1, 4, 2, format);
    check(2, 1, 1, format);
    check(4, 1, 2, format);
    check(3, 2, 3, format);  // a node with workers of two ranks
    check(5, 2, 2, format);
    check(6, 1, 6, format);
  }
}

// The invariants on which the method rests (Maleki et al. 2020, section 3), for each number of ranks.
TEST_CASE("Adasum over ranks: scale covariance, sums of orthogonal and means of parallel gradients, descent") {
  const std::size_t n = 24;
  Layout layout(1);
  layout.add({"w", Kind::weight, {n}});
  for (std::size_t count = 2; count <= 9; ++count) {
    CAPTURE(count);
    // Returns Adasum of one vector per rank.
    const auto adasum = [&](const std::vector<std::vector<double>>& vectors) {
      std::vector<double> result;
      run_ranks(count, [&](Threads group) {
        const Ranks ranks(group.connect());
        ArrayBlocks<Host<double>> blocks({}, ranks, layout, 1);
        std::vector<double> mine = vectors[ranks.rank()];
        adasum_tree(Host<double>{}, layout, {mine.data()}, ranks, blocks);
        if (ranks.is_root()) result = mine;
      });
      return result;
    };
    const auto vector_of = [&](const auto& element) {
      std::vector<std::vector<double>> vectors(count, std::vector<double>(n));
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t i = 0; i < n; ++i) vectors[r][i] = element(r, i);
      return vectors;
    };
    RandomStream random(RandomKey{count});
    const auto gradients =
        vector_of([&](std::size_t, std::size_t i) { return random.normal() + (i % 3 == 0 ? 1 : 0); });
    const auto combined = adasum(gradients);

    auto scaled = gradients;  // by a power of two, which is exact
    for (auto& vector : scaled)
      for (double& x : vector) x *= 8;
    auto eightfold = combined;
    for (double& x : eightfold) x *= 8;
    CHECK(adasum(scaled) == eightfold);

    const auto orthogonal =
        vector_of([&](std::size_t r, std::size_t i) { return i % count == r ? 1.0 + static_cast<double>(i) : 0.0; });
    const auto sum = adasum(orthogonal);
    for (std::size_t i = 0; i < n; ++i) CHECK(sum[i] == 1.0 + static_cast<double>(i));

    const auto equal = vector_of([&](std::size_t, std::size_t i) { return static_cast<double>(i) - 3; });
    const auto mean = adasum(equal);
    for (std::size_t i = 0; i < n; ++i) CHECK(mean[i] == near(static_cast<double>(i) - 3, 1e-14));
  }
}

// With x = adasum(g, h) and c the cosine between g and h: x.g = |g|^2 (1 - c^2 / 2) + c |g| |h| / 2. It is at least 0
// for gradients of the same norm, but not in general: the proof of convergence needs x.E[g] > 0.
TEST_CASE("Adasum of two gradients of the same norm does not oppose either") {
  Layout layout(1);
  layout.add({"w", Kind::weight, {2}});
  const auto inner = [&](double cosine, double length) {  // of x with g = (1, 0)
    std::vector<double> x{1, 0}, h{length * cosine, length * std::sqrt(1 - cosine * cosine)};
    adasum_pair(Host<double>{}, layout, x.data(), h.data());
    return x[0];
  };
  for (const double cosine : {-1.0, -0.9, -0.5, 0.0, 0.5, 1.0}) {
    CHECK(inner(cosine, 1) >= -1e-15);
    CHECK(inner(cosine, 1) == near(1 - cosine * cosine / 2 + cosine / 2, 1e-12));
  }
  CHECK(inner(-0.9, 10) < 0);
}

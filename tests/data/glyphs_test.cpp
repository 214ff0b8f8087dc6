#include "algoperf/data/synthetic/glyphs.hpp"

#include <doctest/doctest.h>

namespace ap = algoperf;

static_assert(ap::Dataset<ap::Glyphs>);
static_assert(ap::Dataset<ap::Slice<ap::Glyphs>>);

namespace {

using Image = std::vector<std::uint8_t>;

Image image(const ap::Glyphs& glyphs, std::size_t i) {
  Image bytes(ap::glyphs::pixels);
  glyphs.draw(i, bytes.data());
  return bytes;
}

std::int32_t label(const ap::Glyphs& glyphs, std::size_t i) {
  Image bytes(ap::glyphs::pixels);
  return glyphs.draw(i, bytes.data());
}

}  // namespace

TEST_CASE("the first thousand glyphs of seed 1 are the same on every machine, with every compiler and flag") {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  const ap::Glyphs glyphs{.seed = 1};
  Image bytes(ap::glyphs::pixels);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::int32_t digit = glyphs.draw(i, bytes.data());
    for (const std::uint8_t byte : bytes) add(byte);
    add(static_cast<std::uint8_t>(digit));
  }
  CHECK(hash == 0x2439400b8d7eda2a);
}

TEST_CASE("an example depends only on the seed and its position in the stream") {
  const ap::Glyphs from_start{.seed = 3, .count = 100}, from_forty{.seed = 3, .first = 40, .count = 60};
  for (const std::size_t i : {0u, 7u, 59u}) {
    CHECK(image(from_forty, i) == image(from_start, 40 + i));
    CHECK(label(from_forty, i) == label(from_start, 40 + i));
  }
  CHECK(image(from_start, 0) != image(ap::Glyphs{.seed = 4}, 0));
}

TEST_CASE("disjoint ranges share no image") {
  const ap::Glyphs train{.count = 300}, test{.first = 300, .count = 300};
  std::vector<Image> seen;
  for (std::size_t i = 0; i < 300; ++i) seen.push_back(image(train, i));
  for (std::size_t i = 0; i < 300; ++i) {
    const Image other = image(test, i);
    for (const Image& one : seen) REQUIRE(one != other);
  }
}

TEST_CASE("classes are balanced, images neither empty nor full") {
  const ap::Glyphs glyphs{.count = 5000};
  std::size_t counts[10] = {};
  Image bytes(ap::glyphs::pixels);
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    ++counts[glyphs.draw(i, bytes.data())];
    std::size_t ink = 0;
    for (const std::uint8_t byte : bytes) ink += byte > 100;
    REQUIRE(ink > 15);
    REQUIRE(ink < 350);
  }
  for (const std::size_t count : counts) {  // binomial, mean 500, standard deviation 21
    CHECK(count > 400);
    CHECK(count < 600);
  }
}

TEST_CASE("label noise changes labels at its rate, uniformly, and never the image") {
  const ap::Glyphs clean{.count = 20000}, noisy{.count = 20000, .label_noise = 0.2};
  std::size_t changed = 0, by[10] = {};
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::int32_t a = label(clean, i), b = label(noisy, i);
    changed += a != b;
    ++by[(b - a + 10) % 10];
  }
  CHECK(changed > 3800);  // mean 4000, standard deviation 57
  CHECK(changed < 4200);
  for (int shift = 1; shift < 10; ++shift) {  // mean 444, standard deviation 21
    CHECK(by[shift] > 350);
    CHECK(by[shift] < 540);
  }
  CHECK(image(clean, 5) == image(noisy, 5));
  const ap::Glyphs always{.count = 200, .label_noise = 1};
  for (std::size_t i = 0; i < always.size(); ++i) REQUIRE(label(always, i) != label(clean, i));
}

TEST_CASE("gather and render agree with draw") {
  const ap::Glyphs glyphs{.seed = 9, .count = 20};
  const auto kept = glyphs.render();
  CHECK(kept.size() == 20);
  CHECK(kept.shape() == ap::Shape(28, 28, 1));
  CHECK(kept.classes() == 10);
  const std::uint32_t indices[] = {19, 3};
  std::vector<double> x(2 * 784);
  std::vector<float> z(2 * 784);
  std::int32_t y[2], w[2];
  glyphs.gather(indices, 2, x.data(), y);
  kept.gather(indices, 2, z.data(), w);
  const Image bytes = image(glyphs, 3);
  for (std::size_t j = 0; j < 784; ++j) {
    REQUIRE(x[784 + j] == bytes[j] / 255.0);
    REQUIRE(z[784 + j] == static_cast<float>(bytes[j]) / 255.0f);
  }
  CHECK(y[0] == w[0]);
  CHECK(y[1] == label(glyphs, 3));
}

TEST_CASE("Glyphs refuses a label noise that is not a probability") {
  CHECK_THROWS_WITH_AS((ap::Glyphs{.count = 1, .label_noise = 1.5}.render()),
                       "Glyphs: label_noise is 1.5, expected [0, 1]", ap::Error);
}

TEST_CASE("whole_sqrt rounds down") {
  for (std::int32_t n = 0; n < 3000; ++n) {
    const std::int32_t r = ap::glyphs::whole_sqrt(n);
    REQUIRE(r * r <= n);
    REQUIRE((r + 1) * (r + 1) > n);
  }
  CHECK(ap::glyphs::whole_sqrt(2147483647) == 46340);
}

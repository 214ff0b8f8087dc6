// Images: decoded, resized and cropped as by Pillow (tests/golden/make_images.py), and folders of images.
#include <doctest/doctest.h>

#include <algoperf/data/images/all.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../golden/images.hpp"
#include "../support/folder.hpp"
#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_images {

std::string golden_file(const std::string& name) {
  return std::string(ALGOPERF_SOURCE_DIR) + "/tests/golden/images/" + name;
}
int difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  REQUIRE(a.size() == b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST_CASE("images: PNG files give Pillow's bytes, JPEG files up to rounding") {
  for (const golden::Decoded& expected : golden::decoded_images) {
    CAPTURE(expected.file);
    const Image image = load_image(golden_file(expected.file));
    CHECK(image.rows == 13);
    CHECK(image.columns == 19);
    CHECK(difference(image.bytes, expected.bytes) <= (std::string(expected.file).ends_with("png") ? 0 : 2));
  }
}

TEST_CASE("images: sizes give Pillow's bytes") {
  const Image colour = load_image(golden_file("colour.png"));
  for (const golden::Resized& expected : golden::resized_images) {
    CAPTURE(expected.rows);
    CHECK(resized(colour, expected.rows, expected.columns).bytes == expected.bytes);
  }
  for (const golden::Resized& expected : golden::fitted_images) {
    CAPTURE(expected.rows);
    const Image image = fitted(colour, expected.rows, expected.columns);
    CHECK(image.rows == expected.rows);
    CHECK(image.columns == expected.columns);
    CHECK(image.bytes == expected.bytes);
  }
}

TEST_CASE("images: damaged files and wrong sizes are named") {
  const Folder folder;
  const auto sentence_of = [&](const std::string& bytes) {
    folder.write("x", bytes);
    const std::string message = sentence([&] { load_image(folder / "x"); });
    REQUIRE(message.starts_with((folder / "x") + ": "));
    return message.substr((folder / "x").size() + 2);
  };
  CHECK(sentence_of("") == "the file is neither a PNG nor a JPEG");
  CHECK(sentence_of("GIF89a") == "the file is neither a PNG nor a JPEG");
  for (const char* const name : {"colour.png", "colour.jpg", "progressive.jpg"}) {
    CAPTURE(name);
    const std::string whole = read_file(golden_file(name));
    for (const std::size_t length : {std::size_t{4}, whole.size() / 3, whole.size() - 20})
      CHECK(!sentence_of(whole.substr(0, length)).empty());
  }
  CHECK(sentence_of(read_file(golden_file("cmyk.jpg"))).find("color") != std::string::npos);
  // A PNG header with 2^31 - 1 rows and columns.
  std::string large = read_file(golden_file("colour.png"));
  large.replace(16, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff");
  CHECK(!sentence_of(large).empty());
  CHECK(sentence([] { load_image("/nowhere/x.png"); }).find("/nowhere/x.png") != std::string::npos);
  // Bytes between markers lose no pixel.
  std::string padded = read_file(golden_file("colour.jpg"));
  padded.insert(padded.size() - 2, std::string(20, '\0'));
  folder.write("padded.jpg", padded);
  CHECK(load_image(folder / "padded.jpg").bytes == load_image(golden_file("colour.jpg")).bytes);
  // A row of 65535 pixels would be 14.7 million pixels high if it were scaled as a whole.
  const Image strip{1, 65535, 3, std::vector<std::uint8_t>(65535 * 3, 7)};
  CHECK(fitted(strip, 224, 224).bytes == std::vector<std::uint8_t>(224 * 224 * 3, 7));
  CHECK(sentence([&] { fitted(strip, 8, 8, 4); }) ==
        "fitted: the crop has 8 x 8 pixels, the scaled image 4 x 262140, expected at least as many");
  const Image pixel{1, 1, 3, {1, 2, 3}};
  CHECK(sentence([&] { resized(pixel, 0, 1); }) == "resized: the image has 0 x 1 pixels, expected 1 to 2^28");
  CHECK(sentence([&] { cropped(pixel, 1, 2); }) ==
        "cropped: the crop has 1 x 2 pixels, expected at most those of the image, 1 x 1");
  CHECK(sentence([&] { fitted(Image{}, 1, 2); }) ==
        "fitted: the image has 0 x 0 x 3 pixels and 0 bytes, expected a byte for each channel of each of at least one "
        "pixel");
}

TEST_CASE("image folder: classes and files in order, sizes, statistics, and other files") {
  const Folder folder;
  const auto put = [&](const std::string& from, const std::string& to) {
    std::filesystem::create_directories(std::filesystem::path(folder / to).parent_path());
    std::filesystem::copy_file(golden_file(from), folder / to);
  };
  put("colour.png", "zebra/2.PNG");
  put("colour.jpg", "zebra/1.jpeg");
  put("grey.png", "ant/deep/x.png");
  folder.write("ant/notes.txt", "not an image");
  folder.write("readme.md", "not a class");
  const ImageFolder found =
      load_image_folder(folder.path(), {.rows = 8, .columns = 8, .statistics = {{0.5, 0.25, 0, 0}, {0.5, 2, 1, 1}}});
  CHECK(found.classes == std::vector<std::string>{"ant", "zebra"});
  REQUIRE(found.images.size() == 3);
  CHECK(found.images.classes() == 2);
  CHECK(found.images.shape() == Shape{8, 8, 3});
  CHECK(found.images.labels() == std::vector<std::int32_t>{0, 1, 1});
  CHECK(found.files ==
        std::vector<std::string>{folder / "ant/deep/x.png", folder / "zebra/1.jpeg", folder / "zebra/2.PNG"});
  const std::vector<std::uint8_t>&bytes = found.images.bytes(), &expected = golden::fitted_images[0].bytes;
  CHECK(std::equal(expected.begin(), expected.end(), bytes.begin() + 2 * 192));
  const std::uint32_t last = 2;
  std::vector<double> x(192);
  std::int32_t label = -1;
  found.images.gather(&last, 1, x.data(), &label);
  CHECK(x[3] == near((expected[3] / 255.0 - 0.5) / 0.5, 1e-6));
  CHECK(x[4] == near((expected[4] / 255.0 - 0.25) / 2, 1e-6));

  // Labels of given classes, of which one has no folder.
  const ImageFolder named =
      load_image_folder(folder.path(), {.rows = 8, .columns = 8, .classes = {"zebra", "cow", "ant"}});
  CHECK(named.images.labels() == std::vector<std::int32_t>{2, 0, 0});
  CHECK(named.images.classes() == 3);
  const ImageFolder larger = load_image_folder(folder.path(), {.rows = 4, .columns = 4, .shorter = 8});
  CHECK(larger.images.bytes()[2 * 48] == golden::fitted_images[0].bytes[(2 * 8 + 2) * 3]);

  const ImageFolder grey = load_image_folder(folder.path(), {.rows = 13, .columns = 19, .channels = 1});
  CHECK(grey.images.shape() == Shape{13, 19, 1});
  const std::vector<std::uint8_t>& greys = grey.images.bytes();
  CHECK(std::equal(golden::grey_of_colour.begin(), golden::grey_of_colour.end(), greys.begin() + 2 * 247));
}

TEST_CASE("image folder: mistakes") {
  const Folder folder;
  const auto message = [&](const ImageFolderOptions& options = {}) {
    return sentence([&] { load_image_folder(folder.path(), options); });
  };
  CHECK(message() == folder.path() + ": there is no subfolder, expected one for each class");
  std::filesystem::create_directory(folder / "cats");
  CHECK(message() == (folder / "cats") + ": there is no image, expected files .png, .jpg or .jpeg");
  folder.write("cats/1.png", "\x89PNG and nothing else");
  CHECK(message().starts_with((folder / "cats/1.png") + ": "));
  CHECK(message({.rows = 0}) == "load_image_folder: the image has 0 x 224 pixels, expected 1 to 2^28");
  CHECK(message({.classes = {"dogs"}}) == (folder / "cats") + ": the folder is none of the 1 classes");
  CHECK(message({.channels = 2}) == "load_image_folder: channels is 2, expected 1 or 3");
  CHECK(sentence([] { load_image_folder("/nowhere"); }).starts_with("/nowhere: cannot be read ("));
}

}  // namespace algoperf::testing::of_images

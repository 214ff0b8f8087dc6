// CIFAR-10: its reader, its images, the residual network against torch (tests/golden/make_resnet.py), and its workload.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/cifar10.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "../golden/resnet.hpp"
#include "../golden/vgg.hpp"
#include "../support/check_error.hpp"
#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/near.hpp"
#include "../support/reproducible.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_cifar10 {

static_assert(Workload<Cifar10>);
static_assert(std::is_same_v<decltype(Cifar10{}.train()), Transformed<Slice<ByteImages>, RandomCrop, RandomFlip>>);
static_assert(parameters_of(SmallResNet<>{}) == 78042);
static_assert(parameters_of(SmallResNet<>{.blocks = 3}) == 272474);  // He et al., table 6: 0.27 million

static_assert(parameters_of(Vgg<>{.filters = 64, .hidden = 4096, .classes = 1000, .in = {224, 224, 3}}) == 132863336);
static_assert(
    parameters_of(Vgg<>{
        .convolutions = {2, 2, 4, 4, 4}, .filters = 64, .hidden = 4096, .classes = 1000, .in = {224, 224, 3}}) ==
    143667240);
static_assert(parameters_of(TinyVgg::model()) == 153530);

// The bytes of n images: byte j of image i is (i + 3 j) mod 256.
std::string records(std::size_t n) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) {
    bytes += static_cast<char>(i % 10);
    for (std::size_t j = 0; j < 3072; ++j) bytes += static_cast<char>((i + 3 * j) % 256);
  }
  return bytes;
}

TEST_CASE("cifar10: images of several files, with the channels last") {
  const Folder folder;
  folder.write("a.bin", records(3));
  folder.write("b.bin", records(2));
  const ByteImages images = load_cifar10({folder / "a.bin", folder / "b.bin"});
  REQUIRE(images.size() == 5);
  CHECK(images.labels() == std::vector<std::int32_t>{0, 1, 2, 0, 1});
  CHECK(images.shape() == Shape{32, 32, 3});
  CHECK(images.classes() == 10);
  for (const std::size_t pixel : {std::size_t{0}, std::size_t{33}, std::size_t{1023}})
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(images.bytes()[2 * 3072 + pixel * 3 + k] == (2 + 3 * (k * 1024 + pixel)) % 256);
  const std::uint32_t index = 2;
  std::vector<double> x(3072);
  std::int32_t label = 0;
  images.gather(&index, 1, x.data(), &label);
  CHECK(label == 2);
  CHECK(x[3 * 5 + 1] == near(((2 + 3 * (1024 + 5)) % 256 / 255.0 - 0.48215827) / 0.24348505, 1e-6));
}

TEST_CASE("cifar10: damaged files") {
  const Folder folder;
  folder.write("short.bin", records(2).substr(0, 4000));
  CHECK(sentence([&] { load_cifar10({folder / "short.bin"}); }) ==
        (folder / "short.bin") + ": ends at byte 4000, expected 3073 bytes of an image from byte 3073");
  folder.write("empty.bin", "");
  CHECK(sentence([&] { load_cifar10({folder / "empty.bin"}); }) ==
        (folder / "empty.bin") + ": ends at byte 0, expected 3073 bytes of an image from byte 0");
  std::string wrong = records(2);
  wrong[3073] = 11;
  folder.write("class.bin", wrong);
  CHECK(sentence([&] { load_cifar10({folder / "class.bin"}); }) ==
        (folder / "class.bin") + ": the class at byte 3073 is 11, expected 0 to 9");
  CHECK(sentence([&] { load_cifar10({folder / "none.bin"}); }).find("none.bin: cannot be opened") != std::string::npos);
  CHECK(sentence([&] { load_cifar10({folder / "class.bin"}, 1000); }).find("limit of 1000 bytes") != std::string::npos);
}

TEST_CASE("byte images: what is refused") {
  const auto made = [](std::vector<std::uint8_t> bytes, std::vector<std::int32_t> labels, const Shape& shape,
                       const ChannelStatistics& statistics = {}) {
    return sentence([&] { ByteImages(std::move(bytes), std::move(labels), shape, 2, statistics); });
  };
  CHECK(made({1, 2, 3, 4}, {0, 1}, {1, 2, 1}).empty());
  CHECK(made({1, 2, 3, 4}, {0, 1}, {1, 3, 1}) ==
        "ByteImages: there are 4 bytes and 2 labels, expected 3 bytes per label");
  CHECK(made({1, 2, 3, 4}, {0, 2}, {1, 2, 1}) == "ByteImages: label 1 is 2, expected [0, 2)");
  CHECK(made({1, 2, 3, 4}, {0, -1}, {1, 2, 1}) == "ByteImages: label 1 is -1, expected [0, 2)");
  CHECK(made({1, 2, 3, 4}, {0, 1}, {2}) ==
        "ByteImages: the shape has rank 1 and 0 channels, expected {rows, columns, channels} with 1 to 4 channels");
  CHECK(made({1, 2, 3, 4, 5}, {0}, {1, 1, 5}) ==
        "ByteImages: the shape has rank 3 and 5 channels, expected {rows, columns, channels} with 1 to 4 channels");
  CHECK(made({1}, {0}, {1, 1, 1}, {{0}, {0}}) == "ByteImages: the deviation of channel 0 is 0, expected more than 0");
}

template <class Activation = Relu>
constexpr SmallResNet<Activation> golden_model{.filters = 2, .classes = 3, .ghost = 2, .in = {6, 6, 3}};
InMemoryFields<Field<"input", double>, Field<"label", std::int32_t>> golden_data(
    const Shape& image, const std::vector<std::int32_t>& labels) {
  std::vector<double> pixels;
  for (std::size_t i = 0; i < labels.size() * image.size(); ++i)
    pixels.push_back(std::sin(0.1 + 0.37 * static_cast<double>(i)));
  return InMemoryFields<Field<"input", double>, Field<"label", std::int32_t>>({pixels, image}, {labels, {1}});
}
TEST_CASE("resnet: the loss, gradients, steps of AdamW, running averages and the evaluation are torch's") {
  const SoftmaxCrossEntropy loss{.label_smoothing = 0.1};
  const auto data = golden_data({6, 6, 3}, {0, 1, 2, 0});
  golden::check(golden_model<>, loss, data, golden::resnet);
  golden::check(golden_model<Silu>, loss, data, golden::resnet_silu);
  golden::check(golden_model<GeluTanh>, loss, data, golden::resnet_gelu);
}

constexpr Vgg<> small_vgg(bool batch_norm) {
  return {.convolutions = {1, 1, 2, 1, 1}, .filters = 1, .hidden = 5, .classes = 3, .batch_norm = batch_norm};
}
TEST_CASE("vgg: with and without batch norms, losses, gradients, steps of AdamW and the evaluation are torch's") {
  const auto data = golden_data({32, 32, 3}, {0, 1, 2});
  golden::check(small_vgg(false), SoftmaxCrossEntropy{}, data, golden::vgg);
  golden::check(small_vgg(true), SoftmaxCrossEntropy{}, data, golden::vgg_batch_norm);
  CHECK(sentence([] {
          Vgg<> model{.in = {32, 31, 3}};
          TrainingLoop(model, SoftmaxCrossEntropy{}, sgd(), Constant{1}, golden::WholeBatch{4});
        }) ==
        "the images have shape {32, 31, 3}, expected {rows, columns, channels} with at least 32 rows and columns");
}

TEST_CASE("resnet and vgg: gradients agree with differences") {
  for (const std::size_t ghost : {std::size_t{0}, std::size_t{2}}) {
    const SmallResNet<Silu> smooth{
        .filters = 2, .classes = 3, .ghost = ghost, .last_scale = Init::ones, .in = {6, 6, 3}};
    check_error(gradient_check(smooth, SoftmaxCrossEntropy{}, {.batch = 4, .samples = 10}), 1e-5);
  }
  for (const bool batch_norm : {false, true})
    check_error(gradient_check(small_vgg(batch_norm), SoftmaxCrossEntropy{}, {.samples = 4}), 1e-5);
}

TEST_CASE("resnet: initial values, and images that are no squares") {
  TrainingLoop loop(golden_model<>, SoftmaxCrossEntropy{}, sgd(), Constant{1}, golden::WholeBatch{4}, Host<double>{});
  CHECK(loop.values("stage.1.0.norm_2.scale")[0] == 0);
  CHECK(loop.values("stage.1.0.norm_1.scale")[0] == 1);
  CHECK(loop.values("stage.1.0.shortcut.norm.scale")[0] == 1);
  CHECK(std::abs(loop.values("logits.weight")[0]) < 0.05);
  CHECK(sentence([] {
          TrainingLoop(SmallResNet<>{.in = {31, 32, 3}}, SoftmaxCrossEntropy{}, sgd(), Constant{1},
                       golden::WholeBatch{4});
        }) == "the images have shape {31, 32, 3}, expected squares");
}

// A folder with 40 training images and 5 for testing.
struct FewImages {
  Folder folder;
  FewImages() {
    std::filesystem::create_directory(folder / "cifar10");
    folder.write("cifar10/data_batch_1.bin", records(25));
    folder.write("cifar10/data_batch_2.bin", records(15));
    folder.write("cifar10/test_batch.bin", records(5));
  }
};

TEST_CASE("cifar10: splits and variants of the workload") {
  const FewImages few;
  const Cifar10 task{.data = few.folder.path()};
  CHECK(task.train().size() == 36);
  CHECK(task.validation().size() == 4);
  CHECK(task.test().size() == 5);
  const std::uint32_t index = 0;
  std::vector<float> x(3072);
  std::int32_t label = -1;
  task.validation().gather(&index, 1, x.data(), &label);
  CHECK(label == 1);  // image 36, the 11th of the second file, has the class 0; the classes of a file begin with 0
  std::set<std::string> names;
  task.each_variant([&](const auto& variant) {
    names.insert(variant.name);
    CHECK(variant.train().size() == 36);
  });
  CHECK(names ==
        std::set<std::string>{"cifar10_resnet8_silu", "cifar10_resnet8_gelu", "cifar10_resnet8_large_bn_init"});
  names.clear();
  Cifar10Vit{}.each_variant([&](const auto& variant) { names.insert(variant.name); });
  CHECK(names == std::set<std::string>{"cifar10_vit_glu", "cifar10_vit_post_ln", "cifar10_vit_map"});
  CHECK(&task.train().untransformed().whole().bytes() ==
        &Cifar10ResNet20{.data = few.folder.path()}.train().untransformed().whole().bytes());
}

TEST_CASE("cifar10: threads and prefetching change no bit, and a resumed run continues with the same bits") {
  const FewImages few;
  const Cifar10 task{.data = few.folder.path()};
  constexpr SmallResNet<> model{.filters = 4, .ghost = 6};
  const auto learner = [&](const auto&... tail) {
    return TrainingLoop(model, task.loss(), momentum(), Constant{0.05}, ShuffledEpochs{.batch = 12}, tail...);
  };
  check_reproducible(learner, task.train(), 5);
  const auto vgg_learner = [&](const auto&... tail) {
    return TrainingLoop(small_vgg(true), task.loss(), momentum(), Constant{0.05}, ShuffledEpochs{.batch = 12}, tail...);
  };
  check_reproducible(vgg_learner, golden_data({32, 32, 3}, std::vector<std::int32_t>(36, 1)), 5);
}

TEST_CASE("cifar10: a few steps on the real images") {
  const std::string folder = data_path("cifar10");
  if (folder.empty()) return;
  const Cifar10 task{.data = folder + "/.."};
  CHECK(task.train().size() == 18000);
  CHECK(task.validation().size() == 2000);
  CHECK(task.test().size() == 4000);
  TrainingLoop loop(SmallResNet<>{.filters = 4}, task.loss(), adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 32});
  const double first = *loop.step(task.train()).loss;
  loop.run(task.train(), UntilStep{25});
  CHECK(*loop.last().loss < first - 0.05);
  CHECK(loop.evaluate(task.validation().subset(0, 100), task.metric()).metric < 0.95);
}

}  // namespace algoperf::testing::of_cifar10

#include <doctest/doctest.h>
#if __has_include(<zlib.h>)
#include <algoperf/algoperf.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <string>

#include "../support/data_path.hpp"

using namespace algoperf;

static_assert(Workload<Mnist> && Workload<MnistCnn>);

TEST_CASE("mnist: the labels of ResNet-8 and of the Vision Transformer are smoothed") {
  CHECK(MnistResNet{}.loss().label_smoothing == 0.1);
  CHECK(MnistVit{}.loss().label_smoothing == 0.1);
  CHECK(Mnist{}.loss().label_smoothing == 0);
}

TEST_CASE("mnist: a missing file is named, including in the loop") {
  const Mnist task{.data = "/nonexistent"};
  const char* const name = "/nonexistent/mnist/train-images-idx3-ubyte";
  CHECK_THROWS_WITH_AS(task.train(), doctest::Contains(name), Error);
  CHECK_THROWS_WITH_AS(Evaluate{task}, doctest::Contains(name), Error);
}

TEST_CASE("mnist: the splits") {
  const std::string folder = data_path("mnist");
  if (folder.empty()) return;
  const Mnist task{.data = folder + "/.."};
  CHECK(task.train().size() == 50000);
  CHECK(task.validation().size() == 10000);
  CHECK(task.test().size() == 10000);
  const auto labels = [](const auto& data, std::uint32_t i) {
    std::vector<float> image(784);
    std::int32_t label = 0;
    data.gather(&i, 1, image.data(), &label);
    return label;
  };
  const auto whole = task.train().whole();
  CHECK(labels(task.train(), 0) == 5);  // the labels of the first training and test images are 5 and 7
  CHECK(labels(task.test(), 0) == 7);
  CHECK(labels(task.validation(), 9999) == whole.labels()[59999]);
  CHECK(task.model().input().size() == task.train().shape().size());
  CHECK(task.target().value == 0.0215);
}
#endif

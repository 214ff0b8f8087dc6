#include <algoperf/workloads/cifar10.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> image_entries() {
  return with_baselines(algoperf::GlyphDigitsLinear{}, algoperf::MnistLinear{}, algoperf::GlyphDigits{},
                        algoperf::Mnist{}, algoperf::GlyphDigitsCnn{}, algoperf::MnistCnn{}, algoperf::Cifar10{});
}

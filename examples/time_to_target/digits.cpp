#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> digit_entries() {
  return with_baselines(algoperf::GlyphDigitsLinear{}, algoperf::MnistLinear{}, algoperf::GlyphDigits{},
                        algoperf::Mnist{}, algoperf::GlyphDigitsCnn{}, algoperf::MnistCnn{},
                        algoperf::GlyphDigitsResNet{}, algoperf::MnistResNet{}, algoperf::GlyphDigitsVit{},
                        algoperf::MnistVit{});
}

#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/mnist.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> cnn_entries() {
  return with_baselines(algoperf::GlyphDigitsCnn{}, algoperf::MnistCnn{});
}

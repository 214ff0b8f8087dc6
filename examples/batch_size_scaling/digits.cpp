#include "digits.hpp"

#include "workloads.hpp"

std::vector<BatchSizeEntry> digit_entries() {
  return with_submissions(
      FewValidated<algoperf::GlyphWorkload<DigitFc>>{}, FewValidated<algoperf::MnistWorkload<DigitFc>>{},
      FewValidated<algoperf::GlyphWorkload<DigitSmallCnn>>{}, FewValidated<algoperf::MnistWorkload<DigitSmallCnn>>{});
}

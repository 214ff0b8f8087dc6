#include <algoperf/workloads/digit_strings.hpp>
#include <algoperf/workloads/touch_tones.hpp>

#include "baselines.hpp"

std::vector<algoperf::StudyEntry> speech_entries() {
  return with_baselines(algoperf::DigitStrings{}, algoperf::DigitStringsConformer{}, algoperf::TouchToneStrings{},
                        algoperf::TouchToneStringsConformer{});
}

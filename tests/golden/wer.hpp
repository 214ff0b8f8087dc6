// Written by make_wer.py with jiwer 4.0.0.
#pragma once

namespace golden {

struct WerCase {
  const char *reference, *found;
  double rate;
};
inline const WerCase wer[] = {{"one two three", "one two three", 0},
                              {"one two three", "one too three", 0.33333333333333331},
                              {"nine", "nine nine six", 2},
                              {"seven zero zero four", "seven zero", 0.5},
                              {"five six", "six five", 1},
                              {"eight", "", 1},
                              {"three one four one five", "tree one one five five two", 0.80000000000000004}};
constexpr double wer_of_all = 0.63157894736842102;

}  // namespace golden

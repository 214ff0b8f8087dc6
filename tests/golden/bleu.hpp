// Written by make_bleu.py with sacrebleu 2.6.0.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace golden {

struct BleuCorpus {
  std::vector<std::string> translations, references;
  double bleu;
};
// A sentence, and its words joined by blanks.
inline const std::vector<std::pair<std::string, std::string>> bleu_words{
    {"It's 3.5, not 3,5: the U.S. (see 12-14) costs $5.",
     "It's 3.5 , not 3,5 : the U . S . ( see 12 - 14 ) costs $ 5 ."},
    {"A man, a plan - a canal. Panama!", "A man , a plan - a canal . Panama !"},
    {"co-operate at 10-11 p.m.", "co-operate at 10 - 11 p . m ."},
    {"&quot;Quoted&quot; &amp; &lt;tagged&gt; [x] {y} a/b", "\" Quoted \" & < tagged > [ x ] { y } a / b"},
    {"Größe über 1.000,5 km.", "Größe über 1.000,5 km ."},
    {"...,, 1., .2 ,", ". . . , , 1 . , . 2 ,"},
    {"", ""},
    {"über-\nall\nda", "überall da"},
    {"a_b ^c `d` ~e |f \\g", "a _ b ^ c ` d ` ~ e | f \\ g"},
    {"5-a 5--6 -7", "5 - a 5 - -6 -7"},
    {"x.,.y 3.,4", "x . , . y 3 . , 4"},
    {"tab\tand <skipped> more", "tab and more"}};
inline const std::vector<BleuCorpus> bleu_corpora{
    {{"the cat sat on the mat", "a dog runs"}, {"the cat is on the mat", "a dog runs fast today"}, 36.320110474269832},
    {{"the the the the the the the", "x"}, {"the cat is on the mat", "y"}, 7.5534384933919174},
    {{"two men are at the stove preparing food ."},
     {"two men are at the stove , preparing food ."},
     66.904844089359884},
    {{"a b c d e f", "g h"}, {"a b c d e f", "g h i j"}, 77.880078307140522},
    {{"a small cat"}, {"a small cat"}, 0},
    {{"one two four three", "five six"}, {"one two three four", "five seven"}, 33.780003870175868},
    {{"", "a man in a blue shirt stands on a ladder cleaning a window ."},
     {"nothing", "a man in a blue shirt is standing on a ladder cleaning a window ."},
     67.836861685266285},
    {{"completely different words here now"}, {"not one of them is in this sentence"}, 0}};

}  // namespace golden

"""Writes golden values of BLEU to bleu.hpp in this folder.

    python -m venv venv && venv/bin/pip install sacrebleu
    venv/bin/python tests/golden/make_bleu.py

The reference is sacrebleu with its defaults.
"""
from pathlib import Path

import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

SENTENCES = [
    "It's 3.5, not 3,5: the U.S. (see 12-14) costs $5.", "A man, a plan - a canal. Panama!", "co-operate at 10-11 p.m.",
    "&quot;Quoted&quot; &amp; &lt;tagged&gt; [x] {y} a/b", "Größe über 1.000,5 km.", "...,, 1., .2 ,", "", "über-\nall\nda",
    "a_b ^c `d` ~e |f \\g", "5-a 5--6 -7", "x.,.y 3.,4", "tab\tand <skipped> more",
]
CORPORA = [
    (["the cat sat on the mat", "a dog runs"], ["the cat is on the mat", "a dog runs fast today"]),
    (["the the the the the the the", "x"], ["the cat is on the mat", "y"]),
    (["two men are at the stove preparing food ."], ["two men are at the stove , preparing food ."]),
    (["a b c d e f", "g h"], ["a b c d e f", "g h i j"]),
    (["a small cat"], ["a small cat"]),
    (["one two four three", "five six"], ["one two three four", "five seven"]),
    (["", "a man in a blue shirt stands on a ladder cleaning a window ."],
     ["nothing", "a man in a blue shirt is standing on a ladder cleaning a window ."]),
    (["completely different words here now"], ["not one of them is in this sentence"]),
]


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def texts(values):
    return "{" + ", ".join(map(text, values)) + "}"


words = [f"{{{text(sentence)}, {text(Tokenizer13a()(sentence))}}}" for sentence in SENTENCES]
corpora = []
for ours, theirs in CORPORA:
    score = sacrebleu.corpus_bleu(ours, [theirs]).score
    corpora.append(f"{{{texts(ours)}, {texts(theirs)}, {score:.17g}}}")
Path(__file__).with_name("bleu.hpp").write_text(f"""// Written by make_bleu.py with sacrebleu {sacrebleu.__version__}.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace golden {{

struct BleuCorpus {{
  std::vector<std::string> translations, references;
  double bleu;
}};
// A sentence, and its words joined by blanks.
inline const std::vector<std::pair<std::string, std::string>> bleu_words{{{", ".join(words)}}};
inline const std::vector<BleuCorpus> bleu_corpora{{{", ".join(corpora)}}};

}}  // namespace golden
""")

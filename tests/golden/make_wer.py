"""Writes golden word error rates, jiwer's, to wer.hpp in this folder.

    python -m venv venv && venv/bin/pip install jiwer
    venv/bin/python tests/golden/make_wer.py

Each sentence is a reference and what was recognised. The last value is the rate of all sentences together.
"""
from importlib.metadata import version
from pathlib import Path

import jiwer

SENTENCES = [
    ("one two three", "one two three"),
    ("one two three", "one too three"),
    ("nine", "nine nine six"),
    ("seven zero zero four", "seven zero"),
    ("five six", "six five"),
    ("eight", ""),
    ("three one four one five", "tree one one five five two"),
]
references, hypotheses = zip(*SENTENCES)
rows = [f'{{"{a}", "{b}", {jiwer.wer(a, b):.17g}}}' for a, b in SENTENCES]

Path(__file__).with_name("wer.hpp").write_text(f"""// Written by make_wer.py with jiwer {version("jiwer")}.
#pragma once

namespace golden {{

struct WerCase {{
  const char *reference, *found;
  double rate;
}};
inline const WerCase wer[] = {{{", ".join(rows)}}};
constexpr double wer_of_all = {jiwer.wer(list(references), list(hypotheses)):.17g};

}}  // namespace golden
""")

"""Writes the golden values of subwords to subwords.hpp in this folder.

    python -m venv venv && venv/bin/pip install tokenizers
    venv/bin/python tests/golden/make_subwords.py

The reference is Hugging Face's BpeTrainer with a Metaspace pre-tokenizer.
"""
from pathlib import Path

import tokenizers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SIZE = 1000  # more than there are pairs
SENTENCES = [
    "the lower rows show the newest results", "a low tower stands below the old town", "aaaa aaa aa a banana bandana",
    "die längste Straße führt über die Brücke", "Zwei Männer grüßen einen älteren Mann .", "the theatre is there , they say",
    "über den Flüssen fließt nichts", "lower and slower , slower and lower", "ein Mann und eine Frau und ein Hund",
    "« où est-il ? » 東京 42 421 4242",
    # Once ķļ is a token, ĵķ occurs twice instead of five times.
    " ".join(["ĵķļ"] * 3 + ["ńĵķ"] * 2 + ["ķļ"] * 10),
]
TESTS = ["the lowest towers", "eine Straße über den Fluss", "aaaaaaa", "Ωmega x", "banana , bananas", "42424"]

tokenizer = Tokenizer(models.BPE(unk_token="<unknown>"))
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
tokenizer.decoder = decoders.Metaspace()
tokenizer.train_from_iterator(SENTENCES, trainers.BpeTrainer(
    vocab_size=SIZE, special_tokens=["<pad>", "<unknown>", "<begin>", "<end>"], show_progress=False))


def strings(values):
    return "{" + ", ".join('"' + value.replace('"', '\\"') + '"' for value in values) + "}"


names = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
tokens = ["{" + ", ".join(map(str, tokenizer.encode(text).ids)) + "}" for text in SENTENCES + TESTS]
Path(__file__).with_name("subwords.hpp").write_text(f"""// Written by make_subwords.py with tokenizers {tokenizers.__version__}.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace golden {{

inline const std::vector<std::string> subword_sentences{strings(SENTENCES)};
inline const std::vector<std::string> subword_tests{strings(TESTS)};
inline const std::vector<std::string> subword_names{strings(names)};
inline const std::vector<std::vector<std::int32_t>> subword_tokens{{  // of the sentences and the tests
    {", ".join(tokens)}}};

}}  // namespace golden
""")

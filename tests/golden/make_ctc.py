"""Writes golden values of connectionist temporal classification, torch's CTCLoss, to ctc.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_ctc.py

Class c of frame t of all examples, counted together, has the logit 2 sin(0.3 + 0.7 (CLASSES t + c)). Everything is
computed in double precision. The losses are not divided by the numbers of labels; the gradients are those of the sum of
the losses.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

CLASSES = 4
# (blank, [(frames, labels), ...]); among them repeated labels, as many frames as needed, one frame, and no labels.
CASES = [
    (0, [(7, [1, 2, 2]), (3, [3, 3]), (1, [2]), (5, []), (4, [1, 3]), (1, []), (9, [3, 2, 1, 1, 2])]),
    (3, [(6, [0, 1, 0]), (5, [2, 2, 2])]),
]


def text(values):
    return "{" + ", ".join(f"{x:.17g}" for x in values) + "}"


rows = []
for blank, examples in CASES:
    frames = sum(n for n, _ in examples)
    logits = (2 * torch.sin(0.3 + 0.7 * torch.arange(frames * CLASSES, dtype=torch.float64))).reshape(frames, CLASSES)
    logits.requires_grad_()
    losses, first = [], 0
    for n, labels in examples:
        log_probabilities = F.log_softmax(logits[first : first + n], 1)
        losses.append(F.ctc_loss(log_probabilities, torch.tensor(labels, dtype=torch.long), [n], [len(labels)], blank, "sum"))
        first += n
    sum(losses).backward()
    rows.append(f"{{{blank}, {{{', '.join(str(n) for n, _ in examples)}}}, "
                f"{{{', '.join(str(len(labels)) for _, labels in examples)}}}, "
                f"{{{', '.join(str(label) for _, labels in examples for label in labels)}}}, "
                f"{text([loss.item() for loss in losses])}, {text(logits.grad.flatten().tolist())}}}")

Path(__file__).with_name("ctc.hpp").write_text(f"""// Written by make_ctc.py with torch {torch.__version__.split("+")[0]}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace golden {{

// Of each example, the number of its frames and of its labels; the labels of all of them, the loss of each, and the
// gradient of the logits. make_ctc.py has the formula of the logits.
struct CtcCase {{
  std::size_t blank;
  std::vector<std::uint32_t> frames, lengths;
  std::vector<std::int32_t> labels;
  std::vector<double> losses, gradient;
}};
constexpr std::size_t ctc_classes = {CLASSES};

inline const CtcCase ctc[] = {{{", ".join(rows)}}};

}}  // namespace golden
""")

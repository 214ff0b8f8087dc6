"""Compares the training steps or the predictions of models (torch_networks.py) in PyTorch, eager and compiled, with the
library's (benchmarks/model_tasks.hpp). Images are in PyTorch's default layout and in channels_last. The library alternates in
another process. Prints ratios of PyTorch's time to the library's, as rows of the table of scripts/bench.sh.

    python python_models.py bench_turns [THREADS [MODELS [predict]]]

MODELS is a list separated by commas, or all.
"""
import sys

import torch

from torch_networks import IMAGES, TASKS, GraphNetwork, GraphPrediction, GraphTraining, Prediction, Training
from turns import Turns

PREDICT = sys.argv[4:] == ["predict"]
turns = Turns(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def row(what, batch, step, variant, goal):
    name = f"{what}, predictions" if PREDICT else what
    turns.row(f"predict:{what}" if PREDICT else what, batch, step, (name, variant), goal)


def work_of(model, inputs, labels, batch, compiled, loss):
    return Prediction(model, inputs, batch, compiled) if PREDICT else Training(model, inputs, labels, batch, compiled, loss)


CHOSEN = sys.argv[3].split(",") if len(sys.argv) > 3 and sys.argv[3] != "all" else [*TASKS, "gnn"]
for what in CHOSEN:
    for compiled in (False, True):
        variant = "compiled" if compiled else "eager"
        if what == "gnn":
            row(what, 128, (GraphPrediction if PREDICT else GraphTraining)(GraphNetwork(), 128, compiled), variant, 1)
            continue
        make, inputs, labels, batch, loss = TASKS[what]()
        bar = 1.3 if what in ("transformer", "lm", "lstm", "bert", "sibert") else 1
        if what not in IMAGES:
            row(what, batch, work_of(make(), inputs, labels, batch, compiled, loss), variant, bar)
            continue
        for order, layout in (("NCHW", torch.contiguous_format), ("channels_last", torch.channels_last)):
            placed = [x.to(memory_format=layout) for x in inputs]
            work = work_of(make().to(memory_format=layout), placed, labels, batch, compiled, loss)
            row(what, batch, work, f"{order}, {variant}", bar)
sys.exit(1 if turns.missed else 0)

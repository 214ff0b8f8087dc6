"""Compares the training steps or the predictions of models (torch_networks.py) in PyTorch, eager and compiled, with the
library's (benchmarks/model_tasks.hpp). Images are in PyTorch's default layout and in channels_last. The library alternates in
another process. Prints ratios of PyTorch's time to the library's, as rows of the table of scripts/bench.sh.

    python python_models.py bench_turns [THREADS [MODELS [predict]]]

On one thread, times are processor times; on more, elapsed times. MODELS is a list separated by commas, or all.
"""
import gc
import statistics
import subprocess
import sys
import time

import torch

from torch_networks import IMAGES, TASKS, GraphNetwork, GraphPrediction, GraphTraining, Prediction, Training

PROGRAM, THREADS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
PREDICT = sys.argv[4:] == ["predict"]
PAIRS, SAMPLE_SECONDS = 15, 0.3
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
torch.set_num_threads(THREADS)
torch.set_flush_denormal(True)

library = subprocess.Popen([PROGRAM, str(THREADS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def library_seconds(what, batch, steps):
    library.stdin.write(f"{'predict:' if PREDICT else ''}{what} {batch} {steps}\n")
    library.stdin.flush()
    return float(library.stdout.readline())


def seconds(step, steps):
    start = CLOCK()
    for _ in range(steps):
        step()
    return CLOCK() - start


def steps_for(measure):
    """Returns the number of steps that takes SAMPLE_SECONDS, after a warm-up."""
    measure(2)
    return max(1, round(SAMPLE_SECONDS / measure(1)))


missed = False


def row(what, batch, step, variant, goal):
    global missed
    gc.disable()
    ours, theirs = steps_for(lambda n: library_seconds(what, batch, n)), steps_for(lambda n: seconds(step, n))
    ratios = []
    for pair in range(PAIRS):
        if pair % 2:
            a, b = seconds(step, theirs) / theirs, library_seconds(what, batch, ours) / ours
        else:
            b, a = library_seconds(what, batch, ours) / ours, seconds(step, theirs) / theirs
        ratios.append(a / b)
    gc.enable()
    lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    verdict = "pass" if median >= goal else "MISS"
    missed = missed or verdict == "MISS"
    name = f"{what}{', predictions' if PREDICT else ''}, {THREADS} thread{'s' if THREADS > 1 else ''}: torch {torch.__version__}, {variant}"
    print(f"| {name:<66} | {f'median >= {goal:g}':<22} | {f'{median:.3f} [{lower:.3f}, {upper:.3f}]':<22} | {verdict:<4} |")
    sys.stdout.flush()


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
sys.exit(1 if missed else 0)

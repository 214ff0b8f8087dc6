"""Compares a training step of two convolutional networks (benchmarks/cnn_tasks.hpp) in PyTorch with the library's: with
images in PyTorch's default layout and in channels_last, eager and compiled. The library alternates in another process.
Prints ratios of PyTorch's time to the library's, as rows of the table of scripts/bench.sh.

    python python_cnn.py bench_turns [THREADS]

On one thread, times are processor times; on more, elapsed times.
"""
import gc
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

PROGRAM, THREADS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
EXAMPLES, BATCH, PAIRS, SAMPLE_SECONDS = 1024, 128, 11, 0.3
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
torch.set_num_threads(THREADS)
torch.set_flush_denormal(True)

library = subprocess.Popen([PROGRAM, str(THREADS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def library_seconds(what, steps):
    library.stdin.write(f"{what} {BATCH} {steps}\n")
    library.stdin.flush()
    return float(library.stdout.readline())


def seconds(step, steps):
    start = CLOCK()
    for _ in range(steps):
        step()
    return CLOCK() - start


class Add(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.inside = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.inside(x)


def simple_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))


def block(inputs, filters, size=3, stride=1):
    return nn.Conv2d(inputs, filters, size, stride, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU()


def residual_cnn():
    return nn.Sequential(
        *block(3, 32, 4, 2), *block(32, 64), nn.MaxPool2d(2), Add(*block(64, 64)), Add(*block(64, 64)),
        *block(64, 128), nn.MaxPool2d(2), Add(*block(128, 128)), Add(*block(128, 128)), nn.MaxPool2d(4),
        nn.Flatten(), nn.Linear(128, 10))


class Training:
    def __init__(self, model, shape, layout, compiled):
        self.inputs = torch.rand(EXAMPLES, *shape).to(memory_format=layout)
        self.labels = torch.randint(10, (EXAMPLES,))
        self.model, self.loss = model().to(memory_format=layout), nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.forward = torch.compile(self.whole) if compiled else self.whole
        self.at = EXAMPLES

    def whole(self, inputs, labels):
        return self.loss(self.model(inputs), labels)

    def __call__(self):
        if self.at + BATCH > EXAMPLES:
            self.order, self.at = torch.randperm(EXAMPLES), 0
        indices = self.order[self.at : self.at + BATCH]
        self.at += BATCH
        self.optimizer.zero_grad(set_to_none=True)
        self.forward(self.inputs[indices], self.labels[indices]).backward()
        self.optimizer.step()


def steps_for(measure):
    """Returns the number of steps that takes SAMPLE_SECONDS, after a warm-up."""
    measure(2)
    return max(1, round(SAMPLE_SECONDS / measure(1)))


missed = False


def row(what, model, shape, layout, compiled):
    global missed
    step = Training(model, shape, layout, compiled)
    gc.disable()
    ours, theirs = steps_for(lambda n: library_seconds(what, n)), steps_for(lambda n: seconds(step, n))
    ratios = []
    for pair in range(PAIRS):
        if pair % 2:
            a, b = seconds(step, theirs) / theirs, library_seconds(what, ours) / ours
        else:
            b, a = library_seconds(what, ours) / ours, seconds(step, theirs) / theirs
        ratios.append(a / b)
    gc.enable()
    lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    verdict = "pass" if median >= 1 else "MISS"
    missed = missed or verdict == "MISS"
    name = (f"{what}, {THREADS} thread{'s' if THREADS > 1 else ''}: torch {torch.__version__}, "
            f"{'channels_last' if layout == torch.channels_last else 'NCHW'}, {'compiled' if compiled else 'eager'}")
    print(f"| {name:<66} | {'median >= 1':<22} | {f'{median:.3f} [{lower:.3f}, {upper:.3f}]':<22} | {verdict:<4} |")
    sys.stdout.flush()


for what, model, shape in (("simple_cnn", simple_cnn, (1, 28, 28)), ("residual_cnn", residual_cnn, (3, 32, 32))):
    for layout in (torch.contiguous_format, torch.channels_last):
        for compiled in (False, True):
            row(what, model, shape, layout, compiled)
sys.exit(1 if missed else 0)

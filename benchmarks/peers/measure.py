"""Times a step and a memory stream of 12 bytes per parameter alternately, as library_steps.cpp does, and prints the
line that table.py reads: implementation,rule,case,parameters,bytes,ns,stream_ns,lower,median,upper."""
import gc
import itertools
import math
import statistics
import time

import torch

# The tensors of each case.
CASES = {
    "2^18": [(1 << 18,)],
    "10^7": [(10_000_000,)],
    "10^8": [(100_000_000,)],
    "300 tensors": [(64,), (1024,), (64, 64)] * 100,
}
IN_ALL_CASES = ("sgd", "momentum", "adam", "adamw", "clip + adamw", "lamb")


def cases(rule):
    """Returns the cases in which a rule is timed: name, shapes of the tensors, number of parameters."""
    names = CASES if rule in IN_ALL_CASES else ("2^18", "10^7")
    return [(name, CASES[name], sum(map(math.prod, CASES[name]))) for name in names]


def seconds(f, repetitions):
    """Returns the processor time of `repetitions` calls of f, summed over all threads of this process."""
    start = time.process_time()
    for _ in range(repetitions):
        f()
    return time.process_time() - start


def stream_of(n):
    """Returns a function that computes p += tiny g and cycles through at least 8 MiB."""
    parts = max(1, 2**20 // n)
    pairs = itertools.cycle([(torch.rand(n), torch.rand(n)) for _ in range(parts)])

    def stream():
        p, g = next(pairs)
        p.add_(g, alpha=1e-30)

    return stream


def line(implementation, rule, case, n, step, sample_seconds=0.005):
    pairs = 7 if n >= 100_000_000 else 15
    stream = stream_of(n)
    gc.disable()
    for _ in range(3):  # allocates state and compiles code
        step()
    seconds(stream, 1)
    repetitions = 1
    while seconds(stream, repetitions) < sample_seconds:
        repetitions *= 2
    steps, streams = [], []
    for pair in range(pairs):
        if pair % 2 == 0:
            steps.append(seconds(step, repetitions))
            streams.append(seconds(stream, repetitions))
        else:
            streams.append(seconds(stream, repetitions))
            steps.append(seconds(step, repetitions))
    gc.enable()
    lower, median, upper = statistics.quantiles((a / b for a, b in zip(steps, streams)), n=4, method="inclusive")
    ns, stream_ns = (1e9 * statistics.median(x) / (repetitions * n) for x in (steps, streams))
    print(f"{implementation},{rule},{case},{n},,{ns:.4f},{stream_ns:.4f},{lower:.4f},{median:.4f},{upper:.4f}", flush=True)

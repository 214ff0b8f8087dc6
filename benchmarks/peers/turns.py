"""Alternates between a step in PyTorch and a step of bench_turns, which runs in another process, and prints rows of the table of
scripts/bench.sh. On one thread, times are processor times; on more, elapsed times."""
import gc
import statistics
import subprocess
import sys
import time

import torch

PAIRS, SAMPLE_SECONDS = 15, 0.3


def seconds(step, steps, clock):
    start = clock()
    for _ in range(steps):
        step()
    return clock() - start


def steps_for(measure):
    """Returns the number of steps that takes SAMPLE_SECONDS, after a warm-up."""
    measure(2)
    return max(1, round(SAMPLE_SECONDS / measure(1)))


class Turns:
    """Compares steps with those of the program bench_turns. `missed` tells whether a ratio was below its goal."""

    def __init__(self, program, threads):
        self.threads, self.missed = threads, False
        self.clock = time.process_time if threads == 1 else time.perf_counter
        torch.set_num_threads(threads)
        torch.set_flush_denormal(True)
        self.library = subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def library_seconds(self, what, batch, steps):
        self.library.stdin.write(f"{what} {batch} {steps}\n")
        self.library.stdin.flush()
        return float(self.library.stdout.readline())

    def row(self, what, batch, step, name, goal):
        """Prints the median and the quartiles of the ratios of the step's time to that of bench_turns for `what`."""
        gc.disable()
        ours = steps_for(lambda n: self.library_seconds(what, batch, n))
        theirs = steps_for(lambda n: seconds(step, n, self.clock))
        ratios = []
        for pair in range(PAIRS):
            if pair % 2:
                a, b = seconds(step, theirs, self.clock) / theirs, self.library_seconds(what, batch, ours) / ours
            else:
                b, a = self.library_seconds(what, batch, ours) / ours, seconds(step, theirs, self.clock) / theirs
            ratios.append(a / b)
        gc.enable()
        lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
        verdict = "pass" if median >= goal else "MISS"
        self.missed = self.missed or verdict == "MISS"
        plural = "s" if self.threads > 1 else ""
        name = f"{name[0]}, {self.threads} thread{plural}: torch {torch.__version__}, {name[1]}"
        print(f"| {name:<66} | {f'median >= {goal:g}':<22} | {f'{median:.3f} [{lower:.3f}, {upper:.3f}]':<22} | {verdict:<4} |")
        sys.stdout.flush()

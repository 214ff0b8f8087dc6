"""Compares a training step of a decoder-only Transformer (LibraryTransformer in turns.hpp) in PyTorch, eager and compiled,
with the library's, which alternates in another process. Prints ratios of PyTorch's time to the library's, as rows of the
table of scripts/bench.sh.

    python python_transformer.py bench_turns [THREADS]

On one thread, times are processor times; on more, elapsed times.
"""
import gc
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

PROGRAM, THREADS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS = 256, 64, 128, 4, 4
EXAMPLES, BATCH, PAIRS, SAMPLE_SECONDS = 1024, 16, 15, 0.3
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
torch.set_num_threads(THREADS)
torch.set_flush_denormal(True)

library = subprocess.Popen([PROGRAM, str(THREADS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def library_seconds(steps):
    library.stdin.write(f"transformer {BATCH} {steps}\n")
    library.stdin.flush()
    return float(library.stdout.readline())


def seconds(step, steps):
    start = CLOCK()
    for _ in range(steps):
        step()
    return CLOCK() - start


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.qkv(self.norm_1(x)).split(WIDTH, -1)
        q, k, v = (part.view(-1, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.norm(self.blocks(self.embedding(tokens) + self.positions))
        return x @ self.embedding.weight.T


class Training:
    def __init__(self, compiled):
        text = torch.randint(VOCABULARY, (EXAMPLES * CONTEXT + 1,))
        self.tokens, self.labels = text[:-1].view(EXAMPLES, CONTEXT), text[1:].view(EXAMPLES, CONTEXT)
        self.model = Transformer()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.loss = torch.compile(self.whole) if compiled else self.whole
        self.at = EXAMPLES

    def whole(self, tokens, labels):
        return F.cross_entropy(self.model(tokens).view(-1, VOCABULARY), labels.view(-1))

    def __call__(self):
        if self.at + BATCH > EXAMPLES:
            self.order, self.at = torch.randperm(EXAMPLES), 0
        indices = self.order[self.at : self.at + BATCH]
        self.at += BATCH
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.tokens[indices], self.labels[indices]).backward()
        self.optimizer.step()


def steps_for(measure):
    """Returns the number of steps that takes SAMPLE_SECONDS, after a warm-up."""
    measure(2)
    return max(1, round(SAMPLE_SECONDS / measure(1)))


missed = False
for compiled in (False, True):
    step = Training(compiled)
    gc.disable()
    ours, theirs = steps_for(library_seconds), steps_for(lambda n: seconds(step, n))
    ratios = []
    for pair in range(PAIRS):
        if pair % 2:
            a, b = seconds(step, theirs) / theirs, library_seconds(ours) / ours
        else:
            b, a = library_seconds(ours) / ours, seconds(step, theirs) / theirs
        ratios.append(a / b)
    gc.enable()
    lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    verdict = "pass" if median >= 1.3 else "MISS"
    missed = missed or verdict == "MISS"
    name = (f"Transformer, {THREADS} thread{'s' if THREADS > 1 else ''}: torch {torch.__version__}, "
            f"{'compiled' if compiled else 'eager'}")
    print(f"| {name:<66} | {'median >= 1.3':<22} | {f'{median:.3f} [{lower:.3f}, {upper:.3f}]':<22} | {verdict:<4} |")
    sys.stdout.flush()
sys.exit(1 if missed else 0)

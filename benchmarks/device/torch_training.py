"""Times the training steps of training.cu in PyTorch: eager, with torch.compile, and as a CUDA graph. AdamW is fused.
Batches are gathered on the device from resident data, in a new order each epoch. Products use fp32, tf32, and
bfloat16 by autocast."""
import statistics
import time

import torch
from torch import nn

from torch_device import line, precise

EXAMPLES = 4096 * 12


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def cnn():
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 1024), nn.ReLU(), nn.Linear(1024, 10),
    )  # fmt: skip


class Training:
    def __init__(self, make, batch, precision, compiled):
        self.batch = batch
        self.mixed = precision == "bf16"
        self.inputs = torch.rand(EXAMPLES, 784, device="cuda")
        self.labels = torch.randint(10, (EXAMPLES,), device="cuda")
        self.indices = torch.zeros(batch, dtype=torch.int64, device="cuda")
        self.model = make().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True, capturable=True)
        self.loss = nn.CrossEntropyLoss()
        self.forward = torch.compile(self.whole) if compiled else self.whole
        self.at = EXAMPLES

    def whole(self, indices):
        # Without autocast's cache, because a graph would capture outdated copies of the weights.
        with torch.autocast("cuda", torch.bfloat16, enabled=self.mixed, cache_enabled=False):
            return self.loss(self.model(self.inputs[indices]), self.labels[indices])

    def next_indices(self):
        if self.at + self.batch > EXAMPLES:
            self.order, self.at = torch.randperm(EXAMPLES, device="cuda"), 0
        self.indices.copy_(self.order[self.at : self.at + self.batch])
        self.at += self.batch

    def work(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.forward(self.indices).backward()
        self.optimizer.step()

    def step(self):
        self.next_indices()
        self.work()


class Graphed(Training):
    def __init__(self, make, batch, precision):
        super().__init__(make, batch, precision, compiled=False)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.next_indices()
                super().work()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.forward(self.indices).backward()
            self.optimizer.step()

    def work(self):
        self.graph.replay()


def seconds(training):
    every = 50 if training.batch < 1000 else 10
    times = []
    for t in range(12 * every):
        training.step()
        if (t + 1) % every == 0:
            torch.cuda.synchronize()
            times.append(time.perf_counter())
    return statistics.median((b - a) / every for a, b in zip(times[1:], times[2:]))


def main():
    sides = {
        "torch eager": lambda *what: Training(*what, compiled=False),
        "torch graph": Graphed,
        "torch.compile": lambda *what: Training(*what, compiled=True),
    }
    for column, side in sides.items():  # compilation takes longest, so it comes last
        for precision in ("fp32", "tf32", "bf16"):
            precise(precision == "tf32")
            for name, make in (("MLP", mlp), ("CNN", cnn)):
                for batch in (128, 4096):
                    try:
                        taken = seconds(side(make, batch, precision))
                    except Exception as error:  # a failure of one side must not lose the rows of the others
                        print(f"# {column}, {name}, batch {batch}: {type(error).__name__}: {str(error)[:200]!r}")
                        continue
                    suffix = "" if precision == "fp32" else f", {precision}"
                    line("training", f"{name}, batch {batch}", column + suffix, taken)


if __name__ == "__main__":
    main()

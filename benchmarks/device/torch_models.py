"""Times the training steps of models.cu in PyTorch, eager and, where batches have one size, as a CUDA graph. AdamW is
fused. Products and convolutions use fp32, and bfloat16 by autocast. Images are in both layouts, and the faster counts."""
import pathlib
import statistics
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
from torch_networks import IMAGES, TASKS, GraphNetwork, GraphTraining, Training  # noqa: E402

from torch_device import line, precise  # noqa: E402


class Graphed(Training):
    """Replays a graph of a step, after copying the next batch's indices to the memory from which the graph reads."""

    def __init__(self, model, inputs, labels, batch, loss):
        super().__init__(model, inputs, labels, batch, compiled=False, loss=loss)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True, capturable=True)
        self.indices = torch.zeros(batch, dtype=torch.int64)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.work()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.work()

    def work(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.labels[self.indices], *(x[self.indices] for x in self.inputs)).backward()
        self.optimizer.step()

    def __call__(self):
        if self.at + self.batch > len(self.labels):
            self.order, self.at = torch.randperm(len(self.labels)), 0
        self.indices.copy_(self.order[self.at : self.at + self.batch])
        self.at += self.batch
        self.graph.replay()


class Mixed(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        # Without autocast's cache, because a graph would capture outdated copies of the weights.
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            return self.model(*inputs).float()


def seconds(step):
    for _ in range(10):
        step()
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / 20)
    return statistics.median(times)


def measure(row, column, makes):
    """Prints the least time of the steps that the functions of `makes` return."""
    try:
        line("models", row, column, min(seconds(make()) for make in makes))
    except Exception as error:  # a failure of one side must not lose the rows of the others
        print(f"# {column}, {row}: {type(error).__name__}: {str(error)[:200]!r}")


def main():
    precise(tf32=False)
    torch.set_default_device("cuda")
    for precision in ("fp32", "bf16"):
        wrap = Mixed if precision == "bf16" else lambda model: model
        for what, task in TASKS.items():
            make, inputs, labels, batch, loss = task()
            layouts = (torch.contiguous_format, torch.channels_last) if what in IMAGES else (None,)

            def steps(side, layout, **options):
                model, placed = make(), inputs
                if layout:
                    model, placed = model.to(memory_format=layout), [x.to(memory_format=layout) for x in inputs]
                return side(wrap(model), placed, labels, batch, loss=loss, **options)

            row = f"{what}, batch {batch}"
            measure(row, f"torch eager, {precision}",
                    [lambda layout=layout: steps(Training, layout, compiled=False) for layout in layouts])  # fmt: skip
            measure(row, f"torch graph, {precision}",
                    [lambda layout=layout: steps(Graphed, layout) for layout in layouts])  # fmt: skip
        measure("gnn, batch 128", f"torch eager, {precision}",
                [lambda: GraphTraining(wrap(GraphNetwork()), 128, False)])  # fmt: skip


if __name__ == "__main__":
    main()

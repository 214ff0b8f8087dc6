"""Times the matrix rules of ../peers/torch_matrix_steps.py, including torch.optim.Muon, on a device like
matrix_rules.cu."""
import pathlib
import statistics
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
import torch_matrix_steps as peers  # noqa: E402

from torch_device import line, precise  # noqa: E402

PERIODS = {"muon": (20, 9), "soap": (10, 5)}


@torch.no_grad()
def main():
    precise(tf32=False)
    torch.set_default_device("cuda")
    for implementation, name, make, *_ in peers.RULES:
        period, samples = PERIODS.get(name, (20, 3))
        for shape in peers.SHAPES:
            gradients = [torch.rand(shape) - 0.5 for _ in range(4)]
            rule = make(torch.rand(shape) - 0.5)
            rule.step(gradients[0])
            all_seconds = []
            for _ in range(samples):
                torch.cuda.synchronize()
                start = time.perf_counter()
                for t in range(period):
                    rule.step(gradients[t % 4])
                torch.cuda.synchronize()
                all_seconds.append((time.perf_counter() - start) / period)
            line("matrix", f"{name}, {shape[0]} x {shape[1]}", implementation, statistics.median(all_seconds))


if __name__ == "__main__":
    main()

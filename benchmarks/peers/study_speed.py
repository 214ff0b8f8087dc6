"""Times the study of study_speed.cpp in PyTorch under joblib, two jobs of one thread each. Workers have imported PyTorch
and read the data before the clock starts. Writes the seconds into FOLDER/seconds.
usage: study_speed.py FOLDER STEPS"""
import math
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import numpy
import torch
from joblib import Parallel, delayed
from torch import nn

JOBS, STUDIES, TRIALS, BATCH = 2, 3, 5, 128
SUBMISSIONS = ["adamw", "nadamw", "adafactor", "heavy_ball", "nesterov"]
WORKLOADS = ["linear", "mlp"]
DATA = {}


def data(folder):
    if not DATA:
        torch.set_num_threads(1)
        inputs = torch.from_numpy(numpy.fromfile(folder + "/inputs", numpy.float32).reshape(-1, 784))
        labels = torch.from_numpy(numpy.fromfile(folder + "/labels", numpy.int32).astype(numpy.int64))
        DATA["train"] = inputs[:50000], labels[:50000]
        DATA["validation"] = inputs[50000:60000], labels[50000:60000]
    return DATA


def network(workload):
    if workload == "linear":
        return nn.Linear(784, 10)
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def optimizer(submission, parameters):
    return {
        "adamw": lambda: torch.optim.AdamW(parameters, weight_decay=0.1, fused=True),
        "nadamw": lambda: torch.optim.NAdam(parameters, weight_decay=0.1, decoupled_weight_decay=True),
        "adafactor": lambda: torch.optim.Adafactor(parameters, weight_decay=0.1),
        "heavy_ball": lambda: torch.optim.SGD(parameters, momentum=0.9, weight_decay=1e-6, fused=True),
        "nesterov": lambda: torch.optim.SGD(parameters, momentum=0.9, nesterov=True, weight_decay=1e-6, fused=True),
    }[submission]()


def trial(folder, workload, submission, steps, seed):
    """Trains for `steps` steps with evaluations as often as the study's, and returns the last validation error."""
    torch.manual_seed(seed)
    inputs, labels = data(folder)["train"]
    held_inputs, held_labels = data(folder)["validation"]
    model, loss = network(workload), nn.CrossEntropyLoss()
    rule = optimizer(submission, model.parameters())
    peak, warmup, every, used, error = 1e-3, steps // 20, steps // 25 + 1, len(labels), 1.0
    for step in range(1, steps + 1):
        if used + BATCH > len(labels):
            order, used = torch.randperm(len(labels)), 0
        batch = order[used : used + BATCH]
        used += BATCH
        rate = peak * step / warmup if step < warmup else peak * 0.5 * (1 + math.cos(math.pi * step / steps))
        rule.param_groups[0]["lr"] = rate
        rule.zero_grad(set_to_none=True)
        loss(model(inputs[batch]), labels[batch]).backward()
        rule.step()
        if step == 1 or step % every == 0 or step == steps:
            with torch.no_grad():
                wrong = sum(
                    (model(held_inputs[i : i + 1000]).argmax(1) != held_labels[i : i + 1000]).sum().item()
                    for i in range(0, len(held_labels), 1000)
                )
            error = wrong / len(held_labels)
    return error


def main():
    folder, steps = sys.argv[1], int(sys.argv[2])
    cells = [(w, s, seed) for w in WORKLOADS for s in SUBMISSIONS for seed in range(STUDIES * TRIALS)]
    with Parallel(n_jobs=JOBS) as parallel:
        parallel(delayed(trial)(folder, w, s, 5, 0) for w in WORKLOADS for s in SUBMISSIONS for _ in range(JOBS))
        start = time.perf_counter()
        errors = parallel(delayed(trial)(folder, w, s, steps, seed) for w, s, seed in cells)
        seconds = time.perf_counter() - start
    if not all(error < 0.9 for error in errors):
        sys.exit("study_speed.py: a trial did not learn")
    with open(folder + "/seconds", "w") as file:
        file.write(f"{seconds}\n")


if __name__ == "__main__":
    main()

"""Trains a small CNN on MNIST with PyTorch and writes its two convolutions to body.safetensors in this folder.

    python -m venv venv && venv/bin/pip install torch safetensors numpy
    venv/bin/python examples/fine_tune/make_body.py FOLDER        # with the four IDX files of MNIST, gzipped
"""
import gzip
import sys
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file
from torch import nn

FOLDER = Path(sys.argv[1])


def read(name, header):
    return numpy.frombuffer(gzip.decompress((FOLDER / f"{name}.gz").read_bytes()), numpy.uint8, offset=header)


images = torch.tensor(read("train-images-idx3-ubyte", 16)).reshape(-1, 1, 28, 28) / 255
labels = torch.tensor(read("train-labels-idx1-ubyte", 8)).long()
torch.manual_seed(1)
torch.set_num_threads(1)
network = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(784, 10))
optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
for epoch in range(2):
    for batch in torch.randperm(len(labels)).split(128):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(images[batch]), labels[batch]).backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: training error {(network(images[:10000]).argmax(1) != labels[:10000]).float().mean():.4f}")
body = {name: values.contiguous() for name, values in network.state_dict().items() if not name.startswith("7.")}
save_file(body, Path(__file__).with_name("body.safetensors"), metadata={"format": "pt"})

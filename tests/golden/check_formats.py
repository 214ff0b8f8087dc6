"""Reads what examples/10_formats.cpp wrote to the folder named as argument, and comes to the same outputs with PyTorch
and with JAX. Needs torch, jax and safetensors. What it printed stands in docs/formats.md."""
import sys

import jax
import numpy
import safetensors
import safetensors.flax
import safetensors.torch
import torch

folder = sys.argv[1]
examples = numpy.load(f"{folder}/examples.npz")
x, expected = examples["inputs"], examples["outputs"]
scale = abs(expected).max()

values = safetensors.torch.load_file(f"{folder}/values.safetensors")
model = torch.nn.Sequential(
    torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)
)
model.load_state_dict(values)  # strict: the names and shapes are torch's own
difference = abs(model(torch.from_numpy(x)).detach().numpy() - expected).max() / scale
print(f"torch {torch.__version__}: {len(values)} tensors, outputs differ by {difference:.1e} of the largest")
assert difference < 1e-5

values = safetensors.flax.load_file(f"{folder}/values.safetensors")
y = x
for layer in (0, 2, 4):
    y = y @ values[f"{layer}.weight"].T + values[f"{layer}.bias"]
    y = jax.nn.relu(y) if layer < 4 else y
difference = abs(y - expected).max() / scale
print(f"jax {jax.__version__}: {len(values)} tensors, outputs differ by {difference:.1e} of the largest")
assert difference < 1e-5
print(f"safetensors {safetensors.__version__}, numpy {numpy.__version__}: read")

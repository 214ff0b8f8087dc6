"""Writes the test files of tests/golden/formats with NumPy and PyTorch. Requires torch and safetensors."""
import os

import numpy
import torch
from safetensors.torch import save_file

folder = os.path.join(os.path.dirname(__file__), "formats")
os.makedirs(folder, exist_ok=True)
weight = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
arrays = {"0.weight": weight, "step": numpy.int64(12), "flags": numpy.array([True, False])}
numpy.save(f"{folder}/numpy.npy", weight)
cube = numpy.arange(24, dtype=numpy.int16).reshape(2, 3, 4)
numpy.save(f"{folder}/columns_first.npy", numpy.asfortranarray(weight))
numpy.save(f"{folder}/columns_first_cube.npy", cube.T)
numpy.savez_compressed(f"{folder}/columns_first.npz", transposed=weight.T, vector=numpy.asfortranarray(weight[0]))
numpy.save(f"{folder}/bool.npy", numpy.array([[True, False], [False, True]]))
numpy.savez(f"{folder}/numpy.npz", **arrays)
numpy.savez_compressed(f"{folder}/numpy_compressed.npz", **arrays)
tensors = {
    "weight": torch.from_numpy(weight),
    "brain": torch.tensor([1.5, -0.75], dtype=torch.bfloat16),
    "half": torch.tensor([0.5], dtype=torch.float16),
    "step": torch.tensor(12),
    "flags": torch.tensor([True, False]),
}
save_file(tensors, f"{folder}/torch.safetensors", metadata={"format": "pt"})
narrow = {
    "eighth": torch.tensor([1.5, -0.75]).to(torch.float8_e4m3fn),
    "other": torch.tensor([[1.5], [2]]).to(torch.float8_e5m2),
    "complex": torch.tensor([1 + 2j], dtype=torch.complex64),
    "single": torch.tensor([3.0]),
}
save_file(narrow, f"{folder}/torch_float8.safetensors")

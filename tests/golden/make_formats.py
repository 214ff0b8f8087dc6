"""Makes tests/golden/formats: files as NumPy and PyTorch write them. Needs torch and safetensors."""
import os

import numpy
import torch
from safetensors.torch import save_file

folder = os.path.join(os.path.dirname(__file__), "formats")
os.makedirs(folder, exist_ok=True)
weight = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
arrays = {"0.weight": weight, "step": numpy.int64(12), "flags": numpy.array([True, False])}
numpy.save(f"{folder}/numpy.npy", weight)
numpy.save(f"{folder}/columns_first.npy", numpy.asfortranarray(weight))
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

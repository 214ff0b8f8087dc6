"""Reads the files that examples/10_formats.cpp wrote to the folder given as the argument. Checks that PyTorch and JAX
compute the same outputs, and continues training with torch.optim.AdamW and optax.adamw. Writes
torch_state.safetensors, torch_cnn.safetensors and torch_cnn_outputs.npz, which `10_formats folder back` reads. Requires
torch, jax, optax and safetensors. docs/formats.md quotes the output of this script."""
import re
import sys
from pathlib import Path

import jax
import numpy
import optax
import safetensors
import safetensors.flax
import safetensors.numpy
import safetensors.torch
import torch

folder = sys.argv[1]
examples = numpy.load(f"{folder}/examples.npz")
x, labels, expected = examples["inputs"], examples["labels"], examples["outputs"]

# Defines to_torch and from_torch, with the code in the document.
document = (Path(__file__).parents[2] / "docs/formats.md").read_text()
exec(re.search(r"```python\n(.*?)```", document, re.DOTALL)[1])


def difference(theirs, ours):
    """Returns the largest absolute difference divided by the largest absolute value of `ours`."""
    return float(abs(numpy.asarray(theirs) - ours).max() / abs(ours).max())


def largest_difference(theirs, ours):
    assert theirs.keys() == ours.keys()
    return max(difference(theirs[name], ours[name]) for name in ours)


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)
    )


def numbers_of(model):
    return {name: p.detach().numpy().copy() for name, p in model.state_dict().items()}


# The parameters of an MLP, whose names and shapes are the same in torch.
values = safetensors.torch.load_file(f"{folder}/values.safetensors")
model = mlp()
model.load_state_dict(values)  # strict
found = difference(model(torch.from_numpy(x)).detach(), expected)
print(f"torch {torch.__version__}: {len(values)} tensors, outputs differ by {found:.1e} of the largest")
assert found < 1e-5


def logits(values, x):
    for layer in (0, 2, 4):
        x = x @ values[f"{layer}.weight"].T + values[f"{layer}.bias"]
        x = jax.nn.relu(x) if layer < 4 else x
    return x


values = safetensors.flax.load_file(f"{folder}/values.safetensors")
found = difference(logits(values, x), expected)
print(f"jax {jax.__version__}: {len(values)} tensors, outputs differ by {found:.1e} of the largest")
assert found < 1e-5

# The state of a rule: ten AdamW steps on the batch, after step 20 and up to step 30.
state = safetensors.numpy.load_file(f"{folder}/state.safetensors")
later = safetensors.numpy.load_file(f"{folder}/ten_steps_later.safetensors")
rate, steps = float(state["learning_rate"]), int(state["rule/t"])
start = {name: state[f"values/{name}"] for name in later}


def ten_steps_of_torch(with_state):
    model = mlp()
    model.load_state_dict({name: torch.from_numpy(p.copy()) for name, p in start.items()})
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01)
    if with_state:
        slots = {
            i: {slot: torch.from_numpy(state[f"rule/{name}/{slot}"].copy()) for slot in ("exp_avg", "exp_avg_sq")}
            | {"step": torch.tensor(float(steps))}
            for i, (name, _) in enumerate(model.named_parameters())
        }
        optimizer.load_state_dict({"state": slots, "param_groups": optimizer.state_dict()["param_groups"]})
    for _ in range(10):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(labels).long()).backward()
        optimizer.step()
    return model, optimizer


model, optimizer = ten_steps_of_torch(with_state=True)
found = largest_difference(numbers_of(model), later)
without = largest_difference(numbers_of(ten_steps_of_torch(with_state=False)[0]), later)
print(
    f"torch.optim.AdamW: ten steps from our state, parameters differ by {found:.1e} of the largest"
    f" ({without:.1e} without the state)"
)
assert found < 1e-4 and without > 1e-2

# In the other direction: the complete state of a loop after 30 steps.
result = dict(state)
for i, (name, p) in enumerate(model.named_parameters()):
    result[f"values/{name}"] = p.detach().numpy()
    for slot in ("exp_avg", "exp_avg_sq"):
        result[f"rule/{name}/{slot}"] = optimizer.state_dict()["state"][i][slot].numpy()
result["step"] = result["rule/t"] = numpy.array(steps + 10, numpy.uint64)
safetensors.numpy.save_file(result, f"{folder}/torch_state.safetensors")


def loss(values):
    return optax.softmax_cross_entropy_with_integer_labels(logits(values, x), labels).mean()


rule = optax.adamw(rate, weight_decay=0.01)
values = {name: jax.numpy.asarray(p) for name, p in start.items()}
adam, *rest = rule.init(values)
adam = adam._replace(
    count=jax.numpy.asarray(steps, adam.count.dtype),
    mu={name: jax.numpy.asarray(state[f"rule/{name}/exp_avg"]) for name in start},
    nu={name: jax.numpy.asarray(state[f"rule/{name}/exp_avg_sq"]) for name in start},
)
optax_state = (adam, *rest)
for _ in range(10):
    updates, optax_state = rule.update(jax.grad(loss)(values), optax_state, values)
    values = optax.apply_updates(values, updates)
found = largest_difference(values, later)
print(f"optax {optax.__version__} adamw: ten steps from our state, parameters differ by {found:.1e} of the largest")
assert found < 1e-4


# A CNN with batch norm, whose tensors have other names and another order of axes in torch.
def cnn():
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 5, padding=2), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(392, 10),
    ).eval()


flattened = {"9.weight": (7, 7, 8)}
images = torch.from_numpy(x.reshape(-1, 28, 28, 1).transpose(0, 3, 1, 2).copy())
values = safetensors.numpy.load_file(f"{folder}/cnn.safetensors")
theirs = to_torch(values, flattened)
model = cnn()
model.load_state_dict({name: torch.as_tensor(p) for name, p in theirs.items()})  # strict
found = difference(model(images).detach(), examples["cnn_outputs"])
print(f"torch, CNN with batch norm: {len(values)} tensors, outputs differ by {found:.1e} of the largest")
assert found < 1e-5
there_and_back = from_torch(theirs, flattened)
assert there_and_back.keys() == values.keys() and all((there_and_back[name] == values[name]).all() for name in values)

# In the other direction: a CNN created by torch, including its batch-norm statistics.
torch.manual_seed(1)
model = cnn().train()
model(3 * images + 1)
model.eval()
safetensors.numpy.save_file(from_torch(numbers_of(model), flattened), f"{folder}/torch_cnn.safetensors")
numpy.savez(f"{folder}/torch_cnn_outputs.npz", outputs=model(images).detach().numpy())
print(f"safetensors {safetensors.__version__}, numpy {numpy.__version__}: read and written")

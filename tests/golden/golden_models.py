"""Functions shared by the scripts that write golden values of models, such as make_resnet.py and make_unet.py.

The reference is torch in double precision. Element i of tensor k, counted from 0 in the order of declaration, starts as
0.4 sin(1 + 0.7 k + 1.3 i), and 1 more if it is a norm's scale.
"""
import torch

torch.set_default_dtype(torch.float64)


def parameters(shapes):
    """Returns the parameters by name, with their first values."""
    p = {}
    for k, (name, shape) in enumerate(shapes.items()):
        values = 0.4 * torch.sin(1 + 0.7 * k + 1.3 * torch.arange(torch.Size(shape).numel()))
        p[name] = (values + name.endswith("scale")).reshape(shape).requires_grad_()
    return p


def text(values):
    return "{" + ", ".join(f"{x:.17g}" for x in values.flatten().tolist()) + "}"


def model(name, p, loss, outputs, buffers={}):
    """Takes three steps of AdamW and returns the C++ definition of a golden::Model of this name: the losses, the first gradient, the values
    after the steps, also those of buffers, and the outputs in evaluation after the steps."""
    optimizer = torch.optim.AdamW(list(p.values()), lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
    losses, gradients = [], {}
    for _ in range(3):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        losses.append(value.item())
        gradients = gradients or {tensor: values.grad.clone() for tensor, values in p.items()}
        optimizer.step()
    rows = [f'{{"{tensor}", {text(gradients[tensor])}, {text(values)}}}' for tensor, values in p.items()]
    rows += [f'{{"{tensor}", {{}}, {text(values)}}}' for tensor, values in buffers.items()]
    with torch.no_grad():
        values = text(outputs())
    return f"inline const Model {name}{{{text(torch.tensor(losses))}, {{{', '.join(rows)}}}, {values}}};\n"


def write(path, script, definitions):
    path.write_text(f"""// Written by {script} with torch {torch.__version__.split("+")[0]}.
#pragma once

#include "golden_model.hpp"

namespace golden {{

{definitions}
}}  // namespace golden
""")

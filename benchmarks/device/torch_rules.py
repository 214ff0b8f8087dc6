"""Times PyTorch's optimizers, fused and foreach, on the tensors of rules.cu."""
import torch

from torch_device import line, seconds

SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
RULES = {
    "sgd": (SGD, {}),
    "momentum": (SGD, {"momentum": 0.9}),
    "adam": (ADAM, {}),
    "adamw": (ADAMW, {}),
    "clip + adamw": (ADAMW, {}),
}
TENSORS = {
    "one tensor of 2^24": [(4096, 4096)],
    "300 tensors": [(64,), (1024,), (4096,), (256, 256), (512, 512), (1024, 1024)] * 50,
}


def main():
    for rule, (make, options) in RULES.items():
        for name, shapes in TENSORS.items():
            for variant in ("fused", "foreach"):
                parameters = [torch.nn.Parameter(torch.full(shape, 0.1, device="cuda")) for shape in shapes]
                for parameter in parameters:
                    parameter.grad = torch.full_like(parameter, 1e-3)
                optimizer = make(parameters, lr=1e-6, **options, **{variant: True})

                def step():
                    if rule.startswith("clip"):
                        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
                    optimizer.step()

                line("beside", f"{rule}, {name}", f"torch {variant}", seconds(step))


if __name__ == "__main__":
    main()

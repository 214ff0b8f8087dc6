"""Times PyTorch's optimizers on one thread: for-loop, foreach, and fused where PyTorch supports it on
the CPU. Prints the lines of measure.py."""
import torch

import measure

SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
RULES = {
    "sgd": (SGD, {}, True),
    "momentum": (SGD, {"momentum": 0.9}, True),
    "nesterov": (SGD, {"momentum": 0.9, "nesterov": True}, True),
    "adam": (ADAM, {}, True),
    "adamw": (ADAMW, {}, True),
    "clip + adamw": (ADAMW, {}, True),
    "nadam": (torch.optim.NAdam, {}, False),
    "nadamw": (torch.optim.NAdam, {"weight_decay": 0.01, "decoupled_weight_decay": True}, False),
    "radam": (torch.optim.RAdam, {}, False),
    "amsgrad": (ADAMW, {"amsgrad": True, "weight_decay": 0}, True),
    "adagrad": (torch.optim.Adagrad, {}, True),
    "rmsprop": (torch.optim.RMSprop, {}, False),
    "centered rmsprop + momentum": (torch.optim.RMSprop, {"centered": True, "momentum": 0.9}, False),
}
VARIANTS = {"torch for-loop": {"foreach": False}, "torch foreach": {"foreach": True}, "torch fused": {"fused": True}}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"# torch {torch.__version__}")
    for rule, (make, options, has_fused) in RULES.items():
        for case, shapes, n in measure.cases(rule):
            for name, variant in VARIANTS.items():
                if variant == {"fused": True} and not has_fused:
                    continue
                parameters = [torch.nn.Parameter(torch.rand(shape) - 0.5) for shape in shapes]
                for parameter in parameters:
                    parameter.grad = torch.rand(parameter.shape) - 0.5
                optimizer = make(parameters, lr=1e-4, **options, **variant)

                def step():
                    if rule.startswith("clip"):
                        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=variant.get("foreach"))
                    optimizer.step()

                measure.line(name, rule, case, n, step)


if __name__ == "__main__":
    main()

"""Prints the table of README.md's section on speed from tables that scripts/bench.sh --peers saved: for each step, the
time of the fastest other implementation divided by the library's, and its name. Rows in which the library is slower come
first, and their values are bold.

    python summary.py "AMD EPYC=FILE[,FILE...]" "Intel Xeon=FILE[,FILE...]"

A value of a later file replaces that of an earlier one.
"""
import re
import sys

MODELS = {
    "simple_cnn": "simple CNN, 28 x 28 x 1, batch 128",
    "residual_cnn": "residual CNN, 32 x 32 x 3, batch 128",
    "resnet8": "ResNet-8, 32 x 32 x 3, batch 128",
    "vit": "Vision Transformer, batch 128",
    "dlrm": "DLRM, batch 128",
    "gnn": "graph network, batch 128",
    "transformer": "Transformer, batch 16",
    "lm": "rotary Transformer, batch 32",
    "lstm": "LSTM, batch 32",
}
ROW = re.compile(r"\| (.+?) +\| .*?\| ([0-9.]+)[^|]*\|")
PATTERNS = (
    (re.compile(r"training step, batch (\d+): (.+)"), lambda m: (f"MLP 784-256-256-10, batch {m[1]}", m[2])),
    (re.compile(r"AdamW step, 1(0{7,}) parameters: (.+)"), lambda m: (f"AdamW, 10^{len(m[1])} parameters", m[2])),
    (
        re.compile(r"(\w+), (\d) threads?: (.+)"),
        lambda m: (MODELS.get(m[1], m[1]) + ("" if m[2] == "1" else f", {m[2]} threads"), m[3]),
    ),
)


def read(files):
    """Returns {step: {implementation: ratio}}."""
    steps = {}
    for file in files:
        for line in open(file):
            found = ROW.match(line)
            if not found:
                continue
            name, ratio = found[1], float(found[2])
            if name.startswith("geometric mean of the ratios to the fastest"):
                steps["matrix products, geometric mean over shapes"] = {"Eigen, oneDNN, OpenBLAS, MKL": 1 / ratio}
            for pattern, key in PATTERNS:
                match = pattern.fullmatch(name)
                if match and "ours " not in name:
                    step, other = key(match)
                    # Without versions: "torch 2.15.0+cu132, eager" becomes "PyTorch, eager".
                    other = re.sub(r"^(\w+) [0-9.]+(\+\w+)?", r"\1", other).replace("compiled", "torch.compile")
                    other = re.sub("^torch,", "PyTorch,", other)
                    steps.setdefault(step, {})[other] = ratio
    return steps


def cell(ratios):
    if not ratios:
        return ""
    fastest = min(ratios, key=ratios.get)
    value = f"{ratios[fastest]:.2f}"
    return (f"**{value}**" if ratios[fastest] < 1 else value) + f" {fastest}"


def main():
    processors = {}
    for argument in sys.argv[1:]:
        name, files = argument.split("=")
        processors[name] = read(files.split(","))
    steps = list(dict.fromkeys(step for steps in processors.values() for step in steps))
    bases = list(dict.fromkeys(re.sub(r", \d threads$", "", step) for step in steps))
    wins = {step: min(min(each[step].values()) for each in processors.values() if step in each) >= 1 for step in steps}
    steps.sort(key=lambda step: (wins[step], bases.index(re.sub(r", \d threads$", "", step))))
    print("| | " + " | ".join(processors) + " |")
    print("| --- |" + " --- |" * len(processors))
    for step in steps:
        print(f"| {step} | " + " | ".join(cell(steps.get(step)) for steps in processors.values()) + " |")


if __name__ == "__main__":
    main()

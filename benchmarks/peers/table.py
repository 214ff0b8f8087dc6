"""Joins the lines of library_steps.cpp, torch_steps.py and optax_steps.py into Markdown tables. The arguments are
files of lines. Cells are the time per byte of an implementation as a multiple of that of the stream measured with it
and, in brackets, nanoseconds per parameter. The bytes are the minimum that the rule must move, for every
implementation."""
import sys

COLUMNS = ("ours", "torch for-loop", "torch foreach", "torch fused", "optax", "whole-array")
STREAM_BYTES = 12


def read(files):
    """Returns {(rule, case): bytes}, {(rule, case, implementation): cell}, {(case, implementation): stream's ns},
    {case: parameters} and the versions."""
    needed, cells, streams, parameters, versions = {}, {}, {}, {}, []
    rows = []
    for file in files:
        with open(file) as lines:
            for text in map(str.strip, lines):
                if text.startswith("#"):
                    versions.append(text[1:].strip())
                elif text:
                    rows.append(text.split(","))
    for implementation, rule, case, n, size, ns, stream_ns, *_ in rows:
        streams.setdefault((case, implementation), []).append(float(stream_ns))
        parameters[case] = int(n)
        if size:
            needed[rule, case] = int(size)
    for implementation, rule, case, _, _, ns, _, _, median, _ in rows:
        ratio = float(median) * STREAM_BYTES / needed[rule, case]
        cells[rule, case, implementation] = f"{ratio:.2f} ({float(ns):.2f})"
    return needed, cells, streams, parameters, versions


def main():
    needed, cells, streams, parameters, versions = read(sys.argv[1:])
    print("; ".join(versions))
    for case, n in sorted(parameters.items(), key=lambda item: ("tensors" in item[0], item[1])):
        of = "300 tensors of 64, 1024 or 64 x 64 elements" if "tensors" in case else "one tensor"
        print(f"\n{of}, {n} parameters: time per byte, as a multiple of the stream's in the same process (ns per parameter)\n")
        print("| rule | bytes | " + " | ".join(COLUMNS) + " |")
        print("| --- | --- |" + " --- |" * len(COLUMNS))
        for rule, size in ((rule, size) for (rule, which), size in needed.items() if which == case):
            row = [cells.get((rule, case, column), "") for column in COLUMNS]
            print(f"| {rule} | {size} | " + " | ".join(row) + " |")
        row = [streams.get((case, column), []) for column in COLUMNS]
        medians = [f"({sorted(ns)[len(ns) // 2]:.2f})" if ns else "" for ns in row]
        print(f"| stream | {STREAM_BYTES} | " + " | ".join(medians) + " |")


if __name__ == "__main__":
    main()

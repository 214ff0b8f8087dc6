"""Joins the lines of library_steps.cpp, torch_steps.py and optax_steps.py into Markdown tables. The arguments are
files of lines. Cells are the time per byte of an implementation as a multiple of that of the stream measured with it
and, in brackets, nanoseconds per parameter. The bytes are the minimum that the rule must move, for every
implementation."""
import sys

COLUMNS = ("ours", "torch for-loop", "torch foreach", "torch fused", "optax", "whole-array")
STREAM_BYTES = 12


def read(files):
    """Returns {(rule, parameters): bytes}, {(rule, parameters, implementation): cell},
    {(parameters, implementation): stream's ns} and the versions."""
    needed, cells, streams, versions = {}, {}, {}, []
    rows = []
    for file in files:
        with open(file) as lines:
            for text in map(str.strip, lines):
                if text.startswith("#"):
                    versions.append(text[1:].strip())
                elif text:
                    rows.append(text.split(","))
    for implementation, rule, n, size, ns, stream_ns, *_ in rows:
        streams.setdefault((int(n), implementation), []).append(float(stream_ns))
        if size:
            needed[rule, int(n)] = int(size)
    for implementation, rule, n, _, ns, _, _, median, _ in rows:
        ratio = float(median) * STREAM_BYTES / needed[rule, int(n)]
        cells[rule, int(n), implementation] = f"{ratio:.2f} ({float(ns):.2f})"
    return needed, cells, streams, versions


def main():
    needed, cells, streams, versions = read(sys.argv[1:])
    print("; ".join(versions))
    for n in sorted({n for _, n in needed}):
        print(f"\n{n} parameters: time per byte, as a multiple of the stream's in the same process (ns per parameter)\n")
        print("| rule | bytes | " + " | ".join(COLUMNS) + " |")
        print("| --- | --- |" + " --- |" * len(COLUMNS))
        for rule, size in ((rule, size) for (rule, m), size in needed.items() if m == n):
            row = [cells.get((rule, n, column), "") for column in COLUMNS]
            print(f"| {rule} | {size} | " + " | ".join(row) + " |")
        row = [streams.get((n, column), []) for column in COLUMNS]
        medians = [f"({sorted(ns)[len(ns) // 2]:.2f})" if ns else "" for ns in row]
        print(f"| stream | {STREAM_BYTES} | " + " | ".join(medians) + " |")


if __name__ == "__main__":
    main()

"""Joins the lines of this folder's programs into Markdown tables. The arguments are files of lines (see lines.hpp).
Exits with 1 if a bar is missed. Cells without a measurement read "not measured"."""
import sys

COPY, PRODUCT = "a plain copy", "8192 x 8192"
SHARES = {"2^20": None, "2^24": 0.75, "2^28": 0.92}
GAP = "not measured"


class Lines:
    def __init__(self, files):
        self.seconds, self.amounts, self.notes = {}, {}, []
        for file in files:
            with open(file) as lines:
                for text in map(str.strip, lines):
                    if text.startswith("#"):
                        self.notes.append(text[1:].strip())
                    elif text:
                        table, row, column, seconds, amount = text.split(",")
                        key = (table, row.replace(";", ","), column.replace(";", ","))
                        self.amounts[key] = float(amount)
                        if seconds:
                            self.seconds[key] = float(seconds)

    def rows(self, table):
        return list(dict.fromkeys(row for t, row, _ in self.amounts if t == table))

    def columns(self, table):
        return list(dict.fromkeys(c for t, _, c in [*self.amounts, *self.seconds] if t == table))

    def get(self, table, row, column):
        return self.seconds.get((table, row, column))

    def rate(self, table, row, column):
        seconds = self.get(table, row, column)
        return seconds and self.amounts[table, row, column] / seconds


def cell(value, form="{:.2f}"):
    return GAP if value is None else form.format(value)


def ratio(a, b):
    return a / b if a and b else None


def table(title, head, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


class Verdicts:
    missed = False

    def __call__(self, *checks):
        """Returns "pass" or "MISS" for (value, bar) pairs, or "" if there are no values."""
        checks = [(value, bar) for value, bar in checks if value is not None and bar is not None]
        good = all(value >= bar for value, bar in checks)
        self.missed |= not good
        return "" if not checks else "pass" if good else "MISS"


def streams(lines, verdict):
    def rows():
        for rule in lines.rows("stream"):
            shares = {size: ratio(lines.rate("stream", rule, size), lines.rate("stream", COPY, size)) for size in SHARES}
            size = lines.amounts["stream", rule, "2^20"] / 2**20
            peak = lines.rate("stream", rule, "2^28")
            judged = [] if rule == COPY else [(shares[s], SHARES[s]) for s in SHARES]
            yield [rule, f"{size:.0f}", *(cell(shares[s]) for s in SHARES),
                   cell(peak and peak / 1e9, "{:.0f}"), verdict(*judged)]  # fmt: skip

    table(
        "Steps of rules, as a fraction of the bandwidth of a plain copy",
        ["rule", "bytes per parameter", *(f"{s} (bar {b})" if b else s for s, b in SHARES.items()), "GB/s at 2^28", ""],
        rows(),
    )


def beside(lines):
    others = ("torch fused", "torch foreach")

    def rows():
        for row in lines.rows("beside"):
            ours = lines.get("beside", row, "ours")
            theirs = [lines.get("beside", row, other) for other in others]
            yield [row, cell(ours and 1e6 * ours, "{:.1f}"), *(cell(t and 1e6 * t, "{:.1f}") for t in theirs),
                   *(cell(ratio(ours, t)) for t in theirs)]  # fmt: skip

    table(
        "Comparison with PyTorch: microseconds per step",
        ["rule", "ours", *others, *(f"ours / {o}" for o in others)],
        rows(),
    )


def matrices(lines):
    columns = ["ours", "plain torch", "torch.optim (bfloat16)"]
    rows = ([row, *(cell((s := lines.get("matrix", row, c)) and 1e3 * s) for c in columns)]
            for row in lines.rows("matrix"))  # fmt: skip
    table("Matrix rules: milliseconds per step", ["rule", *columns], rows)


def training(lines, verdict):
    peers = ("torch eager", "torch.compile", "torch graph")
    bandwidth = lines.rate("stream", COPY, "2^28")

    def rows():
        for row in lines.rows("training"):
            for suffix, precision in (("", "fp32"), (", tf32", "tf32"), (", bf16", "bf16")):
                ours = lines.get("training", row, "ours" + suffix)
                theirs = [lines.get("training", row, peer + suffix) for peer in peers]
                known = [t for t in theirs if t]
                fastest = ratio(min(known), ours) if known else None
                eager = ratio(theirs[0], ours)
                peak = lines.rate("products", PRODUCT, precision)
                flops = lines.amounts["training", row, "ours"]
                parameters = lines.amounts["parameters", row, "ours"]
                least = flops / peak + 28 * parameters / bandwidth if peak and bandwidth else None
                own = [ours, lines.get("training", row, "ours, no graph") if not suffix else None]
                cells = [cell(s and 1 / s, "{:.0f}") if s or not suffix else "" for s in own]
                bar = (eager, 5 if "batch 128" in row else None)
                yield [f"{row}, {precision}", cell(ours and 1 / ours, "{:.0f}"), cells[1],
                       *(cell(t and 1 / t, "{:.0f}") for t in theirs), cell(fastest), cell(eager),
                       cell(ratio(least, ours)), verdict((fastest, 1.0), bar)]  # fmt: skip

    table(
        "Training: steps per second (bars: 1.0 times PyTorch's fastest; at batch 128, 5 times eager)",
        ["model", "ours", "ours, no graph", *peers, "vs fastest", "vs eager", "of roofline", ""],
        rows(),
    )
    print(
        "\nThe roofline: the step's FLOPs at the rate of a product of two 8192 x 8192 matrices, plus 28 bytes per"
        " parameter at the bandwidth of a copy."
    )


def models(lines, verdict):
    peers = ("torch eager", "torch graph")

    def rows():
        for row in lines.rows("models"):
            for precision in ("fp32", "bf16"):
                ours, *theirs = (lines.get("models", row, f"{side}, {precision}") for side in ("ours", *peers))
                known = [t for t in theirs if t]
                fastest = ratio(min(known), ours) if known else None
                yield [f"{row}, {precision}", *(cell(s and 1e6 * s, "{:.0f}") for s in (ours, *theirs)), cell(fastest),
                       verdict((fastest, 1.0))]  # fmt: skip

    table(
        "Models: microseconds per training step (bar: PyTorch's fastest takes at least as long)",
        ["model", "ours", *peers, "fastest / ours", ""],
        rows(),
    )


def targets(lines):
    columns = lines.columns("target")
    rows = ([row, *(cell(lines.get("target", row, c), "{:.3f}") for c in columns)] for row in lines.rows("target"))
    table("Training seconds to the target", ["", *columns], rows)


def main():
    lines, verdict = Lines(sys.argv[1:]), Verdicts()
    print("; ".join(lines.notes))
    streams(lines, verdict)
    beside(lines)
    matrices(lines)
    training(lines, verdict)
    models(lines, verdict)
    targets(lines)
    return verdict.missed


if __name__ == "__main__":
    sys.exit(main())

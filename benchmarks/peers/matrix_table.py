"""Joins the lines of matrix_steps.cpp and torch_matrix_steps.py into a Markdown table. The arguments are files of
lines. Cells are milliseconds per step and, in brackets, multiples of a product of two 1024 x 1024 matrices in the
same process."""
import sys

COLUMNS = ("ours", "plain torch", "torch.optim", "package")


def main():
    cells, products = {}, {}
    for file in sys.argv[1:]:
        with open(file) as lines:
            rows = [text.strip().split(",") for text in lines if not text.startswith("#")]
        for implementation, rule, shape, ms, product_ms in rows:
            cell = f"{float(ms):.1f} ({float(ms) / float(product_ms):.2f})"
            cells.setdefault((rule, shape), {})[implementation] = cell
            products.setdefault(implementation, []).append(float(product_ms))
    print("| rule | shape | " + " | ".join(COLUMNS) + " |")
    print("| --- | --- |" + " --- |" * len(COLUMNS))
    for (rule, shape), row in cells.items():
        print(f"| {rule} | {shape} | " + " | ".join(row.get(column, "") for column in COLUMNS) + " |")
    medians = [f"{sorted(ms)[len(ms) // 2]:.1f}" if (ms := products.get(column)) else "" for column in COLUMNS]
    print("| matrix product | 1024 x 1024 | " + " | ".join(medians) + " |")


if __name__ == "__main__":
    main()

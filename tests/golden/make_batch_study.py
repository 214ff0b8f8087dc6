"""Prints the expected values of tests/tuning/batch_size/published_batch_study_test.cpp: the rules of Shallue et al. 2019, stated with
pandas, on made-up measurements. Needs pandas.

    python make_batch_study.py
"""
import pandas

rows = []
for batch in (8, 32, 128):
    for trial in range(1, 10):
        if trial % 4 == 0 or trial % 7 == 0:  # incomplete, infeasible
            continue
        for k in range(12):
            error = (trial * 37 + k * k * 11 + batch * 7) % 100 / 100 * (12 - k) / 12
            rows.append((batch, trial, 10 * k + trial % 3, error))
table = pandas.DataFrame(rows, columns=["batch", "trial", "step", "error"])


def first_hit(part, goal):
    hits = part.sort_values(["step", "trial"])
    hits = hits[hits.error < goal]
    return None if hits.empty else tuple(hits.iloc[0][["step", "trial", "error"]])


def best(part):
    return tuple(part.sort_values(["error", "step", "trial"]).iloc[0][["step", "trial", "error"]])


for batch, part in table.groupby("batch"):
    print("steps to", batch, [first_hit(part, goal) for goal in (0.2, 0.02, 0.0)],
          "of 3 trials", first_hit(part[part.trial <= 3], 0.2))
    print("best", batch, best(part), best(part[part.step <= 45]), best(part[part.batch * part.step <= 1000]),
          tuple(part.sort_values("error", ascending=False).iloc[0][["step", "trial", "error"]]))

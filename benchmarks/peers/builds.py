"""Compares the training steps of three builds of bench_turns, which alternate on one thread: -O3 -march=native, plain -O2
for x86-64 with the component gemm (which chooses its instruction set at run time), and plain -O2 without it. Prints
multiples of the first build's processor time: medians of pairs, with quartiles. The pairs are spread over several
processes of each build, because the physical memory that a process gets makes it up to 1.1 times as fast as another.

  cmake -B build/portable -DCMAKE_BUILD_TYPE=Release -DALGOPERF_BUILD_BENCHMARKS=ON
  cmake --build build/portable --target bench_turns bench_turns_plain bench_turns_plain_gemm
  python benchmarks/peers/builds.py build/portable/benchmarks

The build must not set ALGOPERF_NATIVE, with which parts of gemm are compiled for this machine only.
"""
import os
import statistics
import subprocess
import sys

PROCESSES = 6  # of each build and case
CASES = {  # the lines of bench_turns, and the number of pairs per process
    "MLP 784-256-256-10, batch 128": ("training 128 30", 7),
    "MLP 784-256-256-10, batch 32": ("training 32 60", 7),
    "simple CNN 28 x 28 x 1, batch 128": ("simple_cnn 128 1", 3),
    "residual CNN 32 x 32 x 3, batch 128": ("residual_cnn 128 1", 3),
    "Transformer, batch 16": ("transformer 16 2", 3),
}
BUILDS = {"-O3 -march=native": "bench_turns", "-O2, gemm": "bench_turns_plain_gemm", "-O2": "bench_turns_plain"}


def start(program):
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def seconds(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


# Appends the times of pairs of runs of a case, in new processes. Each process runs it once before, to allocate memory.
def measure(folder, line, pairs, times):
    builds = {name: start(os.path.join(folder, program)) for name, program in BUILDS.items()}
    for process in builds.values():
        seconds(process, line)
    for pair in range(pairs):
        for name in list(builds)[:: 1 if pair % 2 else -1]:
            times[name].append(seconds(builds[name], line))
    for process in builds.values():
        process.stdin.close()
        process.wait()


def main():
    folder = sys.argv[1]
    native, *others = BUILDS
    print("| training step | " + " | ".join(others) + " |")
    print("| --- |" + " --- |" * len(others), flush=True)
    for case, (line, pairs) in CASES.items():
        times = {name: [] for name in BUILDS}
        for _ in range(PROCESSES):
            measure(folder, line, pairs, times)
        cells = []
        for name in others:
            ratios = [other / own for other, own in zip(times[name], times[native])]
            lower, median, upper = statistics.quantiles(ratios, n=4)
            cells.append(f"{median:.2f} [{lower:.2f}, {upper:.2f}]")
        print(f"| {case} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

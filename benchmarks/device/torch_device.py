"""Times PyTorch on a device in the same way as device.cuh times the library, and prints lines of the same format."""
import statistics
import time

import torch


def seconds(f, samples=20):
    def sample(calls):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            f()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / calls

    calls = 1
    sample(3)
    while sample(calls) * calls < 0.005:
        calls *= 2
    return statistics.median(sample(calls) for _ in range(samples))


def line(table, row, column, value):
    row, column = (text.replace(",", ";") for text in (row, column))
    print(f"{table},{row},{column},{value:.9g},0", flush=True)


def precise(tf32):
    """Sets matrix products and convolutions to fp32 or, if tf32 is true, to tf32."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32

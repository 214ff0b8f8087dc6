"""Compares single convolutions of 128 images in PyTorch, in its default layout and in channels_last, with the library's: the forward
pass and both gradients, at the shapes of ResNet-20 on 32 x 32 pixels and of the simple CNN; and depthwise convolutions. bench_turns alternates in another process.
Prints ratios of PyTorch's time to the library's.

    python torch_convolutions.py bench_turns [THREADS [TEXT]]

With TEXT, only convolutions whose descriptions contain it, such as "1 x 1" or "depthwise".
"""
import sys

import torch

from turns import Turns

SHAPES = [  # side, channels, filters, size, stride
    (32, 3, 16, 3, 1),
    (32, 16, 16, 3, 1),
    (32, 16, 32, 3, 2),
    (32, 16, 32, 1, 2),
    (16, 32, 32, 3, 1),
    (16, 32, 64, 3, 2),
    (16, 32, 64, 1, 2),
    (8, 64, 64, 3, 1),
    (28, 1, 32, 5, 1),
    (14, 32, 64, 5, 1),
    (32, 32, 64, 1, 1),  # after a depthwise convolution
    (16, 64, 128, 1, 1),
    (8, 128, 128, 1, 1),
]
DEPTHWISE = [  # side, channels, size, stride
    (32, 32, 3, 1),
    (32, 32, 3, 2),
    (16, 64, 3, 1),
    (16, 64, 3, 2),
    (8, 128, 3, 1),
]
turns = Turns(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
CHOSEN = sys.argv[3] if len(sys.argv) > 3 else ""
for shape in SHAPES:
    side, channels, filters, size, stride = shape
    for order, layout in (("NCHW", torch.contiguous_format), ("channels_last", torch.channels_last)):
        x = torch.randn(128, channels, side, side).to(memory_format=layout)
        w = torch.randn(filters, channels, size, size).to(memory_format=layout)
        b = torch.randn(filters)
        geometry = [stride, stride], [size // 2, size // 2], [1, 1], False, [0, 0], 1
        with torch.inference_mode():
            dy = torch.randn_like(torch.convolution(x, w, b, *geometry))

            def gradient(of_input):
                mask = [of_input, not of_input, False]
                return torch.ops.aten.convolution_backward(dy, x, w, None, *geometry, mask)

            passes = {
                "forward": lambda: torch.convolution(x, w, b, *geometry),
                "input": lambda: gradient(True),
                "weights": lambda: gradient(False),
            }
            for name, step in passes.items():
                if name == "input" and channels == 3:  # a first layer needs no gradient of its input
                    continue
                what = ":".join(map(str, ("convolution", name, *shape)))
                text = f"{side} x {side} x {channels}, {filters} of {size} x {size}, stride {stride}, {name}"
                if CHOSEN in text:
                    turns.row(what, 128, step, (text, order), 1)
for side, channels, size, stride in DEPTHWISE:
    for order, layout in (("NCHW", torch.contiguous_format), ("channels_last", torch.channels_last)):
        x = torch.randn(128, channels, side, side).to(memory_format=layout)
        w = torch.randn(channels, 1, size, size).to(memory_format=layout)
        b = torch.randn(channels)
        geometry = [stride, stride], [size // 2, size // 2], [1, 1], False, [0, 0], channels
        with torch.inference_mode():
            dy = torch.randn_like(torch.convolution(x, w, b, *geometry))
            passes = {
                "forward": lambda: torch.convolution(x, w, b, *geometry),
                "backward": lambda: torch.ops.aten.convolution_backward(dy, x, w, [channels], *geometry, [True] * 3),
            }
            for name, step in passes.items():
                what = ":".join(map(str, ("convolution", name, side, channels, 0, size, stride)))
                text = f"{side} x {side} x {channels}, depthwise {size} x {size}, stride {stride}, {name}"
                if CHOSEN in text:
                    turns.row(what, 128, step, (text, order), 1)
sys.exit(1 if turns.missed else 0)

"""What the scripts that write golden values of speech recognisers share: make_deep_speech.py and make_conformer.py.

golden_models.py describes the values; there are also the running averages of the batch norms. Element i of the inputs
of all frames is sin(0.1 + 0.37 i). Here images and filters have the channels last. The loss is torch's ctc_loss with
its default: the mean over the examples of the loss per label.
"""
import torch
import torch.nn.functional as F

import golden_models

BANDS, WIDTH, SYMBOLS, MOMENTUM = 11, 4, 3, 0.1
FRAMES, LABELS = (5, 3, 4), ((1, 2), (1,), (2, 2))


class Recogniser:
    """A derived class declares its tensors in self.shapes, in order, then calls start, and defines logits(training)."""

    def __init__(self, activation=F.relu):
        """The activation is that of the convolutions."""
        self.convolution_activation = activation
        self.shapes = {"conv_1.weight": (WIDTH, 3, 3, 1), "conv_1.bias": (WIDTH,),
                       "conv_2.weight": (WIDTH, 3, 3, WIDTH), "conv_2.bias": (WIDTH,)}
        self.declare("subsampled", 2 * WIDTH, WIDTH)

    def declare(self, name, inputs, outputs):
        self.shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}

    def declare_norm(self, name):
        self.shapes |= {f"{name}.scale": (WIDTH,), f"{name}.bias": (WIDTH,)}

    def start(self, batch_norms):
        self.p = golden_models.parameters(self.shapes)
        self.averages = {}
        for name in batch_norms:
            self.averages |= {f"{name}.mean": torch.zeros(WIDTH), f"{name}.variance": torch.ones(WIDTH)}

    def dense(self, name, x):
        return F.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def layer_norm(self, name, x, eps):
        return F.layer_norm(x, (WIDTH,), self.p[f"{name}.scale"], self.p[f"{name}.bias"], eps)

    def batch_norm(self, name, x, training):
        return F.batch_norm(x, self.averages[f"{name}.mean"], self.averages[f"{name}.variance"], self.p[f"{name}.scale"],
                            self.p[f"{name}.bias"], training, MOMENTUM, 1e-3)

    def subsampled(self):
        x = torch.sin(0.1 + 0.37 * torch.arange(sum(FRAMES) * 7 * BANDS)).reshape(-1, 1, 7, BANDS)
        for name in "conv_1", "conv_2":
            x = F.conv2d(x, self.p[f"{name}.weight"].permute(0, 3, 1, 2), self.p[f"{name}.bias"], stride=2)
            x = self.convolution_activation(x)
        return self.dense("subsampled", x.permute(0, 2, 3, 1).flatten(1))

    def loss(self):
        log_probabilities = F.log_softmax(self.logits(True), 1).split(FRAMES)
        padded = torch.nn.utils.rnn.pad_sequence(log_probabilities)
        labels = torch.tensor([label for each in LABELS for label in each])
        return F.ctc_loss(padded, labels, FRAMES, tuple(len(each) for each in LABELS))


def definitions(recognisers):
    """Returns the C++ definitions of recognisers by name."""
    return "\n".join(golden_models.model(name, net.p, net.loss, lambda: net.logits(False), net.averages)
                     for name, net in recognisers.items())

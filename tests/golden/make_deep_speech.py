"""Writes the golden values of a small speech recogniser, DeepSpeech, to deep_speech.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_deep_speech.py

golden_models.py describes the values; there are also the running averages of the batch norms and the logits in
evaluation, after the steps. Element i of the inputs of all frames is sin(0.1 + 0.37 i). Here images and filters have
the channels last. The loss is torch's ctc_loss with its default: the mean over the examples of the loss per label.
deep_speech_layer_norm has layer norms instead of batch norms, and none before the logits.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

BANDS, WIDTH, SYMBOLS, MOMENTUM = 11, 4, 3, 0.1
FRAMES, LABELS = (5, 3, 4), ((1, 2), (1,), (2, 2))


class DeepSpeech:
    def __init__(self, layer_norm):
        self.layer_norm = layer_norm
        shapes = {}
        norm = lambda name: shapes.update({f"{name}.scale": (WIDTH,), f"{name}.bias": (WIDTH,)})
        dense = lambda name, outputs, inputs: shapes.update({f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)})
        shapes |= {"conv_1.weight": (WIDTH, 3, 3, 1), "conv_1.bias": (WIDTH,),
                   "conv_2.weight": (WIDTH, 3, 3, WIDTH), "conv_2.bias": (WIDTH,)}
        dense("subsampled", WIDTH, 2 * WIDTH)
        norm("recurrent.0.norm")
        for name in "recurrent.0.forward", "recurrent.0.backward":
            dense(f"{name}.input", 2 * WIDTH, WIDTH)
            shapes[f"{name}.recurrent"] = (2 * WIDTH, WIDTH // 2)
        norm("feed_forward.0.norm")
        dense("feed_forward.0.dense", WIDTH, WIDTH)
        if not layer_norm:
            norm("norm")
        dense("logits", SYMBOLS, WIDTH)
        self.p = golden_models.parameters(shapes)
        self.averages = {}
        for name in () if layer_norm else ("recurrent.0.norm", "feed_forward.0.norm"):
            self.averages |= {f"{name}.mean": torch.zeros(WIDTH), f"{name}.variance": torch.ones(WIDTH)}
        self.inputs = torch.sin(0.1 + 0.37 * torch.arange(sum(FRAMES) * 7 * BANDS)).reshape(-1, 1, 7, BANDS)

    def dense(self, name, x):
        return F.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def norm(self, name, x, training):
        scale, bias = self.p[f"{name}.scale"], self.p[f"{name}.bias"]
        if self.layer_norm or name == "norm":
            return F.layer_norm(x, (WIDTH,), scale, bias)
        return F.batch_norm(x, self.averages[f"{name}.mean"], self.averages[f"{name}.variance"], scale, bias, training,
                            MOMENTUM, 1e-3)

    def lstm(self, name, x, reverse):
        x = x.flip(0) if reverse else x
        bias = self.p[f"{name}.input.bias"]
        weights = [self.p[f"{name}.input.weight"], self.p[f"{name}.recurrent"], bias, torch.zeros_like(bias)]
        zeros = x.new_zeros(1, 1, WIDTH // 2)
        y = torch.lstm(x[None], (zeros, zeros), weights, True, 1, 0.0, True, False, True)[0][0]
        return y.flip(0) if reverse else y

    def logits(self, training):
        x = self.inputs
        for name in "conv_1", "conv_2":
            x = F.relu(F.conv2d(x, self.p[f"{name}.weight"].permute(0, 3, 1, 2), self.p[f"{name}.bias"], stride=2))
        x = self.dense("subsampled", x.permute(0, 2, 3, 1).flatten(1))
        y = self.norm("recurrent.0.norm", x, training)
        both = [torch.cat((self.lstm("recurrent.0.forward", part, False), self.lstm("recurrent.0.backward", part, True)), 1)
                for part in y.split(FRAMES)]
        x = x + torch.cat(both)
        x = x + F.relu(self.dense("feed_forward.0.dense", self.norm("feed_forward.0.norm", x, training)))
        if not self.layer_norm:
            x = self.norm("norm", x, training)
        return self.dense("logits", x)

    def loss(self):
        log_probabilities = F.log_softmax(self.logits(True), 1).split(FRAMES)
        padded = torch.nn.utils.rnn.pad_sequence(log_probabilities)
        labels = torch.tensor([label for each in LABELS for label in each])
        return F.ctc_loss(padded, labels, FRAMES, tuple(len(each) for each in LABELS))


definitions = []
for name, net in ("deep_speech", DeepSpeech(False)), ("deep_speech_layer_norm", DeepSpeech(True)):
    definitions.append(golden_models.model(name, net.p, net.loss, net.averages))
    definitions.append(f"inline const std::vector<double> {name}_logits{golden_models.text(net.logits(False))};\n")
golden_models.write(Path(__file__).with_name("deep_speech.hpp"), "make_deep_speech.py", "\n".join(definitions))

"""Writes the golden values of a small speech recogniser, DeepSpeech, to deep_speech.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_deep_speech.py

golden_speech.py describes the values. deep_speech_layer_norm has layer norms instead of batch norms, and none before
the logits; deep_speech_no_resnet has layers that replace their input instead of adding to it.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models
import golden_speech
from golden_speech import FRAMES, SYMBOLS, WIDTH


class DeepSpeech(golden_speech.Recogniser):
    def __init__(self, layer_norm=False, residual=True, activation=F.relu):
        super().__init__(activation)
        self.only_layer_norms, self.residual, self.activation = layer_norm, residual, activation
        self.declare_norm("recurrent.0.norm")
        for name in "recurrent.0.forward", "recurrent.0.backward":
            self.declare(f"{name}.input", WIDTH, 2 * WIDTH)
            self.shapes[f"{name}.recurrent"] = (2 * WIDTH, WIDTH // 2)
        self.declare_norm("feed_forward.0.norm")
        self.declare("feed_forward.0.dense", WIDTH, WIDTH)
        if not layer_norm:
            self.declare_norm("norm")
        self.declare("logits", WIDTH, SYMBOLS)
        self.start(() if layer_norm else ("recurrent.0.norm", "feed_forward.0.norm"))

    def norm(self, name, x, training):
        return self.layer_norm(name, x, 1e-5) if self.only_layer_norms else self.batch_norm(name, x, training)

    def joined(self, x, y):
        return x + y if self.residual else y

    def lstm(self, name, x, reverse):
        x = x.flip(0) if reverse else x
        bias = self.p[f"{name}.input.bias"]
        weights = [self.p[f"{name}.input.weight"], self.p[f"{name}.recurrent"], bias, torch.zeros_like(bias)]
        zeros = x.new_zeros(1, 1, WIDTH // 2)
        y = torch.lstm(x[None], (zeros, zeros), weights, True, 1, 0.0, True, False, True)[0][0]
        return y.flip(0) if reverse else y

    def logits(self, training):
        x = self.subsampled()
        y = self.norm("recurrent.0.norm", x, training)
        both = [torch.cat((self.lstm("recurrent.0.forward", part, False), self.lstm("recurrent.0.backward", part, True)), 1)
                for part in y.split(FRAMES)]
        x = self.joined(x, torch.cat(both))
        y = self.dense("feed_forward.0.dense", self.norm("feed_forward.0.norm", x, training))
        x = self.joined(x, self.activation(y))
        if not self.only_layer_norms:
            x = self.layer_norm("norm", x, 1e-5)
        return self.dense("logits", x)


recognisers = {"deep_speech": DeepSpeech(), "deep_speech_layer_norm": DeepSpeech(layer_norm=True),
               "deep_speech_no_resnet": DeepSpeech(residual=False), "deep_speech_tanh": DeepSpeech(activation=torch.tanh)}
golden_models.write(Path(__file__).with_name("deep_speech.hpp"), "make_deep_speech.py",
                    golden_speech.definitions(recognisers))

"""Writes the golden values of two small recurrent models to lstm.hpp in this folder: LstmLanguageModel with two layers, and a classifier of token
sequences of different lengths by the means of both directions.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python tests/golden/make_lstm.py

golden_models.py describes the values.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

import golden_models

VOCABULARY, CONTEXT, WIDTH, UNITS, LAYERS, BATCH, CLASSES = 11, 6, 4, 5, 2, 3, 3
LENGTHS = (3, 1, 5, 2)


def lstm_shapes(name, width):
    return {f"{name}.input.weight": (4 * UNITS, width), f"{name}.input.bias": (4 * UNITS,),
            f"{name}.recurrent": (4 * UNITS, UNITS)}


def lstm(p, name, x, reverse=False):
    """Applies torch's LSTM to x {batch, time, width}, along decreasing time if `reverse`."""
    x = x.flip(1) if reverse else x
    bias = p[f"{name}.input.bias"]
    weights = [p[f"{name}.input.weight"], p[f"{name}.recurrent"], bias, torch.zeros_like(bias)]
    zeros = x.new_zeros(1, len(x), UNITS)
    y = torch.lstm(x, (zeros, zeros), weights, True, 1, 0.0, True, False, True)[0]
    return y.flip(1) if reverse else y


class LanguageModel:
    def __init__(self):
        tokens = (torch.arange(BATCH * CONTEXT) * 7 + 3) % VOCABULARY
        labels = (torch.arange(BATCH * CONTEXT) * 5 + 1) % VOCABULARY
        self.tokens, self.labels = tokens.reshape(BATCH, CONTEXT), labels.reshape(BATCH, CONTEXT)
        shapes = {"embedding.weight": (VOCABULARY, WIDTH)}
        for i in range(LAYERS):
            shapes |= lstm_shapes(f"lstm.{i}", WIDTH if i == 0 else UNITS)
        shapes |= {"logits.weight": (VOCABULARY, UNITS), "logits.bias": (VOCABULARY,)}
        self.p = golden_models.parameters(shapes)

    def logits(self):
        x = F.embedding(self.tokens, self.p["embedding.weight"])
        for i in range(LAYERS):
            x = lstm(self.p, f"lstm.{i}", x)
        return F.linear(x, self.p["logits.weight"], self.p["logits.bias"])

    def loss(self):
        return F.cross_entropy(self.logits().flatten(0, 1), self.labels.flatten())


class Classifier:
    def __init__(self):
        self.tokens = (torch.arange(sum(LENGTHS)) * 7 + 3) % VOCABULARY
        self.labels = torch.arange(len(LENGTHS)) % CLASSES
        self.p = golden_models.parameters({"embedding.weight": (VOCABULARY, WIDTH)} | lstm_shapes("forward", WIDTH) |
                                          lstm_shapes("backward", WIDTH) |
                                          {"logits.weight": (CLASSES, 2 * UNITS), "logits.bias": (CLASSES,)})

    def logits(self):
        means = []
        for tokens in self.tokens.split(LENGTHS):
            x = F.embedding(tokens[None], self.p["embedding.weight"])
            y = torch.cat((lstm(self.p, "forward", x), lstm(self.p, "backward", x, reverse=True)), -1)
            means.append(y.mean(1)[0])
        return F.linear(torch.stack(means), self.p["logits.weight"], self.p["logits.bias"])

    def loss(self):
        return F.cross_entropy(self.logits(), self.labels)


language_model, classifier = LanguageModel(), Classifier()
golden_models.write(Path(__file__).with_name("lstm.hpp"), "make_lstm.py",
                    golden_models.model("language_model", language_model.p, language_model.loss, language_model.logits) + "\n" +
                    golden_models.model("classifier", classifier.p, classifier.loss, classifier.logits))

"""Compares translating a batch of 64 sentences of 15 tokens in PyTorch, eager and compiled, with the library's beam_search.
Both keep keys and values, and no translation ends before 16 tokens. The library alternates in another process. Prints ratios of
PyTorch's time to the library's, as rows of the table of scripts/bench.sh.

    python torch_translation.py bench_turns [THREADS]
"""
import sys

import torch
import torch.nn.functional as F

from torch_networks import EncoderDecoder
from turns import Turns

SENTENCES, SOURCE, STEPS, BEGIN = 64, 15, 16, 2


class Translation:
    """Beam search with a model of random weights. Caches have a fixed length, so that compiled steps have fixed shapes; eager
    steps read only the part that is filled."""

    def __init__(self, beams, compiled):
        self.model = EncoderDecoder(longest=STEPS).eval()
        self.beams, self.compiled = beams, compiled
        self.sources = torch.randint(len(self.model.embedding.weight), (SENTENCES, SOURCE))
        self.forward = torch.compile(self.logits) if compiled else self.logits

    def heads(self, x):
        return x.unflatten(-1, (self.model.decoder[0].heads, -1)).transpose(1, 2)

    def encode(self):
        """Returns the keys and values of each block's cross-attention, one row per hypothesis."""
        x = self.model.embedded(self.sources)
        for block in self.model.encoder:
            x = block(x)
        x = self.model.norms[0](x)
        return [[self.heads(part).repeat_interleave(self.beams, 0) for part in block.kv(x).chunk(2, -1)]
                for block in self.model.decoder]

    def logits(self, tokens, step, place, crossed, caches):
        """step: an int for eager, None for compiled; place: the same as a tensor."""
        model = self.model
        y = (model.embedding(tokens) + model.positions[place])[:, None]
        for block, (keys, values), (cross_keys, cross_values) in zip(model.decoder, caches, crossed):
            query, key, value = map(self.heads, block.qkv(block.norms[0](y)).chunk(3, -1))
            keys.index_copy_(2, place[None], key)
            values.index_copy_(2, place[None], value)
            if step is None:
                visible = (torch.arange(STEPS) <= place)[None, None, None]
                mixed = F.scaled_dot_product_attention(query, keys, values, visible)
            else:
                mixed = F.scaled_dot_product_attention(query, keys[:, :, : step + 1], values[:, :, : step + 1])
            y = y + block.out(mixed.transpose(1, 2).flatten(2))
            query = self.heads(block.query(block.norms[2](y)))
            mixed = F.scaled_dot_product_attention(query, cross_keys, cross_values)
            y = y + block.crossed(mixed.transpose(1, 2).flatten(2))
            y = y + block.mlp(block.norms[1](y))
        return (model.norms[1](y) @ model.embedding.weight.T / model.embedding.weight.shape[1] ** 0.5)[:, 0]

    @torch.inference_mode()
    def __call__(self):
        rows, vocabulary = SENTENCES * self.beams, len(self.model.embedding.weight)
        size = self.model.embedding.weight.shape[1] // self.model.decoder[0].heads
        shape = (rows, self.model.decoder[0].heads, STEPS, size)
        caches = [[torch.zeros(shape), torch.zeros(shape)] for _ in self.model.decoder]
        crossed = self.encode()
        tokens, translations = torch.full((rows,), BEGIN), torch.empty((rows, 0), dtype=torch.long)
        scores = torch.full((SENTENCES, self.beams), -1e9)
        scores[:, 0] = 0  # all hypotheses begin alike
        first = torch.arange(SENTENCES)[:, None] * self.beams
        for step in range(STEPS):
            logits = self.forward(tokens, None if self.compiled else step, torch.tensor(step), crossed, caches)
            if self.beams == 1:
                tokens = logits.argmax(-1)
            else:
                candidates = scores.flatten()[:, None] + logits.log_softmax(-1)
                scores, best = candidates.view(SENTENCES, -1).topk(self.beams)
                parents, tokens = (first + best // vocabulary).flatten(), (best % vocabulary).flatten()
                translations = translations[parents]
                for cache in caches:
                    cache[:] = (part.index_select(0, parents) for part in cache)
            translations = torch.cat((translations, tokens[:, None]), 1)
        return translations


turns = Turns(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
for beams in (1, 4):
    for compiled in (False, True):
        name = ("greedy translation" if beams == 1 else f"beam search, {beams} hypotheses", "compiled" if compiled else "eager")
        turns.row(f"translate:{beams}", SENTENCES, Translation(beams, compiled), name, 1)
sys.exit(1 if turns.missed else 0)

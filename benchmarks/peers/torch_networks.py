"""The models of benchmarks/model_tasks.hpp in PyTorch, and their training steps, on the default device."""
import math

import torch
import torch.nn.functional as F
from torch import nn

EXAMPLES, ROWS = 1024, 8192
DROPOUT = 0.1


class Training:
    """Steps of AdamW on batches of shuffled examples. `inputs` is a list of tensors, the arguments of the model."""

    def __init__(self, model, inputs, labels, batch, compiled, loss=None):
        self.model, self.inputs, self.labels, self.batch = model, inputs, labels, batch
        self.loss_of = loss or (lambda outputs, labels: F.cross_entropy(outputs.flatten(0, -2), labels.flatten()))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
        self.loss = torch.compile(self.whole) if compiled else self.whole
        self.at = len(labels)

    def whole(self, labels, *inputs):
        return self.loss_of(self.model(*inputs), labels)

    def __call__(self):
        if self.at + self.batch > len(self.labels):
            self.order, self.at = torch.randperm(len(self.labels)), 0
        indices = self.order[self.at : self.at + self.batch]
        self.at += self.batch
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.labels[indices], *(x[indices] for x in self.inputs)).backward()
        self.optimizer.step()


class Prediction:
    """Outputs for batches of examples in their order, without gradients."""

    def __init__(self, model, inputs, batch, compiled):
        self.inputs, self.batch, self.at = inputs, batch, 0
        self.outputs = torch.compile(model.eval()) if compiled else model.eval()

    @torch.inference_mode()
    def __call__(self):
        if self.at + self.batch > len(self.inputs[0]):
            self.at = 0
        self.outputs(*(x[self.at : self.at + self.batch] for x in self.inputs))
        self.at += self.batch


class Add(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.inside = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.inside(x)


def simple_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))


class GhostBatchNorm(nn.BatchNorm2d):
    """Normalises 64 examples at a time in training."""

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        return torch.cat([super(GhostBatchNorm, self).forward(part) for part in x.split(64)])


def convolution(inputs, filters, size=3, stride=1, norm=nn.BatchNorm2d):
    return nn.Conv2d(inputs, filters, size, stride, (size - 1) // 2, bias=False), norm(filters)


def block(inputs, filters, size=3, stride=1, norm=nn.BatchNorm2d):
    return *convolution(inputs, filters, size, stride, norm), nn.ReLU()


def residual_cnn():
    return nn.Sequential(
        *block(3, 32, 4, 2), *block(32, 64), nn.MaxPool2d(2), Add(*block(64, 64)), Add(*block(64, 64)),
        *block(64, 128), nn.MaxPool2d(2), Add(*block(128, 128)), Add(*block(128, 128)), nn.MaxPool2d(4),
        nn.Flatten(), nn.Linear(128, 10))


class ResNetBlock(nn.Module):
    def __init__(self, inputs, filters, stride):
        super().__init__()
        self.inside = nn.Sequential(*block(inputs, filters, 3, stride, GhostBatchNorm),
                                    *convolution(filters, filters, norm=GhostBatchNorm))
        self.shortcut = nn.Identity()
        if inputs != filters:
            self.shortcut = nn.Sequential(*convolution(inputs, filters, 1, stride, GhostBatchNorm))

    def forward(self, x):
        return F.relu(self.inside(x) + self.shortcut(x))


def resnet8():
    return nn.Sequential(*block(3, 16, norm=GhostBatchNorm), ResNetBlock(16, 16, 1), ResNetBlock(16, 32, 2),
                         ResNetBlock(32, 64, 2), nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10))


class UNet(nn.Module):
    """The model of PhantomReconstruction."""

    def __init__(self, channels=8, pools=2):
        super().__init__()

        def after(convolution, filters):
            return convolution, nn.InstanceNorm2d(filters), nn.LeakyReLU(0.2)

        def block(inputs, filters):
            return nn.Sequential(*(layer for at in (inputs, filters) for layer in
                                   after(nn.Conv2d(at, filters, 3, padding=1, bias=False), filters)))

        widths = [channels << level for level in range(pools + 1)]
        self.down = nn.ModuleList(block(inputs, filters) for inputs, filters in zip([1, *widths], widths))
        self.up = nn.ModuleList(nn.Sequential(*after(nn.ConvTranspose2d(2 * filters, filters, 2, 2, bias=False), filters))
                                for filters in widths[:-1])
        self.merge = nn.ModuleList(block(2 * filters, filters) for filters in widths[:-1])
        self.output = nn.Conv2d(channels, 1, 1)

    def forward(self, x):
        skips = []
        for block in self.down[:-1]:
            skips.append(block(x))
            x = F.avg_pool2d(skips[-1], 2)
        x = self.down[-1](x)
        for up, merge, skip in zip(reversed(self.up), reversed(self.merge), reversed(skips)):
            x = merge(torch.cat((up(x), skip), 1))
        return self.output(x)


class Subsampling(nn.Module):
    """The first layers of the recognisers of speech. The convolutions read whole spectrograms {1, frames, bands}."""

    def __init__(self, bands, width):
        super().__init__()
        self.convolutions = nn.Sequential(nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2), nn.ReLU())
        self.dense = nn.Linear(width * (((bands - 1) // 2 - 1) // 2), width)

    def forward(self, x):
        return self.dense(self.convolutions(x).permute(0, 2, 3, 1).flatten(2))


class DeepSpeech(nn.Module):
    """The model of DigitStrings."""

    def __init__(self, bands=40, width=32, recurrent=2, symbols=11):
        super().__init__()
        self.subsampled = Subsampling(bands, width)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width, 1e-3) for _ in range(recurrent + 1))
        self.lstms = nn.ModuleList(nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)
                                   for _ in range(recurrent))
        self.dense, self.norm, self.logits = nn.Linear(width, width), nn.LayerNorm(width), nn.Linear(width, symbols)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x):
        x = self.drop(self.subsampled(x))
        normalised = lambda norm, x: norm(x.flatten(0, 1)).view(x.shape)
        for norm, lstm in zip(self.norms, self.lstms):
            x = x + lstm(normalised(norm, x))[0]
        x = x + self.drop(F.relu(self.dense(normalised(self.norms[-1], x))))
        return self.logits(self.norm(x))


class ConformerBlock(nn.Module):
    def __init__(self, width, heads, hidden, kernel):
        super().__init__()
        self.heads = heads
        self.feed_forward = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width, 1e-6), nn.Linear(width, hidden), nn.SiLU(), nn.Dropout(DROPOUT),
                          nn.Linear(hidden, width), nn.Dropout(DROPOUT)) for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(width, 1e-6) for _ in range(3))
        self.qkv, self.mixed = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.query_scale = nn.Parameter(torch.zeros(width // heads))
        self.gated, self.out = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.depthwise = nn.Conv1d(width, width, kernel, padding="same", groups=width, bias=False)
        self.batch_norm, self.drop = nn.BatchNorm1d(width, 1e-3), nn.Dropout(DROPOUT)

    def forward(self, x):
        x = x + 0.5 * self.feed_forward[0](x)
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q = q * (F.softplus(self.query_scale) / math.log(2))
        x = x + self.drop(self.mixed(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)))
        y = self.depthwise(F.glu(self.gated(self.norms[1](x))).transpose(1, 2))
        x = x + self.drop(self.out(F.silu(self.batch_norm(y)).transpose(1, 2)))
        return self.norms[2](x + 0.5 * self.feed_forward[1](x))


class Conformer(nn.Module):
    """The model of DigitStringsConformer."""

    def __init__(self, bands=40, width=32, blocks=2, heads=4, kernel=5, symbols=11, frames=33):
        super().__init__()
        self.subsampled = Subsampling(bands, width)
        self.blocks = nn.Sequential(*(ConformerBlock(width, heads, 4 * width, kernel) for _ in range(blocks)))
        self.logits = nn.Sequential(nn.LayerNorm(width, 1e-6), nn.Linear(width, symbols))
        self.drop = nn.Dropout(DROPOUT)
        angles = torch.arange(frames)[:, None] * 10000 ** -(torch.arange(width // 2) / (width // 2 - 1))
        self.register_buffer("positions", torch.cat((angles.sin(), angles.cos()), 1))

    def forward(self, x):
        return self.logits(self.blocks(self.drop(self.subsampled(x) + self.positions)))


def ctc_loss(logits, labels):
    lengths = (logits.shape[1],) * len(logits), (labels.shape[1],) * len(labels)
    return F.ctc_loss(F.log_softmax(logits, 2).transpose(0, 1), labels, *lengths)


class TranslationBlock(nn.Module):
    def __init__(self, width, heads, hidden, decodes):
        super().__init__()
        self.heads, self.decodes = heads, decodes
        self.norms = nn.ModuleList(nn.LayerNorm(width, 1e-6) for _ in range(3 if decodes else 2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        if decodes:
            self.query, self.kv = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * width, bias=False)
            self.crossed = nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(hidden, width))
        self.drop = nn.Dropout(DROPOUT)

    def mixed(self, parts, causal=False):
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal).transpose(1, 2).flatten(2)

    def forward(self, x, encoded=None):
        x = x + self.drop(self.out(self.mixed(self.qkv(self.norms[0](x)).chunk(3, -1), self.decodes)))
        if self.decodes:
            x = x + self.drop(self.crossed(self.mixed((self.query(self.norms[2](x)), *self.kv(encoded).chunk(2, -1)))))
        return x + self.drop(self.mlp(self.norms[1](x)))


class EncoderDecoder(nn.Module):
    """The model of Multi30k."""

    def __init__(self, vocabulary=2000, width=64, blocks=2, heads=4, hidden=64, longest=15):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.encoder, self.decoder = (nn.ModuleList(TranslationBlock(width, heads, hidden, decodes) for _ in range(blocks))
                                      for decodes in (False, True))
        self.norms = nn.ModuleList(nn.LayerNorm(width, 1e-6) for _ in range(2))
        angles = torch.arange(longest)[:, None] * 10000 ** -(torch.arange(width // 2) / (width // 2 - 1))
        self.register_buffer("positions", torch.cat((angles.sin(), angles.cos()), 1))
        self.drop = nn.Dropout(DROPOUT)

    def embedded(self, tokens):
        return self.drop(self.embedding(tokens) + self.positions[: tokens.shape[1]])

    def forward(self, source, target):
        x, y = self.embedded(source), self.embedded(target)
        for block in self.encoder:
            x = block(x)
        x = self.norms[0](x)
        for block in self.decoder:
            y = block(y, x)
        return self.norms[1](y) @ self.embedding.weight.T / self.embedding.weight.shape[1] ** 0.5


def smoothed(logits, labels):
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten(), label_smoothing=0.1)


class Dlrm(nn.Module):
    def __init__(self, numbers=6, categories=8, vocabulary=4096, width=16):
        super().__init__()

        def mlp(*widths):
            return nn.Sequential(*(part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())))

        self.table, self.bottom = nn.Embedding(vocabulary, width), mlp(numbers, 64, 32, width)
        self.top = nn.Sequential(mlp(width + (categories + 1) * (categories + 2) // 2, 64, 64, 32), nn.Linear(32, 1))
        self.register_buffer("pairs", torch.triu_indices(categories + 1, categories + 1))

    def forward(self, numbers, categories):
        b = self.bottom(numbers)
        stack = torch.cat((b[:, None], self.table(categories)), 1)
        return self.top(torch.cat((b, (stack @ stack.mT)[:, self.pairs[0], self.pairs[1]]), 1))


class VitBlock(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU("tanh"), nn.Linear(hidden, width))

    def forward(self, x):
        q, k, v = self.qkv(self.norm_1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm_2(x))


class Vit(nn.Module):
    def __init__(self, width=64, blocks=4, heads=4, hidden=256, patch=4, side=8):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*(VitBlock(width, heads, hidden) for _ in range(blocks)), nn.LayerNorm(width, 1e-6))
        self.head = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 10))
        i, j = torch.arange(side * side) // side, torch.arange(side * side) % side
        frequencies = 10000 ** -(torch.arange(width // 4) / (width // 4 - 1))
        x, y = torch.outer(j, frequencies), torch.outer(i, frequencies)
        self.register_buffer("positions", torch.cat((x.sin(), x.cos(), y.sin(), y.cos()), 1))

    def forward(self, images):
        return self.head(self.blocks(self.patches(images).flatten(2).mT + self.positions).mean(1))


class Mlp(nn.Sequential):
    def __init__(self, inputs, units):
        super().__init__(nn.Linear(inputs, units), nn.LayerNorm(units, 1e-6), nn.ReLU(), nn.Dropout(0.1))


class GraphNetwork(nn.Module):
    def __init__(self, node_features=38, width=32, steps=3):
        super().__init__()
        self.nodes, self.edges, self.logit = nn.Linear(node_features, width), nn.Linear(1, width), nn.Linear(width, 1)
        self.steps = nn.ModuleList(nn.ModuleList((Mlp((3 + more) * width, width), Mlp((3 + more) * width, width),
                                                  Mlp((2 + more) * width, width))) for more in [0] + [1] * (steps - 1))

    def forward(self, nodes, edges, senders, receivers, graph_of_node, graph_of_edge, graphs):
        node, edge, state = self.nodes(nodes), self.edges(edges), []
        for of_edges, of_nodes, of_graphs in self.steps:
            edge = of_edges(torch.cat([edge, node[senders], node[receivers]] + [x[graph_of_edge] for x in state], 1))
            zeros = edge.new_zeros(len(node), edge.shape[1])
            sent, received = zeros.index_add(0, senders, edge), zeros.index_add(0, receivers, edge)
            node = of_nodes(torch.cat([node, sent, received] + [x[graph_of_node] for x in state], 1))
            zeros = edge.new_zeros(graphs, edge.shape[1])
            sums = [zeros.index_add(0, graph_of_node, node), zeros.index_add(0, graph_of_edge, edge)]
            state = [of_graphs(torch.cat(sums + state, 1))]
        return self.logit(state[0])[:, 0]


def packed(first, count):
    """Returns the numbers first[i], first[i] + 1, ... of count[i] elements each, one after the other."""
    begins = count.cumsum(0) - count
    return torch.arange(int(count.sum())) + torch.repeat_interleave(first - begins, count)


class Graphs:
    """Random graphs like those of model_tasks.hpp, stored one after the other."""

    def __init__(self, count=4096):
        self.nodes = torch.randint(20, 41, (count,))
        in_graph = torch.arange(int(self.nodes.sum())) - torch.repeat_interleave(self.nodes.cumsum(0) - self.nodes, self.nodes)
        degrees = 2 + in_graph % 6 // 5
        self.first_node = self.nodes.cumsum(0) - self.nodes
        graph = torch.repeat_interleave(torch.arange(count), self.nodes)
        self.edges = torch.zeros(count, dtype=torch.long).index_add(0, graph, degrees)
        self.first_edge = self.edges.cumsum(0) - self.edges
        self.senders = torch.repeat_interleave(in_graph, degrees)
        self.receivers = (torch.rand(len(self.senders)) * torch.repeat_interleave(self.nodes, self.edges)).long()
        self.features = torch.cat((F.one_hot(torch.randint(37, (len(in_graph),)), 37), degrees[:, None]), 1).float()
        self.of_edges, self.labels = torch.ones(len(self.senders), 1), torch.randint(2, (count,)).float()

    def __len__(self):
        return len(self.labels)

    def pack(self, indices):
        """Returns the arguments of the model for some of the graphs."""
        nodes, edges = self.nodes[indices], self.edges[indices]
        of_nodes, of_edges = packed(self.first_node[indices], nodes), packed(self.first_edge[indices], edges)
        numbers = torch.arange(len(indices))
        graph_of_node, graph_of_edge = torch.repeat_interleave(numbers, nodes), torch.repeat_interleave(numbers, edges)
        first = (nodes.cumsum(0) - nodes)[graph_of_edge]
        return (self.features[of_nodes], self.of_edges[of_edges], first + self.senders[of_edges],
                first + self.receivers[of_edges], graph_of_node, graph_of_edge, len(indices))


class GraphTraining:
    """Steps of AdamW on batches of shuffled graphs."""

    def __init__(self, model, batch, compiled):
        self.model, self.graphs, self.batch = model, Graphs(), batch
        self.at = len(self.graphs)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        self.loss = torch.compile(self.whole, dynamic=True) if compiled else self.whole

    def whole(self, labels, *inputs):
        return F.binary_cross_entropy_with_logits(self.model(*inputs), labels)

    def __call__(self):
        if self.at + self.batch > len(self.graphs):
            self.order, self.at = torch.randperm(len(self.graphs)), 0
        indices = self.order[self.at : self.at + self.batch]
        self.at += self.batch
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.graphs.labels[indices], *self.graphs.pack(indices)).backward()
        self.optimizer.step()


class GraphPrediction:
    """Outputs for batches of graphs in their order, without gradients."""

    def __init__(self, model, batch, compiled):
        self.graphs, self.batch, self.at = Graphs(), batch, 0
        self.outputs = torch.compile(model.eval(), dynamic=True) if compiled else model.eval()

    @torch.inference_mode()
    def __call__(self):
        if self.at + self.batch > len(self.graphs):
            self.at = 0
        self.outputs(*self.graphs.pack(torch.arange(self.at, self.at + self.batch)))
        self.at += self.batch


class Attention(nn.Module):
    def __init__(self, width, heads, context, rotary):
        super().__init__()
        self.heads, self.rotary = heads, rotary
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=not rotary), nn.Linear(width, width, bias=not rotary)
        if rotary:
            size = width // heads
            angles = torch.outer(torch.arange(context), 500000 ** (-torch.arange(0, size, 2) / size))
            self.register_buffer("cosines", angles.cos())
            self.register_buffer("sines", angles.sin())
            self.scale = nn.Parameter(torch.tensor(12.0))

    def normalised(self, x):
        a, b = x[..., ::2], x[..., 1::2]
        x = torch.stack((a * self.cosines - b * self.sines, a * self.sines + b * self.cosines), -1).flatten(-2)
        return x / (torch.linalg.vector_norm(x, dim=-1, keepdim=True) + 1e-6)

    def forward(self, x):
        batch, context, width = x.shape
        q, k, v = (part.view(batch, context, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, -1))
        if self.rotary:
            mixed = F.scaled_dot_product_attention(self.scale * self.normalised(q), self.normalised(k), v, is_causal=True,
                                                   scale=1)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class Transformer(nn.Module):
    def __init__(self, vocabulary, context, width, layers, heads, rotary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions = None if rotary else nn.Parameter(0.02 * torch.randn(context, width))

        def norm():
            return nn.RMSNorm(width, eps=1e-6) if rotary else nn.LayerNorm(width)

        def mlp():
            if rotary:
                return nn.Linear(width, 8 * width, bias=False), nn.GLU(), nn.Linear(4 * width, width, bias=False)
            return nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)

        self.blocks = nn.Sequential(*(part for _ in range(layers) for part in
                                      (Add(norm(), Attention(width, heads, context, rotary)), Add(norm(), *mlp()))))
        self.norm = norm()

    def forward(self, tokens):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions
        return self.norm(self.blocks(x)) @ self.embedding.weight.T


class RecurrentModel(nn.Module):
    def __init__(self, vocabulary, width, units):
        super().__init__()
        self.embedding, self.logits = nn.Embedding(vocabulary, width), nn.Linear(units, vocabulary)
        self.lstm = nn.LSTM(width, units, batch_first=True)

    def forward(self, tokens):
        return self.logits(self.lstm(self.embedding(tokens))[0])


def binary_loss(outputs, labels):
    return F.binary_cross_entropy_with_logits(outputs[:, 0], labels)


def images(make, shape, loss=None):
    return make, [torch.rand(EXAMPLES, *shape)], torch.randint(10, (EXAMPLES,)), 128, loss


def text(make, vocabulary, context, batch):
    characters = torch.randint(vocabulary, (EXAMPLES * context + 1,))
    return (make, [characters[:-1].view(EXAMPLES, context)],
            characters[1:].view(EXAMPLES, context), batch, None)


def speech(make):
    return make, [torch.rand(EXAMPLES, 1, 135, 40)], torch.randint(1, 11, (EXAMPLES, 3)), 32, ctc_loss


# Each entry returns a model factory, the inputs, the labels, the batch size and the loss (None: cross-entropy). The graph
# network has no entry, because its examples have different sizes (GraphTraining).
def vgg11(batch_norm):
    layers, channels = [], 3
    for filters in (8, "M", 16, "M", 32, 32, "M", 64, 64, "M", 64, 64, "M"):
        if filters == "M":
            layers.append(nn.MaxPool2d(2))
            continue
        layers.append(nn.Conv2d(channels, filters, 3, padding=1, bias=not batch_norm))
        layers += [nn.BatchNorm2d(filters), nn.ReLU()] if batch_norm else [nn.ReLU()]
        channels = filters
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


class MaskedModel(nn.Module):
    """What the two masked language models share: the embeddings, the heads, and the logits of the chosen rows."""

    def __init__(self, vocabulary, context, width, layers, heads, make_block):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(context, width) * 0.02)
        self.blocks = nn.ModuleList(make_block(width, heads) for _ in range(layers))

    def chosen(self, x, positions):
        return x.gather(1, positions[:, :, None].expand(-1, -1, x.shape[-1]))


class BertBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        x = self.norm_1(x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)))
        return self.norm_2(x + self.down(F.gelu(self.up(x))))


class Bert(MaskedModel):
    def __init__(self, vocabulary=66, context=32, width=64, layers=2, heads=4):
        super().__init__(vocabulary, context, width, layers, heads, BertBlock)
        self.norm, self.transform_norm = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.transform, self.bias = nn.Linear(width, width), nn.Parameter(torch.zeros(vocabulary))

    def forward(self, tokens, positions):
        x = self.norm(self.embedding(tokens) + self.positions)
        for block in self.blocks:
            x = block(x)
        x = self.transform_norm(F.gelu(self.transform(self.chosen(x, positions))))
        return F.linear(x, self.embedding.weight, self.bias)


def plain_norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-30)


class ScaleInvariantBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width, False), nn.Linear(width, width, False)
        self.up, self.down = nn.Linear(width, 4 * width, False), nn.Linear(4 * width, width, False)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(plain_norm(x)).chunk(3, -1))
        scores = F.relu(q @ k.transpose(-1, -2))
        mixed = scores / scores.sum(-1, keepdim=True).clamp_min(1e-30) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(plain_norm(x))))


class ScaleInvariantTransformer(MaskedModel):
    def __init__(self, vocabulary=66, context=32, width=64, layers=2, heads=4):
        super().__init__(vocabulary, context, width, layers, heads, ScaleInvariantBlock)
        self.first, self.transform = nn.Linear(width, width, False), nn.Linear(width, width, False)

    def forward(self, tokens, positions):
        x = self.first(self.embedding(tokens) + self.positions)
        for block in self.blocks:
            x = block(x)
        x = plain_norm(F.relu(self.transform(plain_norm(self.chosen(x, positions)))))
        return 2 * plain_norm(F.linear(x, self.embedding.weight))


def masked(make):
    positions = torch.rand(EXAMPLES, 32).argsort(1)[:, :5].sort(1).values
    return make, [torch.randint(66, (EXAMPLES, 32)), positions], torch.randint(65, (EXAMPLES, 5)), 64, None


TASKS = {
    "simple_cnn": lambda: images(simple_cnn, (1, 28, 28)),
    "residual_cnn": lambda: images(residual_cnn, (3, 32, 32)),
    "resnet8": lambda: images(resnet8, (3, 32, 32), smoothed),
    "vgg11": lambda: images(lambda: vgg11(False), (3, 32, 32), smoothed),
    "vgg11_batch_norm": lambda: images(lambda: vgg11(True), (3, 32, 32), smoothed),
    "vit": lambda: images(Vit, (3, 32, 32), smoothed),
    "unet": lambda: (UNet, [torch.rand(EXAMPLES, 1, 32, 32)], torch.rand(EXAMPLES, 1, 32, 32), 32, F.l1_loss),
    "deep_speech": lambda: speech(DeepSpeech),
    "conformer": lambda: speech(Conformer),
    "translation": lambda: (EncoderDecoder, [torch.randint(2000, (EXAMPLES, rows)) for rows in (15, 14)],
                            torch.randint(2000, (EXAMPLES, 14)), 64, smoothed),
    "dlrm": lambda: (Dlrm, [torch.rand(ROWS, 6), torch.randint(4096, (ROWS, 8))], torch.randint(2, (ROWS,)).float(), 128,
                     binary_loss),
    "transformer": lambda: text(lambda: Transformer(256, 64, 128, 4, 4, False), 256, 64, 16),
    "lm": lambda: text(lambda: Transformer(65, 64, 64, 2, 4, True), 65, 64, 32),
    "bert": lambda: masked(Bert),
    "sibert": lambda: masked(ScaleInvariantTransformer),
    "lstm": lambda: text(lambda: RecurrentModel(65, 64, 128), 65, 64, 32),
}
IMAGES = ("simple_cnn", "residual_cnn", "resnet8", "vgg11", "vgg11_batch_norm", "vit", "unet")

"""Compares the training step and AdamW step of PyTorch or optax with the library's, on one thread. The library
alternates in another process; the arguments are its program (bench_turns) and the package, torch or optax. Prints
ratios of the package's time to the library's, as rows of the table of scripts/bench.sh."""
import gc
import os
import statistics
import subprocess
import sys
import time

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
CPUS = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(CPUS)})  # XLA creates one thread per processor it sees

SIZES = (1 << 14, 1 << 18, 10_000_000, 100_000_000)
BATCHES = (32, 128, 512)
EXAMPLES = 8192
WIDTHS = (784, 256, 256, 10)
PAIRS, SAMPLE_SECONDS = 21, 0.05


class Library:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, what, size, steps):
        self.process.stdin.write(f"{what} {size} {steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def seconds(step, steps):
    start = time.process_time()
    for _ in range(steps):
        step()
    return time.process_time() - start


def steps_for(measure):
    """Returns the number of steps that takes SAMPLE_SECONDS, after a warm-up."""
    measure(3)
    steps = 1
    while (taken := measure(steps)) < SAMPLE_SECONDS:
        steps = max(2 * steps, int(0.8 * steps * SAMPLE_SECONDS / max(taken, 1e-9)))
    return steps


missed = False


def row(library, what, size, label, name, step, bar):
    global missed
    gc.disable()
    ours, theirs = steps_for(lambda n: library.seconds(what, size, n)), steps_for(lambda n: seconds(step, n))
    ratios = []
    for pair in range(PAIRS):
        if pair % 2:
            a = seconds(step, theirs) / theirs
            b = library.seconds(what, size, ours) / ours
        else:
            b = library.seconds(what, size, ours) / ours
            a = seconds(step, theirs) / theirs
        ratios.append(a / b)
    gc.enable()
    lower, median, upper = statistics.quantiles(ratios, n=4, method="inclusive")
    verdict = "" if bar is None else "pass" if median >= bar else "MISS"
    missed = missed or verdict == "MISS"
    told = "" if bar is None else f"median >= {bar:g}"
    print(f"| {label + ': ' + name:<66} | {told:<22} | {f'{median:.3f} [{lower:.3f}, {upper:.3f}]':<22} | {verdict:<4} |")
    sys.stdout.flush()


def torch_steps(library):
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    version = f"torch {torch.__version__}"

    class Training:
        def __init__(self, batch, compiled):
            self.inputs, self.labels = torch.rand(EXAMPLES, WIDTHS[0]), torch.randint(10, (EXAMPLES,))
            layers = []
            for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
                layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            self.model, self.loss = nn.Sequential(*layers[:-1]), nn.CrossEntropyLoss()
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)
            self.forward = torch.compile(self.whole) if compiled else self.whole
            self.batch, self.at = batch, EXAMPLES

        def whole(self, indices):
            return self.loss(self.model(self.inputs[indices]), self.labels[indices])

        def __call__(self):
            if self.at + self.batch > EXAMPLES:
                self.order, self.at = torch.randperm(EXAMPLES), 0
            indices = self.order[self.at : self.at + self.batch]
            self.at += self.batch
            self.optimizer.zero_grad(set_to_none=True)
            self.forward(indices).backward()
            self.optimizer.step()

    for batch in BATCHES:
        label = f"training step, batch {batch}"
        row(library, "training", batch, label, f"{version}, fused AdamW", Training(batch, False), 1)
        try:
            compiled = Training(batch, True)
            compiled()
        except Exception as error:  # torch.compile requires a C++ compiler
            print(f"# torch.compile: {type(error).__name__}", file=sys.stderr)
            continue
        row(library, "training", batch, label, f"{version}, torch.compile", compiled, 1)
    for n in SIZES:
        for name, options, bar in (("fused", {"fused": True}, 3 if n == 1 << 14 else 1), ("foreach", {"foreach": True}, 1)):
            parameter = nn.Parameter(torch.rand(n) - 0.5)
            parameter.grad = torch.rand(n) - 0.5
            optimizer = torch.optim.AdamW([parameter], lr=1e-4, weight_decay=0.01, **options)
            row(library, "adamw", n, f"AdamW step, {n} parameters", f"{version}, {name}", optimizer.step, bar)


def optax_steps(library):
    import jax
    import jax.numpy as jnp
    import numpy
    import optax

    jax.config.update("jax_cpu_enable_async_dispatch", False)
    jax.devices()
    os.sched_setaffinity(0, CPUS)
    version = f"optax {optax.__version__}, jitted"
    random = numpy.random.default_rng(1)

    class Training:
        def __init__(self, batch):
            self.inputs = random.random((EXAMPLES, WIDTHS[0]), dtype=numpy.float32)
            self.labels = random.integers(10, size=EXAMPLES)
            self.parameters = [
                (jnp.asarray(random.normal(size=(i, o), scale=(2 / i) ** 0.5), jnp.float32), jnp.zeros(o))
                for i, o in zip(WIDTHS, WIDTHS[1:])
            ]
            self.batch, self.at = batch, EXAMPLES
            optimizer = optax.adamw(1e-3, weight_decay=0.01)
            self.state = optimizer.init(self.parameters)

            def loss(parameters, x, y):
                for weight, bias in parameters[:-1]:
                    x = jax.nn.relu(x @ weight + bias)
                logits = x @ parameters[-1][0] + parameters[-1][1]
                return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

            def step(parameters, state, x, y):
                value, gradients = jax.value_and_grad(loss)(parameters, x, y)
                updates, state = optimizer.update(gradients, state, parameters)
                return optax.apply_updates(parameters, updates), state, value

            self.step = jax.jit(step, donate_argnums=(0, 1))

        def __call__(self):
            if self.at + self.batch > EXAMPLES:
                self.order, self.at = random.permutation(EXAMPLES), 0
            indices = self.order[self.at : self.at + self.batch]
            self.at += self.batch
            x, y = self.inputs[indices], self.labels[indices]
            self.parameters, self.state, value = self.step(self.parameters, self.state, x, y)
            value.block_until_ready()

    class AdamW:
        def __init__(self, n):
            optimizer = optax.adamw(1e-4, weight_decay=0.01)
            self.p, self.g = jnp.asarray(random.random(n), jnp.float32), jnp.asarray(random.random(n), jnp.float32)
            self.state = optimizer.init(self.p)

            def step(p, state, g):
                updates, state = optimizer.update(g, state, p)
                return optax.apply_updates(p, updates), state

            self.step = jax.jit(step, donate_argnums=(0, 1))

        def __call__(self):
            self.p, self.state = self.step(self.p, self.state, self.g)
            self.p.block_until_ready()

    for batch in BATCHES:
        row(library, "training", batch, f"training step, batch {batch}", version, Training(batch), 1)
    for n in SIZES:
        row(library, "adamw", n, f"AdamW step, {n} parameters", version, AdamW(n), 1)


def main():
    program, which = sys.argv[1:]
    {"torch": torch_steps, "optax": optax_steps}[which](Library(program))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

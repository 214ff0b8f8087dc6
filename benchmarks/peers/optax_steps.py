"""Times optax's jitted steps on one thread. Parameters and state are donated, so that XLA updates in
place. The stream is PyTorch's, as in torch_steps.py. Prints the lines of measure.py."""
import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
CPUS = os.sched_getaffinity(0)
os.sched_setaffinity(0, {min(CPUS)})  # XLA creates one thread per processor it sees

import jax
import jax.numpy as jnp
import optax
import torch

import measure

RULES = {
    "sgd": lambda rate: optax.sgd(rate),
    "momentum": lambda rate: optax.sgd(rate, momentum=0.9),
    "nesterov": lambda rate: optax.sgd(rate, momentum=0.9, nesterov=True),
    "adam": optax.adam,
    "adamw": lambda rate: optax.adamw(rate, weight_decay=0.01),
    "clip + adamw": lambda rate: optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=0.01)),
    "nadam": optax.nadam,
    "nadamw": lambda rate: optax.nadamw(rate, weight_decay=0.01),
    "radam": optax.radam,
    "amsgrad": optax.amsgrad,
    "ademamix": optax.contrib.ademamix,
    "adagrad": optax.adagrad,
    "rmsprop": lambda rate: optax.rmsprop(rate, decay=0.99, eps_in_sqrt=False),
    "centered rmsprop + momentum": lambda rate: optax.rmsprop(
        rate, decay=0.99, eps_in_sqrt=False, centered=True, momentum=0.9
    ),
    "lion": lambda rate: optax.lion(rate, weight_decay=0.01),
    "lamb": lambda rate: optax.lamb(rate, weight_decay=0.01),
    "lars": optax.lars,
    "schedule-free sgd": optax.contrib.schedule_free_sgd,
    "schedule-free adamw": optax.contrib.schedule_free_adamw,
}


def main():
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    jax.devices()
    os.sched_setaffinity(0, CPUS)
    torch.set_num_threads(1)
    print(f"# optax {optax.__version__}, jax {jax.__version__}")
    for rule, make in RULES.items():
        optimizer = make(1e-4)

        def update(p, state, g):
            updates, state = optimizer.update(g, state, p)
            return optax.apply_updates(p, updates), state

        compiled = jax.jit(update, donate_argnums=(0, 1))
        for case, shapes, n in measure.cases(rule):
            p, g = (
                [jax.random.uniform(jax.random.fold_in(jax.random.key(seed), i), shape, minval=-0.5, maxval=0.5)
                 for i, shape in enumerate(shapes)]
                for seed in (1, 2)
            )
            at = [p, jax.tree.map(jnp.copy, optimizer.init(p))]  # a copy, because a buffer cannot be donated twice
            del p

            def step():
                at[:] = compiled(at[0], at[1], g)
                jax.block_until_ready(at[0])

            measure.line("optax", rule, case, n, step)


if __name__ == "__main__":
    main()

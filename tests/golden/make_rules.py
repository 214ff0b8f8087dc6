"""Writes the golden values of the update rules to rules.hpp in this folder.

    python -m venv venv && venv/bin/pip install torch optax numpy "jax[cpu]" schedulefree
    venv/bin/python tests/golden/make_rules.py

Ten steps in double precision on two tensors, w (5x3, row-major) and b (7). One index i runs over both, w first (b[0] is
i = 15). A row holds the 22 values after the last step. The generated header names the library versions and defines
start() and gradient() for the C++ tests.
"""
from pathlib import Path
from unittest import mock

import jax
import numpy as np
import optax
import optax.contrib
import schedulefree
import torch

jax.config.update("jax_enable_x64", True)

STEPS, LR = 10, 0.05
W, SIZE = 15, 22  # w is values[0:15], b is values[15:22]


def start(size=SIZE):
    return ((np.arange(size) * 37 + 11) % 101) / 101 - 0.5


def gradient(t, p, first=0):  # first: the index i of p[0]
    i = np.arange(first, first + p.size).reshape(p.shape)
    return ((i * 53 + t * 29 + 7) % 97) / 97 - 0.45 + 0.1 * p


# ---- one runner per library ------------------------------------------------------------------------------------


def by_torch(make_w, make_b=None, shape=(5, 3), size=SIZE):
    """make_w and make_b create an optimizer from a list of tensors. Without make_b, make_w receives both tensors."""
    n = shape[0] * shape[1]
    w, b = torch.from_numpy(start(size)[:n].reshape(shape)), torch.from_numpy(start(size)[n:])
    optimizers = [make_w([w]), make_b([b])] if make_b else [make_w([w, b])]
    for t in range(1, STEPS + 1):
        w.grad, b.grad = torch.from_numpy(gradient(t, w.numpy())), torch.from_numpy(gradient(t, b.numpy(), n))
        for optimizer in optimizers:
            optimizer.step()
    return np.concatenate([w.numpy().ravel(), b.numpy()])


def by_schedule_free(make):
    """Runs the official package. The row holds x, the parameters used for evaluation."""
    w, b = torch.from_numpy(start()[:W].reshape(5, 3)), torch.from_numpy(start()[W:])
    optimizer = make([w, b])
    optimizer.train()
    for t in range(1, STEPS + 1):
        w.grad, b.grad = torch.from_numpy(gradient(t, w.numpy())), torch.from_numpy(gradient(t, b.numpy(), W))
        optimizer.step()
    optimizer.eval()
    return np.concatenate([w.numpy().ravel(), b.numpy()])


def by_optax(rule, average=None):
    """average: an optax transformation of the weights after each step. If given, its last output is returned."""
    p = {"w": start()[:W].reshape(5, 3), "b": start()[W:]}
    p = jax.tree.map(jax.numpy.asarray, p)
    state, average_state, result = rule.init(p), average and average.init(p), p
    for t in range(1, STEPS + 1):
        g = {"w": gradient(t, np.asarray(p["w"])), "b": gradient(t, np.asarray(p["b"]), W)}
        u, state = rule.update(jax.tree.map(jax.numpy.asarray, g), state, p)
        result = p = optax.apply_updates(p, u)
        if average:
            result, average_state = average.update(p, average_state)
    assert result["w"].dtype == result["b"].dtype == np.float64
    return np.concatenate([np.asarray(result["w"]).ravel(), np.asarray(result["b"])])


def by_numpy(step, shape=(SIZE,)):
    """Runs step(t, p, g, s) -> new p. s is the rule's state, a dictionary in which s["m"] and s["v"] start at zero."""
    p = start(np.prod(shape)).reshape(shape)
    s = {"m": np.zeros(shape), "v": np.zeros(shape)}
    for t in range(1, STEPS + 1):
        p = step(t, p, gradient(t, p), s)
    return p.ravel()


# ---- rules implemented here, where no library computes them in double ------------------------------------------


def moments(t, g, s, b1=0.9, b2=0.999):
    s["m"] = b1 * s["m"] + (1 - b1) * g
    s["v"] = b2 * s["v"] + (1 - b2) * g * g
    return s["m"], s["v"] / (1 - b2**t)


def nadamw_algoperf(t, p, g, s):  # algorithmic-efficiency, archived_paper_baselines/nadamw, PyTorch side
    m, v_hat = moments(t, g, s)
    m_hat = (0.9 * m + (1 - 0.9) * g) / (1 - 0.9**t)
    return p * (1 - LR * 0.1) - LR * m_hat / (np.sqrt(v_hat) + 1e-8)


def adamw_scheduled_decay(t, p, g, s):
    decay = 0.1 * (1 - (t - 1) / 10)  # linear from 0.1 to 0 over 10 steps, evaluated at t - 1
    m, v_hat = moments(t, g, s)
    return p * (1 - LR * decay) - LR * m / (1 - 0.9**t) / (np.sqrt(v_hat) + 1e-8)


def sam_momentum(t, p, g, s):  # davda54/sam, sam.py: the norm is over all tensors
    e = 0.05 * g / (np.linalg.norm(g) + 1e-12)
    s["m"] = 0.9 * s["m"] + gradient(t, p + e)
    return p - LR * s["m"]


def adam_without_correction(t, p, g, s):
    m, _ = moments(t, g, s)
    return p - LR * m / (np.sqrt(s["v"]) + 1e-8)


def adam_uncorrected_eps(t, p, g, s, eps=1e-3):  # "epsilon hat" of Kingma & Ba, section 2; TensorFlow, Keras
    m, _ = moments(t, g, s)
    return p - LR * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(s["v"]) + eps)


def tensors(f):
    """Applies f(p, g, name) -> new p to w and b separately, for rules that compute norms per tensor."""
    return lambda p, g: np.concatenate([f(p[:W], g[:W], "w"), f(p[W:], g[W:], "b")])


def mlperf_lars(t, p, g, s):  # mlcommons/training, lars_optimizer.py: w adapted, b in its skip list
    def adapted(p, g, name):
        if name == "b":
            return g
        return 0.01 * norm(p) / (norm(g) + 0.1 * norm(p)) * (g + 0.1 * p)
    s["m"] = 0.9 * s["m"] - LR * tensors(adapted)(p, g)
    return p + s["m"]


def lamb_variant(correct=True, least=0.0, most=np.inf, outside=False):
    def step(t, p, g, s):
        m, v_hat = moments(t, g, s)
        u = m / (1 - 0.9**t) / (np.sqrt(v_hat) + 1e-6) if correct else m / (np.sqrt(s["v"]) + 1e-6)
        def update(p, u, _):
            inner, outer = (u, 0.1 * p) if outside else (u + 0.1 * p, 0)
            return p - LR * (np.clip(norm(p) / norm(inner), least, most) * inner + outer)
        return tensors(update)(p, u)
    return step


def norm(x):
    return np.sqrt(np.sum(x * x))


def maximum_variance(t, g, s, least, most):
    """zhuchen03/MaxVA. Returns the second moment."""
    if t == 1:
        s["a"], s["q"], s["w"], b = 0 * g, 0 * g, 0 * g, most
    else:
        mean = s["a"] / s["w"]
        var, d = s["q"] / s["w"] - mean**2, (g - mean) ** 2
        b = np.clip((d + var) / (s["w"] * (d - var) + d + var + 1e-16), least, most)
    s["a"], s["q"], s["w"] = b * s["a"] + (1 - b) * g, b * s["q"] + (1 - b) * g * g, b * s["w"] + (1 - b)
    return s["q"] / s["w"]


def madam(t, p, g, s):
    second = maximum_variance(t, g, s, 0.5, 0.999)
    s["m"] = 0.9 * s["m"] + (1 - 0.9) * g
    return p * (1 - LR * 0.1) - LR / (1 - 0.9**t) * s["m"] / (np.sqrt(second) + 1e-8)


def lamadam(t, p, g, s):  # the rate varies, because it is inside the momentum
    rate = LR * (1 - (t - 1) / 20)
    g = g + 0.1 * p
    second = maximum_variance(t, g, s, 0.5, 0.98)
    s["m"] = 0.9 * s["m"] + (1 - 0.9) * rate * g / (np.sqrt(second) + 1e-15)
    s["c"] = 0.9 * s.get("c", 0) + (1 - 0.9) * rate
    return p - rate / s["c"] * s["m"]


def diffgrad(t, p, g, s):  # shivram1987/diffGrad
    m, _ = moments(t, g, s)
    xi = 1 / (1 + np.exp(-np.abs(s.get("previous", 0) - g)))
    s["previous"] = g
    return p - LR * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * xi * m / (np.sqrt(s["v"]) + 1e-8)


def dgrad(t, p, g, s):  # Nanni et al. 2021 as summarised in rules/stages/dgrad.hpp
    m, _ = moments(t, g, s)
    s["mean"] = s.get("mean", 0 * g) + (g - s.get("mean", 0 * g)) / t
    d = np.abs(g - s["mean"])
    def friction(d, _, name):
        return 1 / (1 + np.exp(-4 * d / max(np.max(d), 1e-300)))
    xi = tensors(friction)(d, d)
    return p - LR * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * xi * m / (np.sqrt(s["v"]) + 1e-8)


def yogi_with_m_from_zero():  # as in the paper; optax initialises m like v
    rule = optax.yogi(LR)
    def init(p):
        adam, *rest = rule.init(p)
        return (adam._replace(mu=optax.tree.zeros_like(adam.mu)), *rest)
    return optax.GradientTransformation(init, rule.update)


def yogi_paper(t, p, g, s):  # Zaheer et al. 2018, Algorithm 2; beta2 is small, so that v also decreases
    s["m"] = 0.9 * s["m"] + (1 - 0.9) * g
    s["v"] = s["v"] - (1 - 0.5) * np.sign(s["v"] - g * g) * g * g
    return p - LR * s["m"] / (np.sqrt(s["v"]) + 1e-3)


def adagrad_norm(t, p, g, s):  # AdaBatchGrad: the sum excludes the current gradient
    before = s.get("sum", 0.0)
    s["sum"] = before + np.sum(g * g)
    return p - LR * g / np.sqrt(1 + before)


def noise_adaptive_nesterov(mu=0.5, total=12):  # R3za/expsls, accelerated: rho L = 1 / LR; returns x
    rho_kappa, alpha = 1 / (LR * mu), (1 / total) ** (1 / total)
    a = lambda k: alpha ** (k / 2) / np.sqrt(rho_kappa)
    b = lambda k: (1 - a(k - 1)) * a(k - 1) * alpha / (a(k) + alpha * a(k - 1) ** 2)
    x = before = start()
    for k in range(1, STEPS + 1):
        y = x + b(k) * (x - before)
        before, x = x, y - LR * alpha**k * gradient(k, y)
    return x


def relative_clip(t, p, g, s, decay=0.01, c=4e-4):  # SIBERT; c is small enough for clipping to occur
    most = np.sqrt(2 * c * decay / LR) * norm(p)
    return (1 - LR * decay) * p - LR * g * min(1, most / norm(g))


def ademamix_warmup(t, p, g, s, warmup=8):  # apple/ml-ademamix, both schedulers
    alpha, beta3 = (t / warmup * 5 if t < warmup else 5), 0.9999
    if t < warmup:
        half_life = lambda beta: np.log(0.5) / np.log(beta) - 1
        beta3 = 0.5 ** (1 / ((1 - t / warmup) * half_life(0.9) + t / warmup * half_life(0.9999) + 1))
    m, v_hat = moments(t, g, s)
    s["slow"] = beta3 * s.get("slow", 0) + (1 - beta3) * g
    return p - LR * (m / (1 - 0.9**t) + alpha * s["slow"]) / (np.sqrt(v_hat) + 1e-8)


def detached_decay(t, p, g, s, squared):  # the rate decreases from its peak, LR
    rate = LR * (1 - (t - 1) / 20)
    m, v_hat = moments(t, g, s)
    factor = rate / LR * (rate if squared else 1)
    return p - rate * m / (1 - 0.9**t) / (np.sqrt(v_hat) + 1e-8) - 0.1 * factor * p


def polyak_mean():
    values = []
    def step(t, p, g, s):
        values.append(p - LR * g)
        return values[-1]
    by_numpy(step)
    return np.mean(values[3:], axis=0)


def newton_schulz(u):
    x = u.T if u.shape[0] > u.shape[1] else u
    x = x / max(np.linalg.norm(x), 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.T if u.shape[0] > u.shape[1] else x


def muon(t, p, g, s, momentum=0.95):
    s["m"] = momentum * s["m"] + (1 - momentum) * g
    u = (1 - momentum) * g + momentum * s["m"]  # Nesterov
    return p * (1 - LR * 0.1) - LR * max(1, p.shape[0] / p.shape[1]) ** 0.5 * newton_schulz(u)


def muon_checked(shape):
    """torch.optim.Muon rounds to bfloat16 in Newton-Schulz, so it only checks the values, which numpy computes."""
    ours, size = by_numpy(muon, shape), shape[0] * shape[1]
    theirs = lambda: by_torch(lambda p: torch.optim.Muon(p, LR, 0.1), torch_adamw, shape, size + 7)[:size]
    rounded = np.abs(ours - theirs()).max()
    with mock.patch.object(torch, "bfloat16", torch.float64):  # torch's code without the rounding
        exact = np.abs(ours - theirs()).max()
    print(f"muon {shape}: numpy - torch {exact:.1e}, with torch's bfloat16 {rounded:.1e}")
    assert exact < 1e-13 and rounded < 2e-2
    return ours


# ---- the rows ------------------------------------------------------------------------------------------------------


def torch_sgd(**options):
    return by_torch(lambda p: torch.optim.SGD(p, LR, **options))


def torch_nadam():
    torch.set_default_dtype(torch.float64)  # otherwise mu_product, a tensor, has type float
    try:
        return by_torch(lambda p: torch.optim.NAdam(p, LR))
    finally:
        torch.set_default_dtype(torch.float32)


def torch_adamw(p):
    return torch.optim.AdamW(p, LR, weight_decay=0.1)


def clip_then(rule, limit=0.5):
    return by_optax(optax.chain(optax.clip_by_global_norm(limit), rule))


MUON = "numpy, torch.optim.Muon(weight_decay=0.1) in double"


def rules():
    adamw_cosine = optax.adamw(optax.cosine_decay_schedule(0.05, 8, alpha=0.1), weight_decay=0.1)
    lamb = optax.lamb(LR, eps=1e-6, weight_decay=0.1)
    return [
        ("sgd", "torch.optim.SGD", torch_sgd()),
        ("sgd_l2", "torch.optim.SGD(weight_decay=0.1)", torch_sgd(weight_decay=0.1)),
        ("momentum", "torch.optim.SGD(momentum=0.9)", torch_sgd(momentum=0.9)),
        ("momentum_dampening", "torch.optim.SGD(momentum=0.9, dampening=0.3): no dampening in the first step",
         torch_sgd(momentum=0.9, dampening=0.3)),
        ("nesterov", "torch.optim.SGD(momentum=0.9, nesterov=True)", torch_sgd(momentum=0.9, nesterov=True)),
        ("adam", "torch.optim.Adam", by_torch(lambda p: torch.optim.Adam(p, LR))),
        ("adam_large_eps", "torch.optim.Adam(eps=0.1)", by_torch(lambda p: torch.optim.Adam(p, LR, eps=0.1))),
        ("adamw", "torch.optim.AdamW(weight_decay=0.1)", by_torch(torch_adamw)),
        ("adamw_optax", "optax.adamw(weight_decay=0.1)", by_optax(optax.adamw(LR, weight_decay=0.1))),
        ("nadamw", "numpy, AlgoPerf's formula, weight_decay=0.1", by_numpy(nadamw_algoperf)),
        ("nadamw_optax", "optax.nadamw(weight_decay=0.1)", by_optax(optax.nadamw(LR, weight_decay=0.1))),
        ("lamb", "optax.lamb(weight_decay=0.1, eps=1e-6)", by_optax(lamb)),
        ("lars", "optax.lars(weight_decay=0.1, trust_coefficient=0.01, momentum=0.9)",
         by_optax(optax.lars(LR, weight_decay=0.1, trust_coefficient=0.01, momentum=0.9))),
        ("lion", "optax.lion(b1=0.9, b2=0.99, weight_decay=0.1)",
         by_optax(optax.lion(LR, b1=0.9, b2=0.99, weight_decay=0.1))),
        ("clip_sgd", "optax.clip_by_global_norm(0.5), sgd", clip_then(optax.sgd(LR))),
        ("clip_sgd_some_steps", "optax.clip_by_global_norm(1.4), sgd: clips in some steps only",
         clip_then(optax.sgd(LR), 1.4)),
        ("clip_adamw", "optax.clip_by_global_norm(0.5), adamw(weight_decay=0.1)",
         clip_then(optax.adamw(LR, weight_decay=0.1))),
        ("clip_lamb", "optax.clip_by_global_norm(0.5), lamb(weight_decay=0.1, eps=1e-6)", clip_then(lamb)),
        ("muon", f"w: {MUON}; b: torch.optim.AdamW(weight_decay=0.1)",
         np.concatenate([muon_checked((5, 3)), by_torch(torch_adamw)[W:]])),
        ("ema", "optax.ema(0.9, debias=True) of the weights after each optax.sgd step; holds the average",
         by_optax(optax.sgd(LR), optax.ema(0.9, debias=True))),
        ("sam", "numpy, davda54/sam's formula, rho=0.05, base momentum 0.9", by_numpy(sam_momentum)),
        ("adamw_masked", "optax.adamw(weight_decay=0.1, mask: w only)",
         by_optax(optax.adamw(LR, weight_decay=0.1, mask={"w": True, "b": False}))),
        ("adamw_cosine", "optax.adamw(cosine_decay_schedule(0.05, 8, alpha=0.1), weight_decay=0.1)",
         by_optax(adamw_cosine)),
        ("adam_uncorrected_eps", "numpy, eps-hat form, eps=1e-3", by_numpy(adam_uncorrected_eps)),
        ("adam_eps_inside", "optax.adam(eps=0, eps_root=1e-3)", by_optax(optax.adam(LR, eps=0, eps_root=1e-3))),
        ("adam_without_correction", "numpy, no bias correction", by_numpy(adam_without_correction)),
        ("amsgrad", "torch.optim.Adam(amsgrad=True)", by_torch(lambda p: torch.optim.Adam(p, LR, amsgrad=True))),
        ("amsgrad_optax", "optax.amsgrad", by_optax(optax.amsgrad(LR))),
        ("nadam", "torch.optim.NAdam, its mu_product in double", torch_nadam()),
        ("radam", "torch.optim.RAdam", by_torch(lambda p: torch.optim.RAdam(p, LR))),
        ("radam_decayed", "torch.optim.RAdam(betas=(0.9, 0.9), weight_decay=0.1, decoupled_weight_decay=True)",
         by_torch(lambda p: torch.optim.RAdam(p, LR, (0.9, 0.9), weight_decay=0.1, decoupled_weight_decay=True))),
        ("radam_optax", "optax.radam(b2=0.9)", by_optax(optax.radam(LR, b2=0.9))),
        ("adagrad", "torch.optim.Adagrad", by_torch(lambda p: torch.optim.Adagrad(p, LR))),
        ("adagrad_optax", "optax.adagrad", by_optax(optax.adagrad(LR))),
        ("rmsprop", "torch.optim.RMSprop", by_torch(lambda p: torch.optim.RMSprop(p, LR))),
        ("rmsprop_optax", "optax.rmsprop(eps=1e-3, initial_scale=1)",
         by_optax(optax.rmsprop(LR, eps=1e-3, initial_scale=1))),
        ("rmsprop_centered_momentum", "torch.optim.RMSprop(centered=True, momentum=0.9)",
         by_torch(lambda p: torch.optim.RMSprop(p, LR, centered=True, momentum=0.9))),
        ("ademamix", "optax.contrib.ademamix(weight_decay=0.1)",
         by_optax(optax.contrib.ademamix(LR, weight_decay=0.1))),
        ("ademamix_warmup", "numpy, the authors' schedulers over 8 steps", by_numpy(ademamix_warmup)),
        ("mlperf_lars", "numpy, MLPerf's formula, eeta=0.01, weight_decay=0.1, b skipped", by_numpy(mlperf_lars)),
        ("lamb_without_correction", "numpy, no bias correction, weight_decay=0.1",
         by_numpy(lamb_variant(correct=False))),
        ("lamb_bounded", "numpy, ratio within [0.3, 0.5]", by_numpy(lamb_variant(least=0.3, most=0.5))),
        ("lamb_decay_outside", "numpy, decay outside the norm", by_numpy(lamb_variant(outside=True))),
        ("schedule_free_sgd", "schedulefree.SGDScheduleFree(weight_decay=0.1, warmup_steps=4); holds x",
         by_schedule_free(lambda p: schedulefree.SGDScheduleFree(p, LR, weight_decay=0.1, warmup_steps=4))),
        ("schedule_free_adamw", "schedulefree.AdamWScheduleFree(weight_decay=0.1, warmup_steps=4, r=0.75); holds x",
         by_schedule_free(lambda p: schedulefree.AdamWScheduleFree(p, LR, weight_decay=0.1, warmup_steps=4, r=0.75))),
        ("madam", "numpy, MaxVA's formula, weight_decay=0.1", by_numpy(madam)),
        ("lamadam", "numpy, MaxVA's formula, L2 0.1, rate linear from 0.05 to 0 over 20 steps", by_numpy(lamadam)),
        ("diffgrad", "numpy, the authors' formula", by_numpy(diffgrad)),
        ("dgrad", "numpy, the formula of rules/stages/dgrad.hpp", by_numpy(dgrad)),
        ("yogi", "optax.yogi (eps=1e-3), its m from 0", by_optax(yogi_with_m_from_zero())),
        ("yogi_paper", "numpy, Algorithm 2, b2=0.5, eps=1e-3, from 0, no bias correction", by_numpy(yogi_paper)),
        ("adagrad_norm", "numpy, AdaBatchGrad's formula", by_numpy(adagrad_norm)),
        ("noise_adaptive_nesterov", "numpy, the authors' formulas, mu=0.5, 12 steps; holds x", noise_adaptive_nesterov()),
        ("relative_clipped_sgd", "numpy, SIBERT's formula, C=0.0004", by_numpy(relative_clip)),
        ("decay_by_schedule", "numpy, Adam, decay 0.1 x lr / 0.05, rate linear from 0.05 to 0 over 20 steps",
         by_numpy(lambda t, p, g, s: detached_decay(t, p, g, s, False))),
        ("decay_by_rate_squared", "numpy, the same, decay 0.1 x lr^2 / 0.05",
         by_numpy(lambda t, p, g, s: detached_decay(t, p, g, s, True))),
        ("polyak", "numpy, mean of the values after steps 4 to 10 of SGD", polyak_mean()),
        ("clip_value", "torch.nn.utils.clip_grad_value_(0.2), SGD", by_numpy(
            lambda t, p, g, s: p - LR * np.clip(g, -0.2, 0.2))),
        ("clip_norm_torch", "torch.nn.utils.clip_grad_norm_(0.5), SGD", by_numpy(
            lambda t, p, g, s: p - LR * g * min(1, 0.5 / (norm(g) + 1e-6)))),
        ("adamw_scheduled_decay", "numpy, torch.optim.AdamW's formula, weight_decay linear from 0.1 to 0 over 10 steps",
         by_numpy(adamw_scheduled_decay)),
    ]


def matrix_rules():
    return [("muon_tall", f"8x3, {MUON}", muon_checked((8, 3))), ("muon_wide", f"3x8, {MUON}", muon_checked((3, 8)))]


def cpp(row):
    rule, reference, values = row
    numbers = [f"{value:.17g}" for value in values]
    lines = [", ".join(numbers[i : i + 5]) for i in range(0, len(numbers), 5)]
    return f'    {{"{rule}", "{reference}",\n     {{' + ",\n      ".join(lines) + "}},\n"


HEADER = """\
// Made by make_rules.py with torch {torch}, optax {optax}, jax {jax}, numpy {numpy}. Do not edit.
// Run again: python tests/golden/make_rules.py (pip install torch optax numpy "jax[cpu]" schedulefree).
//
// The values after ten steps, in double, of w (5x3, row-major) and then b (7). One index i runs over both.
// Unless a row says otherwise: learning rate 0.05, beta1 0.9, beta2 0.999, eps 1e-8; muon: momentum 0.95 with Nesterov,
// five Newton-Schulz steps (3.4445, -4.7750, 2.0315), rate times sqrt(max(1, rows / columns)).
#pragma once

// clang-format off
namespace golden {{

inline constexpr int steps = {steps};
inline constexpr double learning_rate = {lr};
constexpr double start(int i) {{ return (i * 37 + 11) % 101 / 101.0 - 0.5; }}
// t counts from 1
constexpr double gradient(int t, int i, double p) {{ return (i * 53 + t * 29 + 7) % 97 / 97.0 - 0.45 + 0.1 * p; }}

struct Row {{ const char* rule; const char* reference; double values[22]; }};
inline constexpr Row rules[] = {{
{rules}}};

// One matrix alone, 24 values, row-major; i is the index in the matrix.
struct MatrixRow {{ const char* rule; const char* reference; double values[24]; }};
inline constexpr MatrixRow matrix_rules[] = {{
{matrix_rules}}};

}}  // namespace golden
"""

if __name__ == "__main__":
    versions = {m.__name__: str(m.__version__) for m in (torch, optax, jax, np)}
    text = HEADER.format(steps=STEPS, lr=LR, rules="".join(map(cpp, rules())),
                         matrix_rules="".join(map(cpp, matrix_rules())), **versions)
    Path(__file__).with_name("rules.hpp").write_text(text)

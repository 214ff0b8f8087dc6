"""Times matrix rules in PyTorch on one tensor and one thread: torch.optim.Muon, which computes in bfloat16, and plain
implementations of all rules in float, whose arithmetic, blocks and periods are those of matrix_steps.cpp. If they are
installed, also two packages: muon-optimizer, by Muon's author, which computes in bfloat16; and Shampoo and SOAP of
pytorch_optimizer, because no package of their authors was found. Its Shampoo has the same blocks and period, and
computes all roots in one step. Prints lines of the format of matrix_steps.cpp."""
import importlib.util
import statistics

import torch

from measure import seconds

SHAPES = ((512, 512), (1024, 4096))
RATE, DECAY, BLOCK, LONGEST_SIDE = 1e-3, 0.01, 1024, 2048


class Muon:
    """Keller Jordan's Muon, in float."""

    def __init__(self, p):
        self.p, self.m = p, torch.zeros_like(p)

    def step(self, g):
        self.m.lerp_(g, 0.05)
        x = g.lerp(self.m, 0.95)
        x = x / x.norm().clamp(min=1e-7)
        for _ in range(5):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
        self.p.mul_(1 - RATE * 0.1).sub_(x, alpha=RATE)


def root_by_eigenvalues(a, p=4, ridge=1e-6):
    values, vectors = torch.linalg.eigh(a)
    return (vectors * (values.clamp(min=0) + ridge * values[-1]).pow(-1 / p)) @ vectors.T


def root_by_newton(a, p=4, ridge=1e-6):
    eye = torch.eye(len(a))
    largest = torch.rand(len(a))
    for _ in range(20):
        largest = a @ (largest / largest.norm())
    m = a + ridge * largest.norm() * eye
    z = (p + 1) / (2 * m.norm())
    x, m, distance = z ** (1 / p) * eye, z * m, float("inf")
    for _ in range(100):
        t = ((p + 1) * eye - m) / p
        x, square = x @ t, t @ t
        m = square @ square @ m
        before, distance = distance, (m - eye).norm().item()
        if distance <= 1e-6 or (before < 1e-2 and distance > 0.5 * before):
            break
    return x @ (((p + 1) * eye - m) / p)


class Shampoo:
    """Shampoo with blocks, grafting from Adam, and roots every 20 steps, each root at a different step."""

    def __init__(self, p, root):
        self.p, self.root, self.t = p, root, 0
        self.blocks = [
            (slice(i, i + BLOCK), slice(j, j + BLOCK))
            for i in range(0, p.shape[0], BLOCK)
            for j in range(0, p.shape[1], BLOCK)
        ]
        self.m, self.v = torch.zeros_like(p), torch.zeros_like(p)
        self.factors = [[torch.zeros(s, s) for s in p[block].shape] for block in self.blocks]
        self.roots = [[None, None] for _ in self.blocks]

    def step(self, g):
        self.t += 1
        bias1, bias2 = 1 - 0.9**self.t, 1 - 0.999**self.t
        self.m.lerp_(g, 0.1)
        self.v.mul_(0.999).addcmul_(g, g, value=0.001)
        graft = (self.m / bias1) / ((self.v / bias2).sqrt() + 1e-8)
        self.p.mul_(1 - RATE * DECAY)
        for k, block in enumerate(self.blocks):
            x = g[block]
            for side, square in enumerate((x @ x.T, x.T @ x)):
                self.factors[k][side].lerp_(square, 0.001)
                if self.t == 1 or (self.t + 2 * k + side) % 20 == 0:
                    self.roots[k][side] = self.root(self.factors[k][side] / bias2)
            left, right = self.roots[k]
            direction = left @ (self.m[block] / bias1) @ right
            self.p[block].sub_(direction * (graft[block].norm() / (direction.norm() + 1e-16)), alpha=RATE)


class Soap:
    """SOAP as in the authors' soap.py, with a new basis every 10 steps, each side at a different step."""

    def __init__(self, p):
        self.p, self.t = p, -1
        self.m, self.v = torch.zeros_like(p), torch.zeros_like(p)
        self.sides = [side for side in (0, 1) if p.shape[side] <= LONGEST_SIDE]
        self.factors = {side: torch.zeros(p.shape[side], p.shape[side]) for side in self.sides}
        self.bases = {}

    def rotated(self, x, back=False):
        for side, basis in self.bases.items():
            q = basis.T if back else basis
            x = q.T @ x if side == 0 else x @ q
        return x

    def measure(self, g):
        for side in self.sides:
            self.factors[side].lerp_(g @ g.T if side == 0 else g.T @ g, 0.05)

    def refresh(self, side):
        """Updates a basis by one orthogonalised power iteration, columns by descending eigenvalue; rotates m and v."""
        factor, basis = self.factors[side], self.bases[side]
        projected = factor @ basis
        order = (basis * projected).sum(0).argsort(descending=True)
        self.v = self.v.index_select(side, order)
        m = self.rotated(self.m, back=True)
        self.bases[side] = torch.linalg.qr(projected[:, order]).Q
        self.m = self.rotated(m)

    def step(self, g):
        self.t += 1
        self.measure(g)
        if self.t == 0:
            self.bases = {side: torch.linalg.eigh(self.factors[side]).eigenvectors.flip(1) for side in self.sides}
            return
        x = self.rotated(g)
        self.m.lerp_(x, 0.05)
        self.v.mul_(0.95).addcmul_(x, x, value=0.05)
        c = (1 - 0.95**self.t) ** 0.5 / (1 - 0.95**self.t)
        u = self.rotated(self.m / (self.v.sqrt() + 1e-8), back=True)
        self.p.mul_(1 - RATE * DECAY).sub_(u, alpha=RATE * c)
        for side in self.sides:
            if (self.t + side) % 10 == 0:
                self.refresh(side)


class Optimizer:
    """A rule that is a torch.optim.Optimizer."""

    def __init__(self, make, p):
        self.p = torch.nn.Parameter(p)
        self.optimizer = make([self.p])

    def step(self, g):
        self.p.grad = g.clone()  # muon-optimizer changes gradients
        self.optimizer.step()


def of_packages():
    """The rules of the packages that are installed."""
    rules = []
    if importlib.util.find_spec("muon"):
        import muon

        rules.append(("package", "muon in bfloat16", lambda p: Optimizer(
            lambda tensors: muon.SingleDeviceMuon(tensors, lr=RATE, weight_decay=0.1), p), 4, 9))
    if importlib.util.find_spec("pytorch_optimizer"):
        from pytorch_optimizer import SOAP, ScalableShampoo

        rmsprop = 3  # in the package's LayerWiseGrafting

        def shampoo(svd):
            return lambda p: Optimizer(lambda tensors: ScalableShampoo(
                tensors, lr=RATE, weight_decay=DECAY, decoupled_weight_decay=True, moving_average_for_momentum=True,
                nesterov=False, start_preconditioning_step=1, preconditioning_compute_steps=20, block_size=BLOCK,
                graft_type=rmsprop, shape_interpretation=False, use_svd=svd), p)

        rules += [
            ("package", "shampoo by eigenvalues", shampoo(True), 20, 1),
            ("package", "shampoo by Newton's iteration", shampoo(False), 20, 1),
            ("package", "soap", lambda p: Optimizer(lambda tensors: SOAP(
                tensors, lr=RATE, weight_decay=DECAY, precondition_frequency=10, max_precondition_dim=LONGEST_SIDE), p),
             10, 3),
        ]
    return rules


RULES = (
    ("torch.optim", "muon in bfloat16",
     lambda p: Optimizer(lambda tensors: torch.optim.Muon(tensors, lr=RATE), p), 4, 9),
    ("plain torch", "muon", Muon, 4, 9),
    ("plain torch", "shampoo by eigenvalues", lambda p: Shampoo(p, root_by_eigenvalues), 20, 1),
    ("plain torch", "shampoo by Newton's iteration", lambda p: Shampoo(p, root_by_newton), 20, 1),
    ("plain torch", "soap", Soap, 10, 3),
)


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"# torch {torch.__version__}")
    a, b = torch.rand(1024, 1024) - 0.5, torch.rand(1024, 1024) - 0.5
    seconds(lambda: a @ b, 2)
    for implementation, name, make, period, samples in (*RULES, *of_packages()):
        for shape in SHAPES:
            gradients = [torch.rand(shape) - 0.5 for _ in range(4)]
            rule = make(torch.rand(shape) - 0.5)
            rule.step(gradients[0])

            def steps():
                for t in range(period):
                    rule.step(gradients[t % 4])

            times, products = [], []
            for _ in range(samples):
                times.append(1e3 * seconds(steps, 1) / period)
                products.append(1e3 * seconds(lambda: a @ b, 1))
            ms, product_ms = statistics.median(times), statistics.median(products)
            print(f"{implementation},{name},{shape[0]} x {shape[1]},{ms:.3f},{product_ms:.3f}", flush=True)


if __name__ == "__main__":
    main()

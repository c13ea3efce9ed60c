#!/usr/bin/env python3
"""examples/torch_gradients.py - exported ops as gradients in PyTorch, compared with autograd in float64.

    apo export --torch binary_backward --journal JOURNAL --output op
    python3 examples/torch_gradients.py op

`Broadcast` is A op B with the gradients of binary_backward*, `Power` A^B with those of pow_backward, and `LogSumExp`
the log-sum-exp of scores with those of lse_backward. The tolerance is the rule of kernels/family.h: the output's rounding and 16 times the error of a legal
implementation at each element, 2.2 + 3/sqrt(n) times as a root mean square.
"""
import argparse
import importlib
import math
import sys
from pathlib import Path

import torch

OPERATIONS = [torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.minimum]  # axis op of binary_backward
FAMILY_OF = {
    (torch.float32, torch.float32): "binary_backward",
    (torch.bfloat16, torch.bfloat16): "binary_backward_bf16",
    (torch.bfloat16, torch.float32): "binary_backward_mixed",
}


def kept_of(a_shape, b_shape):
    """The dimensions of A that B has: bit 1 for the last one. Equal shapes: 255."""
    b_shape = (1,) * (len(a_shape) - len(b_shape)) + tuple(b_shape)
    if tuple(a_shape) == b_shape:
        return 255
    return sum(1 << i for i, (a, b) in enumerate(zip(reversed(a_shape), reversed(b_shape))) if a == b and a != 1)


def binary_backward(op, operation, g, A, B, need_dA=True, need_dB=True):
    """dA and dB of OPERATIONS[operation](A, B); None for one that is not needed."""
    empty = g.new_empty(0)
    reads_A = operation >= 4 or (operation >= 2 and need_dB)
    reads_B = operation >= 3 or (operation == 2 and need_dA)
    dA, dB = op(
        g.contiguous(),
        A if reads_A else empty.to(A.dtype),
        B if reads_B else empty.to(B.dtype),
        op=operation,
        kept=kept_of(A.shape, B.shape),
        need_dA=int(need_dA),
        need_dB=int(need_dB),
    )
    return dA.view(A.shape) if need_dA else None, dB.view(B.shape) if need_dB else None


class Broadcast(torch.autograd.Function):
    """OPERATIONS[operation](A, B), where B is broadcast to the shape of A."""

    @staticmethod
    def forward(ctx, op, operation, A, B):
        ctx.op, ctx.operation = op, operation
        ctx.save_for_backward(A, B)
        return OPERATIONS[operation](A, B).to(A.dtype)

    @staticmethod
    def backward(ctx, g):
        return (None, None, *binary_backward(ctx.op, ctx.operation, g, *ctx.saved_tensors, *ctx.needs_input_grad[2:]))


class Power(torch.autograd.Function):
    """A^B for A > 0, where B is broadcast to the shape of A."""

    @staticmethod
    def forward(ctx, op, A, B):
        ctx.op = op
        ctx.save_for_backward(A, B)
        return A**B

    @staticmethod
    def backward(ctx, g):
        A, B = ctx.saved_tensors
        dA, dB = ctx.op(g.contiguous(), A, B, kept=kept_of(A.shape, B.shape), need_dA=1, need_dB=1)
        return None, dA.view(A.shape), dB.view(B.shape)


def scores(q, k, scale, causal):
    """scale q k^T of q [heads,group,S,D] and k [heads,keys,D]; the last key and the last query meet."""
    s = scale * torch.matmul(q, k.unsqueeze(1).transpose(-1, -2))
    hidden = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(1 + s.shape[-1] - s.shape[-2])
    return s.masked_fill(hidden, -math.inf) if causal else s


def lse_arguments(q, k, dlse, lse):
    """The tensors of lse_backward: positions as the contract has them, no segments."""
    S, keys = q.shape[2], k.shape[1]
    positions = [torch.arange(begin, begin + count, dtype=torch.int32, device=q.device) for begin, count in ((keys - S, S), (0, keys))]
    segments = [torch.empty(0, count, dtype=torch.int32, device=q.device) for count in (S, keys)]
    return q, k, dlse.contiguous(), *positions, *segments, lse


class LogSumExp(torch.autograd.Function):
    """log sum exp(scale q k^T) over the keys."""

    @staticmethod
    def forward(ctx, op, q, k, scale, causal):
        ctx.op, ctx.scale, ctx.causal = op, scale, causal
        lse = torch.logsumexp(scores(q.float(), k.float(), scale, causal), -1)
        ctx.save_for_backward(q, k, lse)
        return lse

    @staticmethod
    def backward(ctx, dlse):
        q, k, lse = ctx.saved_tensors
        return (None, *ctx.op(*lse_arguments(q, k, dlse, lse), causal=int(ctx.causal), scale=ctx.scale), None, None)


# ---------------------------------------------------------------- the comparison with autograd


def within(actual, exact, noise):
    """The rule of kernels/family.h for an output and the errors of a legal implementation; NaN is never within."""
    if actual.numel() == 0:
        return True
    error = (actual.double() - exact).abs()
    scale = torch.maximum(noise, noise.square().mean().sqrt())
    rounding = torch.finfo(actual.dtype).eps / 2 * exact.abs()
    element = bool((error <= rounding + 16 * scale).all())
    below = scale.square() + rounding.square() / 3
    rms = torch.where(error == 0, torch.zeros_like(error), error.square() / below).mean().sqrt().item()
    return element and rms <= 2.2 + 3 / math.sqrt(actual.numel())


def gradients(function, inputs, g):
    """Of a function by autograd in float64."""
    inputs = [tensor.detach().double().requires_grad_() for tensor in inputs]
    return torch.autograd.grad(function(*inputs), inputs, g.double())


def noise_of_sums(function, A, B, g):
    """2^-24 of the sum of the magnitudes of the terms: what sums in float32 lose, in any order."""
    dA, terms = gradients(function, (A, B.expand_as(A)), g)
    return 2**-24 * dA.abs(), 2**-24 * terms.abs().sum_to_size(B.shape)


def noise_of_powers(A, B, g):
    """Of exp2(B log2 A) in float32: the rounding of the exponent, and 2^-22 of log2 near A = 1."""
    A, B, g = A.double(), B.double().expand_as(A), g.double()
    power, relative = (g * A**B).abs(), 2**-24 * (1 + (B * A.log2()).abs() + 4 * B.abs())
    return power * (B / A).abs() * relative, power * (A.log().abs() * relative + 2**-22)


def honest_lse(q, k, dlse, scale, causal):
    """In float32, with weights and dlse q in bfloat16, as the contract allows."""
    s = scores(q.float(), k.float(), scale, causal)
    weights = torch.exp(s - torch.logsumexp(s, -1, keepdim=True)).bfloat16().float()
    dq = scale * dlse.unsqueeze(-1) * torch.matmul(weights, k.float().unsqueeze(1))
    dk = scale * torch.matmul(weights.transpose(-1, -2), (dlse.unsqueeze(-1) * q.float()).bfloat16().float()).sum(1)
    return dq, dk


def binary_cases(op, dtypes, device):
    shapes = [((4, 64, 2048), (2048,)), ((4, 64, 2048), (4, 64, 1)), ((4, 64, 8192), (4, 64, 8192)), ((4, 64, 32, 32), (64, 1, 32)), ((37, 131), ())]
    for a_shape, b_shape in shapes + ([((8, 1024, 4096), (4096,))] if device == "cuda" else []):
        for operation, function in enumerate(OPERATIONS):
            A, B = (torch.randn(shape, device=device).to(dtype) for shape, dtype in zip((a_shape, b_shape), dtypes))
            g = torch.randn(a_shape, device=device).to(dtypes[0])
            a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
            compute = lambda: torch.autograd.grad(Broadcast.apply(op, operation, a, b), (a, b), g)  # noqa: E731, B023
            name = f"{function.__name__} {list(a_shape)} x {list(b_shape)}"
            yield name, compute, gradients(function, (A, B), g), noise_of_sums(function, A, B, g)


def power_cases(op, device):
    for a_shape, b_shape in [((4, 64, 2048), (2048,)), ((4, 64, 2048), (4, 64, 1)), ((4, 64, 512), (4, 64, 512)), ((37, 131), ())]:
        A, B, g = 0.1 + 4 * torch.rand(a_shape, device=device), 3 * torch.rand(b_shape, device=device) - 1, torch.randn(a_shape, device=device)
        a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
        compute = lambda: torch.autograd.grad(Power.apply(op, a, b), (a, b), g)  # noqa: E731, B023
        of_a, of_b = noise_of_powers(A, B, g)
        yield f"pow {list(a_shape)} x {list(b_shape)}", compute, gradients(torch.pow, (A, B), g), (of_a, of_b.sum_to_size(b_shape))


def lse_cases(op, device):
    sizes = [(2, 1, 128, 128, 64), (1, 3, 70, 90, 32)] + ([(8, 1, 2048, 2048, 128)] if device == "cuda" else [])
    for heads, group, S, keys, D in sizes:
        for causal in (False, True):
            q = torch.randn(heads, group, S, D, device=device).bfloat16().requires_grad_()
            k = torch.randn(heads, keys, D, device=device).bfloat16().requires_grad_()
            dlse, scale = torch.randn(heads, group, S, device=device), D**-0.5
            compute = lambda: torch.autograd.grad(LogSumExp.apply(op, q, k, scale, causal), (q, k), dlse)  # noqa: E731, B023
            exact = gradients(lambda q, k: torch.logsumexp(scores(q, k, scale, causal), -1), (q, k), dlse)  # noqa: B023
            honest = honest_lse(q.detach(), k.detach(), dlse, scale, causal)
            noise = [(legal.double() - right).abs() for legal, right in zip(honest, exact)]
            yield f"{[heads, group, S, keys, D]}{' causal' if causal else ''}", compute, exact, noise


def check(family, cases):
    """Prints a line; returns how many cases are wrong."""
    right, wrong, refused = 0, [], []
    for name, compute, exact, noise in cases:
        try:
            outputs = compute()
        except RuntimeError as error:
            if f"no kernel of {family} is known" not in str(error):
                raise
            refused.append(name)
            continue
        near = all(within(*each) for each in zip(outputs, exact, noise))
        right, wrong = right + near, wrong + ([] if near else [name])
    print(f"{family}: {right} cases as autograd in float64; wrong: {', '.join(wrong) or 'none'}; not served: {', '.join(refused) or 'none'}")
    return len(wrong) + (right == 0)


def load_op(folder, family):
    """The op of a family that 'apo export --torch' wrote to a folder; None when it is not there."""
    if not (Path(folder) / f"{family}_op.py").exists():
        return None
    sys.path.insert(0, str(Path(folder).resolve()))
    return getattr(importlib.import_module(f"{family}_op"), family)


def main():
    parser = argparse.ArgumentParser(description="compare exported ops with autograd in float64")
    parser.add_argument("folders", nargs="+", help="what 'apo export --torch' wrote")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    failures = found = 0
    for folder in options.folders:
        for dtypes, family in FAMILY_OF.items():
            if (op := load_op(folder, family)) is not None:
                failures, found = failures + check(family, binary_cases(op, dtypes, options.device)), found + 1
        for family, cases in (("pow_backward", power_cases), ("lse_backward", lse_cases)):
            if (op := load_op(folder, family)) is not None:
                failures, found = failures + check(family, cases(op, options.device)), found + 1
    if not found:
        sys.exit(f"torch_gradients.py: no op of {', '.join(FAMILY_OF.values())}, pow_backward or lse_backward in {' '.join(options.folders)}")
    sys.exit(3 if failures else 0)


if __name__ == "__main__":
    main()

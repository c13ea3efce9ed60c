"""e88.py - the E88 recurrence in plain PyTorch, a layer around it, and a byte-level language model of such layers.

`recurrence` is what the kernels compute, written to be read. `exported` gives the same function by the ops that
`apo export --torch` wrote. Layer and model take either.
"""
import importlib
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 256
SEGMENT = 16  # steps between two kept states of the kernels


def rounded(x):
    """To bfloat16 and back; the gradient passes unchanged."""
    return x + (x.bfloat16().to(x.dtype) - x).detach()


def recurrence(k, q, v, g, decay, s0, honest=False):
    """Returns output [B,T,H,V] and the last state [B,H,N,V]. k, q: [B,T,H,N]; v, g: [B,T,H,V]; decay: [B,T,H].

    `honest`: with the roundings that kernels in bfloat16 may have, for a yardstick of their errors.
    """
    k, q = (x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-12) for x in (k, q))
    state, outputs = s0, []
    for t in range(k.shape[1]):
        delta = v[:, t] - torch.einsum("bhnv,bhn->bhv", state, k[:, t])
        state = torch.tanh(decay[:, t, :, None, None] * state + k[:, t, :, :, None] * delta[:, :, None, :])
        state = rounded(state) if honest and t % SEGMENT == SEGMENT - 1 else state
        y = torch.einsum("bhnv,bhn->bhv", state, q[:, t])
        outputs.append((rounded(y) if honest else y) * functional.silu(g[:, t]))
    return torch.stack(outputs, 1), state


def exported(folder):
    """The recurrence by the ops in a folder, for autograd too."""
    folder = Path(folder).resolve()
    for family in ("e88_forward", "e88_backward"):
        if not (folder / f"{family}_op.py").exists():
            sys.exit(f"e88.py: there is no {family}_op.py in '{folder}': 'apo export --torch {family} --output {folder}' writes it")
    sys.path.insert(0, str(folder))
    op = importlib.import_module("e88_forward_op").e88_forward

    def by_kernels(k, q, v, g, decay, s0):
        output, _, _, s_final = op(k, q, v, g, decay, s0, GATE=1, NORM=1)
        return output, s_final

    return by_kernels


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class Layer(nn.Module):
    """What is added to the residual stream x [B,T,dim]. The recurrence is in bfloat16 unless x is in float64."""

    def __init__(self, dim, heads, width, step):
        super().__init__()
        self.heads, self.width, self.step = heads, width, step
        self.norm = RMSNorm(dim)
        self.projection = nn.Linear(dim, 4 * heads * width, bias=False)  # q, k, v, gate
        self.alpha = nn.Linear(dim, heads, bias=False)
        self.output = nn.Linear(heads * width, dim, bias=False)
        # As Mamba 2: A uniform in (0,16); the time step log-uniform in [1e-3, 0.1], its bias the inverse of softplus.
        self.a_log = nn.Parameter(torch.log(16 * torch.rand(heads).clamp(min=1e-4)))
        first = torch.exp(math.log(1e-3) + torch.rand(heads) * math.log(100))
        self.dt_bias = nn.Parameter(first + torch.log(-torch.expm1(-first)))

    def forward(self, x):
        normed = self.norm(x)
        q, k, v, gate = self.projection(normed).unflatten(-1, (4, self.heads, self.width)).unbind(-3)
        q, k, v = (functional.silu(part) for part in (q, k, v))
        decay = torch.exp(-torch.exp(self.a_log) * functional.softplus(self.alpha(normed).to(x.dtype) + self.dt_bias))
        s0 = x.new_zeros(x.shape[0], self.heads, self.width, self.width)
        kind = torch.float64 if x.dtype == torch.float64 else torch.bfloat16
        inputs = [part.to(kind).contiguous() for part in (k, q, v, gate, decay, s0)]
        return self.output(self.step(*inputs)[0].flatten(-2).to(x.dtype))


class Model(nn.Module):
    """Logits of the next byte; the embedding is the output's matrix too."""

    def __init__(self, dim, depth, heads, width, step):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, dim)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(dim, heads, width, step) for _ in range(depth))
        self.norm = RMSNorm(dim)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return functional.linear(self.norm(x), self.embedding.weight)

# examples/gated_norm/gated_norm.py - a module that is slow for its many small steps, in the form of KernelBench.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x, gate):
        y = x * torch.sigmoid(gate)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


tokens = 2048
features = 1024


def get_inputs():
    return [torch.randn(tokens, features), torch.randn(tokens, features)]


def get_init_inputs():
    return [features]

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, B):
        return A @ B


M = 1024 * 2
K, N = 4096, 1536


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs():
    return []

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, features)

    def forward(self, x):
        return self.norm(x)


batch_size = 112
features = 64
num_groups = 8
size = 512


def get_inputs():
    return [torch.rand(batch_size, features, size, size)]


def get_init_inputs():
    return [features, num_groups]

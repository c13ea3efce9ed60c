import torch
import torch.nn as nn


class Model(nn.Module):
    """Looks rows of a table up, and scales them."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, ids, scale):
        return self.table(ids) * scale


vocabulary = 50304
width = 768


def get_inputs():
    return [torch.randint(vocabulary, (8, 1024)), 0.125]


def get_init_inputs():
    return [vocabulary, width]

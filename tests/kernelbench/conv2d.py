import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, bias=False)

    def forward(self, x):
        return self.conv(x)


batch_size = 16
in_channels = 3
out_channels = 64
kernel_size = 3
stride = 2



def get_inputs():
    return [torch.rand(batch_size, in_channels, 224, 320)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, stride]

"""What claims are held against: operations of PyTorch, eager or compiled; parameters are named as in the families."""
import math

import torch
import torch.nn.functional as F


def layer_norm_eager(x, weight, bias, eps):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def rms_norm_formula(x, w, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w


def rms_norm_llama(x, weight, eps):
    wide = x.to(torch.float32)
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)


def add_rms_norm_formula(x, residual, weight, eps):
    s = x + residual
    return weight * (s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps)), s


def softmax_eager(x):
    return torch.softmax(x, -1)


def cross_entropy_mean_eager(x, targets):
    return F.cross_entropy(x, targets).reshape(1)


def cross_entropy_rows_eager(x, targets):
    return F.cross_entropy(x, targets, reduction="none")


def cross_entropy_mean_backward_formula(x, targets, grad):
    hits = torch.arange(x.shape[1], device=x.device) == targets.unsqueeze(-1)
    return (torch.softmax(x, -1) - hits.float()) * (grad / x.shape[0])


def linear_eager(x, w, bias):
    return F.linear(x, w, bias)


def linear_relu_eager(x, w, bias):
    return F.relu(F.linear(x, w, bias))


def linear_backward_eager(dy, x, w):
    return dy @ w, dy.t() @ x, dy.sum(0)


def max_pool_backward_eager(x, dy):
    _, places = F.max_pool2d(x.unsqueeze(0), 2, return_indices=True)
    gradient = torch.ops.aten.max_pool2d_with_indices_backward
    return gradient(dy.unsqueeze(0), x.unsqueeze(0), [2, 2], [2, 2], [0, 0], [1, 1], False, places)[0]


def gelu_eager(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def matmul_eager(A, B):
    return torch.matmul(A, B)


def scaled_rows_eager(scale, x):
    return scale.unsqueeze(1) * x


def scaled_rows_by_product(scale, x):
    return torch.diag(scale) @ x


def trimul_eager(x, mask, norm_weight, norm_bias, left_proj, right_proj, left_gate, right_gate, out_gate,
                 out_norm_weight, out_norm_bias, to_out):  # fmt: skip
    x = F.layer_norm(x, x.shape[-1:], norm_weight, norm_bias)
    mask = mask.unsqueeze(-1)
    left = F.linear(x, left_proj) * mask * F.linear(x, left_gate).sigmoid()
    right = F.linear(x, right_proj) * mask * F.linear(x, right_gate).sigmoid()
    out = torch.einsum("bikh,bjkh->bijh", left, right)
    out = F.layer_norm(out, out.shape[-1:], out_norm_weight, out_norm_bias) * F.linear(x, out_gate).sigmoid()
    return F.linear(out, to_out)


layer_norm_compiled = torch.compile(layer_norm_eager, dynamic=False)
rms_norm_compiled = torch.compile(rms_norm_formula, dynamic=False)
softmax_compiled = torch.compile(softmax_eager, dynamic=False)
cross_entropy_mean_compiled = torch.compile(cross_entropy_mean_eager, dynamic=False)
cross_entropy_rows_compiled = torch.compile(cross_entropy_rows_eager, dynamic=False)
cross_entropy_mean_backward_compiled = torch.compile(cross_entropy_mean_backward_formula, dynamic=False)
linear_compiled = torch.compile(linear_eager, dynamic=False)
linear_relu_compiled = torch.compile(linear_relu_eager, dynamic=False)
linear_backward_compiled = torch.compile(linear_backward_eager, dynamic=False)
max_pool_backward_compiled = torch.compile(max_pool_backward_eager, dynamic=False)
gelu_compiled = torch.compile(gelu_eager, dynamic=False)
matmul_compiled = torch.compile(matmul_eager, dynamic=False)
trimul_compiled = torch.compile(trimul_eager, dynamic=False)

"""peers_triton.py - the Triton kernels of peers/ and of examples/ as functions of PyTorch, tuned on the GPU at hand."""
import sys
from pathlib import Path

import torch
import triton

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "peers"), str(HERE.parent / "examples")]
from cross_entropy_triton import classify_rows  # noqa: E402
from layer_norm_backward_triton import layer_columns, layer_rows_backward  # noqa: E402
from layer_norm_triton import layer_rows  # noqa: E402
from rms_norm_triton import rms_rows  # noqa: E402
from row_softmax_triton import softmax_rows  # noqa: E402
from softmax_triton import softmax_twice  # noqa: E402

LONGEST = 65536  # columns of a row that a program keeps


def tuned(kernel, warps=(2, 4, 8, 16), **constants):
    each = [{}] if not constants else [{name: value} for name, values in constants.items() for value in values]
    return triton.autotune([triton.Config(one, num_warps=count) for one in each for count in warps], key=["columns"])(kernel)


SOFTMAX, RMS, LAYER, BACKWARD = (tuned(kernel) for kernel in (softmax_rows, rms_rows, layer_rows, layer_rows_backward))
TWICE, CLASSIFY = (tuned(kernel, (16, 32), BLOCK=(8192, 32768)) for kernel in (softmax_twice, classify_rows))


def softmax(x):
    y, (rows, columns) = torch.empty_like(x), x.shape
    if columns <= LONGEST:
        SOFTMAX[(rows,)](y, x, columns, columns, BLOCK=triton.next_power_of_2(columns))
    else:
        TWICE[(rows,)](x, y, columns)
    return y


def rms_norm(x, weight, eps):
    y, (rows, columns) = torch.empty_like(x), x.shape
    RMS[(rows,)](x, weight, y, eps, columns, BLOCK=triton.next_power_of_2(columns))
    return y


def layer_norm(x, weight, bias, eps):
    y, (rows, columns) = torch.empty_like(x), x.shape
    mean, rstd = (torch.empty(rows, device=x.device) for _ in range(2))
    LAYER[(rows,)](x, weight, bias, y, mean, rstd, eps, columns, BLOCK=triton.next_power_of_2(columns))
    return y, mean, rstd


def layer_norm_backward(dy, x, weight, mean, rstd):
    programs, (rows, columns) = torch.cuda.get_device_properties(x.device).multi_processor_count, x.shape
    dx, dweight, dbias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
    sums = torch.empty(programs, 2, columns, device=x.device)
    block = triton.next_power_of_2(columns)
    BACKWARD[(programs,)](dy, x, weight, mean, rstd, dx, sums, rows, columns, BLOCK=block)
    layer_columns[(triton.cdiv(columns, 32),)](sums, dweight, dbias, programs, columns)
    return dx, dweight, dbias


def cross_entropy(logits, targets, dloss):
    losses, dlogits = torch.empty(logits.shape[0], device=logits.device), torch.empty_like(logits)
    CLASSIFY[(logits.shape[0],)](logits, targets, losses, dlogits, dloss, logits.shape[1])
    return losses, dlogits

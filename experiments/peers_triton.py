"""peers_triton.py - what the Triton kernels of Liger do, written anew: a program a row, all of it in registers where that fits.

The number of warps is tuned on the GPU. Softmax and the classifier walk longer rows twice, with a running maximum.
"""
import torch
import triton
import triton.language as tl

WHOLE = 65536  # the longest row that a program keeps
WARPS = [triton.Config({}, num_warps=warps) for warps in (2, 4, 8, 16)]


@triton.autotune(WARPS, key=["columns"])
@triton.jit
def softmax_rows(x, y, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    row = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
    parts = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + start + at, parts / tl.sum(parts, axis=0), mask=at < columns)


@triton.jit
def total_of_row(x, columns, BLOCK: tl.constexpr):
    """The largest of a row, and the sum of exp(x - largest)."""
    largest, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(part, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(part - larger), axis=0)
        largest = larger
    return largest, total


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (8192, 32768) for warps in (16, 32)], key=["columns"])
@triton.jit
def softmax_twice(x, y, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    largest, total = total_of_row(x + start, columns, BLOCK)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
        tl.store(y + start + at, tl.exp(part - largest) / total, mask=at < columns)


@triton.autotune([triton.Config({"BLOCK": block}, num_warps=warps) for block in (8192, 32768) for warps in (16, 32)], key=["columns"])
@triton.jit
def classify_rows(logits, targets, losses, dlogits, dloss, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets + row)
    largest, total = total_of_row(logits + row * columns, columns, BLOCK)
    tl.store(losses + row, tl.log(total) + largest - tl.load(logits + row * columns + target).to(tl.float32))
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(logits + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        gradients = (tl.exp(part - largest) / total - tl.where(at == target, 1.0, 0.0)) * dloss
        tl.store(dlogits + row * columns + at, gradients, mask=at < columns)


@triton.autotune(WARPS, key=["columns"])
@triton.jit
def rms_rows(x, weight, y, eps, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    row = tl.load(x + start + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, axis=0) / columns + eps)
    tl.store(y + start + at, row * scale * tl.load(weight + at, mask=at < columns).to(tl.float32), mask=at < columns)


@triton.autotune(WARPS, key=["columns"])
@triton.jit
def layer_rows(x, weight, bias, y, means, rstds, eps, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    row = tl.load(x + start + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(row, axis=0) / columns
    deviation = tl.where(at < columns, row - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(deviation * deviation, axis=0) / columns + eps)
    tl.store(means + tl.program_id(0), mean)
    tl.store(rstds + tl.program_id(0), rstd)
    w = tl.load(weight + at, mask=at < columns).to(tl.float32)
    b = tl.load(bias + at, mask=at < columns).to(tl.float32)
    tl.store(y + start + at, deviation * rstd * w + b, mask=at < columns)


@triton.autotune(WARPS, key=["columns", "rows"])
@triton.jit
def layer_rows_backward(dy, x, weight, means, rstds, dx, sums, rows, columns, BLOCK: tl.constexpr):
    program, programs = tl.program_id(0), tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    w = tl.load(weight + at, mask=at < columns, other=0.0).to(tl.float32)
    of_weight, of_bias = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for row in range(program, rows, programs):
        start = row.to(tl.int64) * columns
        g = tl.load(dy + start + at, mask=at < columns, other=0.0).to(tl.float32)
        rstd = tl.load(rstds + row)
        normalised = (tl.load(x + start + at, mask=at < columns, other=0.0).to(tl.float32) - tl.load(means + row)) * rstd
        of_weight += g * normalised
        of_bias += g
        level, slope = tl.sum(g * w, axis=0) / columns, tl.sum(g * w * normalised, axis=0) / columns
        tl.store(dx + start + at, rstd * (g * w - level - normalised * slope), mask=at < columns)
    tl.store(sums + program * 2 * columns + at, of_weight, mask=at < columns)
    tl.store(sums + (program * 2 + 1) * columns + at, of_bias, mask=at < columns)


def softmax(x):
    y, columns = torch.empty_like(x), x.shape[1]
    if columns <= WHOLE:
        softmax_rows[(x.shape[0],)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
    else:
        softmax_twice[(x.shape[0],)](x, y, columns)
    return y


def rms_norm(x, weight, eps):
    y, columns = torch.empty_like(x), x.shape[1]
    rms_rows[(x.shape[0],)](x, weight, y, eps, columns, BLOCK=triton.next_power_of_2(columns))
    return y


def layer_norm(x, weight, bias, eps):
    y, columns = torch.empty_like(x), x.shape[1]
    mean, rstd = (torch.empty(x.shape[0], device=x.device) for _ in range(2))
    layer_rows[(x.shape[0],)](x, weight, bias, y, mean, rstd, eps, columns, BLOCK=triton.next_power_of_2(columns))
    return y, mean, rstd


def layer_norm_backward(dy, x, weight, mean, rstd):
    """A program an SM; PyTorch adds up the sums of the programs."""
    programs, (rows, columns) = torch.cuda.get_device_properties(x.device).multi_processor_count, x.shape
    dx, sums = torch.empty_like(x), torch.empty(programs, 2, columns, device=x.device)
    layer_rows_backward[(programs,)](dy, x, weight, mean, rstd, dx, sums, rows, columns, BLOCK=triton.next_power_of_2(columns))
    of_columns = sums.sum(0).to(weight.dtype)
    return dx, of_columns[0], of_columns[1]


def cross_entropy(logits, targets, dloss):
    losses, dlogits = torch.empty(logits.shape[0], device=logits.device), torch.empty_like(logits)
    classify_rows[(logits.shape[0],)](logits, targets, losses, dlogits, dloss, logits.shape[1])
    return losses, dlogits

# apo:variant    layer_norm/triton_rows
# apo:technique  fused-passes
# apo:idea       A program owns a row and keeps all of it in registers, as Liger's kernel does.
# apo:tune       WARPS 4,2,8,16
import torch
import triton
import triton.language as tl


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


def layer_norm(x, weight, bias, eps, WARPS):
    y, (rows, columns) = torch.empty_like(x), x.shape
    mean, rstd = (torch.empty(rows, device=x.device) for _ in range(2))
    block = triton.next_power_of_2(columns)
    layer_rows[(rows,)](x, weight, bias, y, mean, rstd, eps, columns, BLOCK=block, num_warps=WARPS)
    return y, mean, rstd

# apo:variant    rms_norm/triton_rows
# apo:technique  fused-passes
# apo:idea       A program owns a row and keeps all of it in registers, as Liger's kernel does.
# apo:tune       WARPS 4,2,8,16
import torch
import triton
import triton.language as tl


@triton.jit
def rms_rows(x, weight, y, eps, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    row = tl.load(x + start + at, mask=at < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, axis=0) / columns + eps)
    tl.store(y + start + at, row * scale * tl.load(weight + at, mask=at < columns).to(tl.float32), mask=at < columns)


def rms_norm(x, weight, eps, WARPS):
    y, (rows, columns) = torch.empty_like(x), x.shape
    rms_rows[(rows,)](x, weight, y, eps, columns, BLOCK=triton.next_power_of_2(columns), num_warps=WARPS)
    return y

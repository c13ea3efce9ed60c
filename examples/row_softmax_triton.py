# apo:variant    row_softmax/triton_rows
# apo:technique  register-owned
# apo:idea       A program owns a row and keeps all of it in registers, so that every element is read once.
# apo:tune       WARPS 4,8,16
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(y, x, stride, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * stride
    at = tl.arange(0, BLOCK)
    row = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
    parts = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + start + at, parts / tl.sum(parts, axis=0), mask=at < columns)


def row_softmax(x, WARPS):
    y, (rows, columns) = torch.empty_like(x), x.shape
    softmax_rows[(rows,)](y, x, columns, columns, BLOCK=triton.next_power_of_2(columns), num_warps=WARPS)
    return y

# apo:variant    row_softmax/triton_twice
# apo:technique  scalar-loop
# apo:idea       A program reads a row twice: for its sum with a running maximum, and for its results.
# apo:tune       BLOCK 32768,8192
# apo:tune       WARPS 32,16
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_twice(x, y, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    largest, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
        larger = tl.maximum(largest, tl.max(part, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(part - larger), axis=0)
        largest = larger
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + start + at, mask=at < columns, other=-float("inf"))
        tl.store(y + start + at, tl.exp(part - largest) / total, mask=at < columns)


def row_softmax(x, BLOCK, WARPS):
    y = torch.empty_like(x)
    softmax_twice[(x.shape[0],)](x, y, x.shape[1], BLOCK=BLOCK, num_warps=WARPS)
    return y

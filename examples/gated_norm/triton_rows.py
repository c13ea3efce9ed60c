# apo:variant    gated_norm/triton_rows
# apo:parent     gated_norm/block_a_row
# apo:technique  register-owned
# apo:idea       A program keeps a row in registers, so that every element is read once and written once.
# apo:predict    1.1x..2x over parent: the row is not read again.
# apo:tune       WARPS 4,8
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, gate, weight, y, features, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * features
    at = tl.arange(0, BLOCK)
    inside = at < features
    open_by = tl.sigmoid(tl.load(gate + start + at, mask=inside, other=0.0))
    one = tl.load(x + start + at, mask=inside, other=0.0) * open_by
    scale = tl.rsqrt(tl.sum(one * one, axis=0) / features + 1e-5)
    tl.store(y + start + at, one * scale * tl.load(weight + at, mask=inside, other=0.0), mask=inside)


def gated_norm(x, gate, weight, WARPS):
    y, (tokens, features) = torch.empty_like(x), x.shape
    rows[(tokens,)](x, gate, weight, y, features, BLOCK=triton.next_power_of_2(features), num_warps=WARPS)
    return y

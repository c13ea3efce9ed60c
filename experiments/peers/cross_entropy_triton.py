# apo:variant    cross_entropy/triton_twice
# apo:technique  fused-passes
# apo:idea       A program reads a row twice, for its sum with a running maximum, and for its gradients, as Liger's kernel does.
# apo:tune       BLOCK 32768,8192
# apo:tune       WARPS 32,16
import torch
import triton
import triton.language as tl


@triton.jit
def classify_rows(logits, targets, losses, dlogits, dloss, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x, d, target = logits + row * columns, dlogits + row * columns, tl.load(targets + row)
    largest, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        larger = tl.maximum(largest, tl.max(part, axis=0))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(part - larger), axis=0)
        largest = larger
    tl.store(losses + row, tl.log(total) + largest - tl.load(x + target).to(tl.float32))
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        part = tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        gradients = (tl.exp(part - largest) / total - tl.where(at == target, 1.0, 0.0)) * dloss
        tl.store(d + at, gradients, mask=at < columns)


def cross_entropy(logits, targets, dloss, BLOCK, WARPS):
    losses, dlogits = torch.empty(logits.shape[0], device=logits.device), torch.empty_like(logits)
    grid = (logits.shape[0],)
    classify_rows[grid](logits, targets, losses, dlogits, dloss, logits.shape[1], BLOCK=BLOCK, num_warps=WARPS)
    return losses, dlogits

#!/usr/bin/env python3
"""experiments/recorded_calls.py CASE - calls one operation of PyTorch in an NVTX range that `apo record` can record.

Needs a GPU, PyTorch and, for some cases, Triton or transformers. The range is named `call`; the call before it was on
other values, and marks within it name the tensors:

    apo record --range call -- python3 experiments/recorded_calls.py sdpa
"""
import sys

import torch
import torch.nn.functional as F

try:
    import triton
    import triton.language as tl

    @triton.jit
    def softmax_rows(y, x, n, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        column = tl.arange(0, BLOCK)
        value = tl.load(x + row * n + column, mask=column < n, other=-float("inf")).to(tl.float32)
        part = tl.exp(value - tl.max(value, 0))
        tl.store(y + row * n + column, (part / tl.sum(part, 0)).to(tl.bfloat16), mask=column < n)
except ImportError:
    softmax_rows = None

GPU = {"device": "cuda", "dtype": torch.bfloat16}
TYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64", torch.int32: "i32"}


def name(role, label, tensor):
    """Tells the recorder what memory is: a mark in the range."""
    assert tensor.is_contiguous(), label
    kind = f"{TYPES[tensor.dtype]}[{tensor.numel()}]"
    torch.cuda.nvtx.mark(f"apo:{role} {label} {kind} {tensor.data_ptr():#x}")


def eager():
    return {"x": torch.empty(256, 1024, **GPU), "w": torch.ones(1024, **GPU)}, \
        lambda x, w: F.layer_norm(torch.softmax(x, -1) * 100, (1024,), w)


def gemm():
    return {"x": torch.empty(512, 512, **GPU), "w": torch.empty(512, 512, **GPU)}, lambda x, w: F.gelu(x @ w)


def sdpa():
    def attention(q, k, v):
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return {label: torch.empty(2, 8, 512, 64, **GPU) for label in "qkv"}, attention


def compiled():
    return {"x": torch.empty(256, 1024, **GPU), "w": torch.ones(1024, **GPU)}, \
        torch.compile(lambda x, w: F.gelu(F.layer_norm(x, (1024,), w)) + x)


def conv():
    return {"x": torch.empty(8, 64, 28, 28, **GPU), "w": torch.empty(64, 64, 3, 3, **GPU)}, \
        lambda x, w: F.relu(F.conv2d(x, w, padding=1))


def triton_softmax():
    def softmax(x):
        y = torch.empty_like(x)
        softmax_rows[(x.shape[0],)](y, x, x.shape[1], BLOCK=1024, num_warps=4)
        return y
    return {"x": torch.empty(256, 1000, **GPU)}, softmax


def sort():
    return {"x": torch.empty(64, 4096, **GPU)}, lambda x: torch.sort(x.float(), -1).values.to(torch.bfloat16)


def transformer():
    from transformers import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block
    config = GPT2Config(n_embd=256, n_head=4, n_layer=1)
    config._attn_implementation = "sdpa"
    block = GPT2Block(config, layer_idx=0).eval().to(**GPU)

    def forward(x):
        y = block(x)
        return y[0] if isinstance(y, tuple) else y
    return {"x": torch.empty(2, 128, 256, **GPU)}, forward


def adam():
    parameter = torch.nn.Parameter(torch.zeros(1 << 18, device="cuda"))
    parameter.grad = torch.ones_like(parameter)
    optimizer = torch.optim.Adam([parameter], fused=True)
    optimizer.step()
    state = optimizer.state[parameter]

    def update(p, g, m, v, step):
        optimizer.step()
        return ()
    return {"p": parameter.data, "g": parameter.grad, "m": state["exp_avg"], "v": state["exp_avg_sq"],
            "step": state["step"]}, update


def embedding():
    return {"x": torch.randint(0, 1000, (4, 256), device="cuda"), "w": torch.empty(1000, 256, **GPU)}, F.embedding


def cumsum():
    return {"x": torch.empty(64, 4096, device="cuda")}, lambda x: torch.cumsum(x, -1)


def scan():
    return {"x": torch.empty(1 << 18, device="cuda")}, lambda x: torch.cumsum(x, 0)


def graph():
    given, made = torch.ones(256, 1024, **GPU), torch.cuda.CUDAGraph()
    F.silu(given) * 2
    with torch.cuda.graph(made):
        made_of_it = F.silu(given) * 2

    def replay(x):
        given.copy_(x)
        made.replay()
        return made_of_it.clone()
    return {"x": torch.empty(256, 1024, **GPU)}, replay


def constants():
    return {"x": torch.empty(256, 1024, **GPU)}, lambda x: x * torch.tensor([0.5, 2.0], device="cuda").sum()


def item():
    return {"x": torch.empty(256, 1024, device="cuda")}, lambda x: x / x.abs().sum().item()


def refresh(inputs):
    for label, tensor in inputs.items():
        if tensor.is_floating_point() and label != "step":
            tensor.normal_(std=0.05 if label == "w" else 1)
        if label == "v" and tensor.dim() == 1:
            tensor.abs_()  # of squares


def main():
    torch.manual_seed(1)
    with torch.no_grad():
        inputs, call = globals()[sys.argv[1]]()
        for _ in range(4):
            refresh(inputs)
            call(*inputs.values())
        refresh(inputs)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push("call")
        outputs = call(*inputs.values())
        for label, tensor in inputs.items():
            name("input", label, tensor)
        for number, tensor in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
            name("output", f"y{number}", tensor)
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()

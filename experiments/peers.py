#!/usr/bin/env python3
"""experiments/peers.py - the gradients of docs/gradients.md by PyTorch, and by exported ops, timed in one run.

    python3 experiments/peers.py --op op --json peers.json > peers.md

Every implementation of a case is timed on the same tensors: the median of 30 calls by CUDA events, the L2 emptied before
each call by reading a buffer; "host us" is the time that a call keeps the CPU. `--op` takes folders that 'apo export
--torch' wrote. A result that is not near that of the first implementation is marked WRONG. A floor is the compulsory bytes
at this run's copy rate, or three matrix products (half of them where causal) at this run's rate of a large product.
`--only` names cases by a regular expression.
"""
import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
from torch_gradients import FAMILY_OF, binary_backward, load_op, lse_arguments  # noqa: E402

MULTIPLY = 2  # in OPERATIONS of torch_gradients.py
SHAPES = {  # name: A, B, f32 alone
    "large_equal": ((8, 1024, 4096), (8, 1024, 4096), False),
    "large_columns": ((8, 1024, 4096), (4096,), False),
    "large_rows": ((8, 1024, 4096), (8, 1024, 1), False),
    "large_rope": ((8, 32, 1024, 128), (1024, 128), False),
    "llama_norm": ((4, 64, 2048), (2048,), True),
    "llama_row": ((4, 64, 2048), (4, 64, 1), True),
    "llama_swiglu": ((4, 64, 8192), (4, 64, 8192), True),
    "llama_rope": ((4, 64, 32, 32), (64, 1, 32), True),
}
SIZES = [(8, 2048, False), (32, 4096, False), (32, 4096, True), (32, 8192, False), (32, 8192, True)]  # H, S, causal
VOCABULARY = {"N": 4096, "V": 128256, "D": 4096}


class Timer:
    def __init__(self, calls):
        self.calls = calls
        self.buffer = torch.zeros(1 << 28, device="cuda")  # 1 GiB, far more than the L2

    def milliseconds(self, function):
        for _ in range(3):
            function()
        events = []
        for _ in range(self.calls):
            self.buffer.sum()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function()
            end.record()
            events.append((begin, end))
        torch.cuda.synchronize()
        return sorted(begin.elapsed_time(end) for begin, end in events)

    def host_us(self, function, calls=10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - begin) / calls * 1e6

    def copy_gb_per_s(self):
        source, target = self.buffer.chunk(2)
        return 2 * source.nbytes / statistics.median(self.milliseconds(lambda: target.copy_(source))) / 1e6

    def product_tflops(self, n=8192):
        a, b = (torch.randn(n, n, device="cuda").bfloat16() for _ in range(2))
        return 2 * n**3 / statistics.median(self.milliseconds(lambda: torch.matmul(a, b))) / 1e9


def compiled(function, mix_order=None):
    """torch.compile for these shapes; `mix_order` sets Inductor's mix_order_reduction where it has that."""
    options = None if mix_order is None else {"triton.mix_order_reduction": mix_order}
    return torch.compile(function, dynamic=False, options=options)


def mix_order_default():
    """None where Inductor has no such knob."""
    from torch._inductor import config

    return getattr(config.triton, "mix_order_reduction", None)


# ---------------------------------------------------------------- binary_backward


def binary_case(name, dtype, ops, gb_per_s):
    a_shape, b_shape, _ = SHAPES[name]
    g, A = (torch.randn(a_shape, device="cuda").to(dtype) for _ in range(2))
    B = torch.randn(b_shape, device="cuda").to(dtype)
    leaves = [tensor.clone().requires_grad_() for tensor in (A, B)]
    product = leaves[0] * leaves[1]

    def autograd():
        return torch.autograd.grad(product, leaves, g, retain_graph=True)

    aligned = (1,) * (len(a_shape) - len(b_shape)) + b_shape

    def formulas(g, A, B):
        return g * B, (g * A).sum_to_size(aligned).view(b_shape)

    ways = {"eager, formulas": lambda: formulas(g, A, B), "eager, autograd": autograd}
    by_default = mix_order_default()
    for mix_order in [None] + ([not by_default] if by_default is not None and name == "large_columns" else []):
        function = compiled(formulas, mix_order)
        ways["torch.compile" + ("" if mix_order is None else f", mix_order_reduction={mix_order}")] = lambda function=function: function(g, A, B)
    op = ops.get(FAMILY_OF[dtype, dtype])
    if op is not None:
        ways["apo"] = lambda: binary_backward(op, MULTIPLY, g, A, B)
    floor = (3 * A.numel() + 2 * B.numel()) * A.element_size() / gb_per_s / 1e6
    return f"{name} {'f32' if dtype == torch.float32 else 'bf16'}", floor, ways


# ---------------------------------------------------------------- lse_backward


def lse_formulas(q, k, dlse, lse, hidden, scale):
    """One matrix of scores after the other, in PyTorch's own operations."""
    s = torch.matmul(q, k.transpose(-1, -2)).float() * scale
    s = s if hidden is None else s.masked_fill(hidden, -torch.inf)
    d = (torch.exp(s - lse.unsqueeze(-1)) * (dlse * scale).unsqueeze(-1)).bfloat16()
    return torch.matmul(d, k), torch.matmul(d.transpose(-1, -2), q)


def products(q, k):
    """The three matrix products alone, of all pairs."""
    d = torch.matmul(q, k.transpose(-1, -2))
    return torch.matmul(d, k), torch.matmul(d.transpose(-1, -2), q)


def lse_case(heads, S, causal, ops, tflops, D=128):
    q, k, v, g = (torch.randn(heads, S, D, device="cuda").bfloat16() for _ in range(4))
    scale, dlse = D**-0.5, torch.randn(heads, S, device="cuda")
    hidden = torch.ones(S, S, dtype=torch.bool, device="cuda").triu(1) if causal else None
    scores = [torch.matmul(q[h], k[h].T).float() * scale for h in range(heads)]
    lse = torch.stack([torch.logsumexp(s if hidden is None else s.masked_fill(hidden, -torch.inf), -1) for s in scores])
    del scores
    leaves = [tensor.clone().unsqueeze(0).requires_grad_() for tensor in (q, k, v)]
    attention = F.scaled_dot_product_attention(*leaves, is_causal=causal, scale=scale)
    inductor = compiled(lse_formulas)
    ways = {
        "eager, formulas": lambda: lse_formulas(q, k, dlse, lse, hidden, scale),
        "three products alone, of all pairs": lambda: products(q, k),
        "torch.compile": lambda: inductor(q, k, dlse, lse, hidden, scale),
        "SDPA backward (dq, dk, dv: five products)": lambda: torch.autograd.grad(attention, leaves, g.unsqueeze(0), retain_graph=True),
    }
    if op := ops.get("lse_backward"):
        inputs = lse_arguments(q.unsqueeze(1), k, dlse.unsqueeze(1), lse.unsqueeze(1))
        ways["apo"] = lambda: op(*inputs, causal=int(causal), scale=scale)
    floor = 6 * heads * S * S * D / tflops / 1e9 / (2 if causal else 1)
    return f"H{heads} S{S} D{D}{' causal' if causal else ''}", floor, ways


def chunked(q, k, dlse, lse, scale, rows):
    """lse_formulas over some rows of q at a time; dk is added up in float32."""
    dq, dk = torch.empty_like(q), torch.zeros(k.shape, device="cuda")
    for begin in range(0, q.shape[0], rows):
        part = slice(begin, begin + rows)
        dq[part], more = lse_formulas(q[part], k, dlse[part], lse[part], None, scale)
        dk += more
    return dq, dk.bfloat16()


def vocabulary_case(ops, tflops):
    N, V, D = VOCABULARY["N"], VOCABULARY["V"], VOCABULARY["D"]
    q, k = (torch.randn(count, D, device="cuda").bfloat16() for count in (N, V))
    scale, dlse = D**-0.5, torch.randn(N, device="cuda")
    lse = torch.logsumexp(torch.matmul(q, k.T).float() * scale, -1)
    inductor = compiled(lse_formulas)
    ways = {
        "eager, formulas": lambda: lse_formulas(q, k, dlse, lse, None, scale),
        "three products alone": lambda: products(q, k),
        "torch.compile": lambda: inductor(q, k, dlse, lse, None, scale),
        "eager, 1024 rows at a time": lambda: chunked(q, k, dlse, lse, scale, 1024),
    }
    if op := ops.get("lse_backward"):
        inputs = lse_arguments(q[None, None], k[None], dlse[None, None], lse[None, None])
        ways["apo"] = lambda: op(*inputs, scale=scale)
    return f"N{N} V{V} D{D}", 6 * N * V * D / tflops / 1e9, ways


# ---------------------------------------------------------------- one run


def cases(ops, gb_per_s, tflops):
    """Name and the function that makes the case, whose tensors live as long as it is timed."""
    for dtype, word in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        for name, (_, _, f32_alone) in SHAPES.items():
            if dtype == torch.float32 or not f32_alone:
                yield f"binary {name} {word}", lambda name=name, dtype=dtype: binary_case(name, dtype, ops, gb_per_s)
    for heads, S, causal in SIZES:
        yield f"lse H{heads} S{S}{' causal' if causal else ''}", lambda size=(heads, S, causal): lse_case(*size, ops, tflops)
    yield "lse vocabulary", lambda: vocabulary_case(ops, tflops)


def near(outputs, expected):
    """In a norm: the first two outputs are the two gradients."""
    return all((x.reshape(y.shape).float() - y.float()).norm() <= 0.02 * y.float().norm() for x, y in zip(outputs[:2], expected))


def time_case(name, floor, ways, timer):
    rows, expected = [], None
    for way, function in ways.items():
        row = {"case": name, "implementation": way, "floor_ms": floor}
        try:
            outputs = function()
            expected = expected or [output.clone() for output in outputs]
            row["right"] = way.startswith(("SDPA", "three")) or near(outputs, expected)
            del outputs
            row["samples_ms"] = timer.milliseconds(function)
            row["host_us"] = timer.host_us(function)
            row["median_ms"] = statistics.median(row["samples_ms"])
        except Exception as error:  # out of memory, a size that the table does not serve, Inductor: the others go on
            row["error"] = str(error).strip().splitlines()[0]
        rows.append(row)
        print(f"{name} | {way}: {row.get('median_ms', row.get('error'))}", file=sys.stderr, flush=True)
    return rows


def table(rows):
    apo = {row["case"]: row["median_ms"] for row in rows if row["implementation"] == "apo" and "median_ms" in row}
    lines = ["| case | implementation | ms | of the floor | apo is | host us |", "|---|---|---|---|---|---|"]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['case']} | {row['implementation']} | {row['error'][:100]} | | | |")
            continue
        median = row["median_ms"]
        ratio = f"{median / apo[row['case']]:.2f}x" if row["case"] in apo and row["implementation"] != "apo" else ""
        wrong = "" if row["right"] else " WRONG"
        lines.append(f"| {row['case']} | {row['implementation']}{wrong} | {median:.4f} | {row['floor_ms'] / median:.0%} | {ratio} | {row['host_us']:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="time peers of the gradients, and exported ops beside them")
    parser.add_argument("--op", nargs="*", default=[], help="folders that 'apo export --torch' wrote")
    parser.add_argument("--json", help="file for all samples")
    parser.add_argument("--only", default="", help="regular expression: the cases to time")
    parser.add_argument("--calls", type=int, default=30)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("peers.py: PyTorch sees no CUDA GPU")
    torch.manual_seed(1)
    torch._dynamo.config.recompile_limit = 64  # one function, many shapes
    ops = {family: op for folder in options.op for family in (*FAMILY_OF.values(), "lse_backward") if (op := load_op(folder, family))}
    timer = Timer(options.calls)
    gb_per_s, tflops = timer.copy_gb_per_s(), timer.product_tflops()
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    device = f"{torch.cuda.get_device_name()}, driver {driver}, PyTorch {torch.__version__}"
    rates = f"a copy moves {gb_per_s:.0f} GB/s, a product of 8192 x 8192 bf16 matrices runs at {tflops:.0f} TFLOP/s"
    print(f"{device}: {rates}; Inductor's mix_order_reduction is {mix_order_default()} by default.\n")
    rows = []
    for name, make in cases(ops, gb_per_s, tflops):
        if re.search(options.only, name):
            rows += time_case(*make(), timer)
            torch.cuda.empty_cache()
            if options.json:
                Path(options.json).write_text(json.dumps({"device": device, "rates": [gb_per_s, tflops], "rows": rows}))
    print(table(rows))


if __name__ == "__main__":
    main()

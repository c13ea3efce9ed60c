#!/usr/bin/env python3
"""experiments/peers.py - operations by PyTorch, Triton, and by exported ops, timed in one run.

    python3 experiments/peers.py --op op --json peers.json > peers.md

Every implementation of a case is timed on the same tensors by CUDA events, in 30 rounds: a round calls each once, in an
order drawn anew, the L2 emptied before each call by reading a buffer. Cases that fit the L2 follow once more with a call
that is not timed in between, so that the L2 holds what it can ("warm"). "host us" is the time that a call keeps the CPU.
The ratio to "apo" is the median of the rounds' ratios, with its interval of 95 % by order statistics. `--op` takes folders
that 'apo export --torch' wrote. A result that is not near that of the first implementation is marked WRONG. A floor is
the compulsory bytes at this run's copy rate, or three matrix products (half of them where causal) at this run's rate of
a large product. `--only` names cases by a regular expression.
"""
import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import peers_triton  # noqa: E402
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
ROWS = ("row_softmax", "rms_norm", "layer_norm", "layer_norm_backward", "cross_entropy")  # families
NOT_COMPARED = ("SDPA", "three", "copy")  # what computes something else


class Timer:
    def __init__(self, calls):
        self.calls = calls
        self.buffer = torch.zeros(1 << 28, device="cuda")  # 1 GiB, far more than the L2

    def rounds(self, ways, warm=False):
        """Of each function its milliseconds, round by round."""
        for function in ways.values():
            for _ in range(3):
                function()
        events = {way: [] for way in ways}
        for _ in range(self.calls):
            for way in random.sample(list(ways), len(ways)):
                self.buffer.sum()  # also keeps the GPU busy until the call has been queued
                if warm:
                    ways[way]()
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                ways[way]()
                end.record()
                events[way].append((begin, end))
        torch.cuda.synchronize()
        return {way: [begin.elapsed_time(end) for begin, end in pairs] for way, pairs in events.items()}

    def milliseconds(self, function):
        return statistics.median(self.rounds({"": function})[""])

    def host_us(self, function, calls=10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - begin) / calls * 1e6

    def copy_gb_per_s(self):
        source, target = self.buffer.chunk(2)
        return 2 * source.nbytes / self.milliseconds(lambda: target.copy_(source)) / 1e6

    def product_tflops(self, n=8192):
        a, b = (torch.randn(n, n, device="cuda").bfloat16() for _ in range(2))
        return 2 * n**3 / self.milliseconds(lambda: torch.matmul(a, b)) / 1e9


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


# ---------------------------------------------------------------- rows


def row_softmax(op, rows, cols):
    x = torch.randn(rows, cols, device="cuda")
    eager = lambda x: torch.softmax(x, -1)  # noqa: E731
    ways = {"eager": eager, "torch.compile": compiled(eager), "Triton": peers_triton.softmax, "apo": op}
    return 2 * x.nbytes, {way: lambda function=function: [function(x)] for way, function in ways.items() if function}


def rms_norm(op, rows, cols, eps=1e-6):
    x, weight = torch.randn(rows, cols, device="cuda").bfloat16(), (1 + torch.randn(cols, device="cuda") / 4).bfloat16()

    def formula(x, weight):
        return (x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps) * weight.float()).bfloat16()

    inductor = compiled(formula)
    ways = {
        "eager, F.rms_norm": lambda: [F.rms_norm(x, (cols,), weight, eps)],
        "torch.compile": lambda: [inductor(x, weight)],
        "Triton": lambda: [peers_triton.rms_norm(x, weight, eps)],
    }
    return 2 * x.nbytes, ways | ({"apo": lambda: [op(x, weight, eps=eps)]} if op else {})


def layer_tensors(rows, cols):
    x = torch.randn(rows, cols, device="cuda").bfloat16()
    return x, (1 + torch.randn(cols, device="cuda") / 4).bfloat16(), (torch.randn(cols, device="cuda") / 4).bfloat16()


def layer_norm(op, rows, cols, eps=1e-5):
    x, weight, bias = layer_tensors(rows, cols)
    eager = lambda x, weight, bias: torch.native_layer_norm(x, (cols,), weight, bias, eps)  # noqa: E731
    inductor = compiled(eager)
    ways = {
        "eager": lambda: eager(x, weight, bias),
        "torch.compile": lambda: inductor(x, weight, bias),
        "Triton": lambda: peers_triton.layer_norm(x, weight, bias, eps),
    }
    return 2 * x.nbytes, ways | ({"apo": lambda: op(x, weight, bias, eps=eps)} if op else {})


def layer_norm_backward(op, rows, cols, eps=1e-5):
    x, weight, bias = layer_tensors(rows, cols)
    dy = torch.randn_like(x)
    _, mean, rstd = torch.native_layer_norm(x, (cols,), weight, bias, eps)
    flat = mean.float().flatten(), rstd.float().flatten()

    def eager(dy, x, mean, rstd, weight, bias):
        return torch.ops.aten.native_layer_norm_backward(dy, x, (cols,), mean, rstd, weight, bias, (True, True, True))

    inductor = compiled(eager)
    ways = {
        "eager": lambda: eager(dy, x, mean, rstd, weight, bias),
        "torch.compile": lambda: inductor(dy, x, mean, rstd, weight, bias),
        "Triton": lambda: peers_triton.layer_norm_backward(dy, x, weight, *flat),
    }
    return 3 * x.nbytes, ways | ({"apo": lambda: op(dy, x, weight, *flat)} if op else {})


def cross_entropy(op, rows, cols):
    logits, dloss = torch.randn(rows, cols, device="cuda").bfloat16(), 1 / rows
    targets = torch.randint(cols, (rows,), device="cuda")
    leaf, arriving = logits.clone().requires_grad_(), torch.full((rows,), dloss, device="cuda")

    def formula(logits, targets):
        x = logits.float()
        lse = torch.logsumexp(x, -1, keepdim=True)
        hits = torch.arange(cols, device=x.device) == targets.unsqueeze(-1)
        losses = (lse - x.gather(1, targets.unsqueeze(-1))).flatten()
        return losses, (((x - lse).exp() - hits.float()) * dloss).bfloat16()

    def loss(logits, targets):
        return F.cross_entropy(logits.float(), targets, reduction="none")

    def differentiated(loss):
        losses = loss(leaf, targets)
        return losses, *torch.autograd.grad(losses, leaf, arriving)

    by_formula, by_autograd = compiled(formula), compiled(loss)
    ways = {
        "eager, autograd": lambda: differentiated(loss),
        "torch.compile, formula": lambda: by_formula(logits, targets),
        "torch.compile, autograd": lambda: differentiated(by_autograd),
        "Triton": lambda: peers_triton.cross_entropy(logits, targets, dloss),
    }
    return 2 * logits.nbytes, ways | ({"apo": lambda: op(logits, targets, dloss=dloss)} if op else {})


ROW_SIZES = {
    row_softmax: ((4096, 1024), (16384, 131072)),
    rms_norm: ((4096, 2048), (16384, 8192)),
    layer_norm: ((4096, 2048), (16384, 4096)),
    layer_norm_backward: ((4096, 2048), (16384, 4096)),
    cross_entropy: ((8192, 50304),),
}


def rows_case(make, size, ops, gb_per_s):
    moved, ways = make(ops.get(make.__name__), *size)
    source = torch.randn(moved // 8, device="cuda")
    target = torch.empty_like(source)
    ways["copy of as many bytes"] = lambda: [target.copy_(source)]
    return f"{make.__name__} {size[0]} x {size[1]}", moved / gb_per_s / 1e6, ways


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
    for make, sizes in ROW_SIZES.items():
        for size in sizes:
            yield f"rows {make.__name__} {size[0]}", lambda make=make, size=size: rows_case(make, size, ops, gb_per_s)


def near(outputs, expected):
    """In a norm; SDPA has one gradient more."""
    pairs = [(x.reshape(y.shape).float(), y.float()) for x, y in zip(outputs, expected)]
    return all((x - y).norm() <= 0.02 * y.norm() for x, y in pairs)


def time_case(name, floor, ways, timer):
    rows, expected = {}, None
    for way, function in ways.items():
        row = rows[way] = {"case": name, "implementation": way, "floor_ms": floor}
        try:
            outputs = function()
            expected = expected or [output.clone() for output in outputs]
            row["right"] = way.startswith(NOT_COMPARED) or near(outputs, expected)
            row["host_us"] = timer.host_us(function)
            del outputs
        except Exception as error:  # out of memory, a size that the table does not serve, Inductor: the others go on
            row["error"] = str(error).strip().splitlines()[0]
    del expected
    working = {way: ways[way] for way, row in rows.items() if "error" not in row}
    both = [dict(rows), {way: row | {"case": name + ", warm"} for way, row in rows.items()}]
    fits = floor * timer.gb_per_s * 1e6 <= torch.cuda.get_device_properties(0).L2_cache_size
    both = both if fits else both[:1]
    for warm, timed in enumerate(both):
        for way, samples in timer.rounds(working, bool(warm)).items():
            timed[way] |= {"samples_ms": samples, "median_ms": statistics.median(samples)}
            print(f"{timed[way]['case']} | {way}: {timed[way]['median_ms']}", file=sys.stderr, flush=True)
    return [row for timed in both for row in timed.values()]


def median_and_interval(values):
    """With the interval of 95 % that the order of the values gives."""
    ordered = sorted(values)
    rank = max(0, int((len(ordered) - 1.96 * len(ordered) ** 0.5) / 2))
    return statistics.median(ordered), ordered[rank], ordered[-1 - rank]


def table(rows):
    apo = {row["case"]: row["samples_ms"] for row in rows if row["implementation"] == "apo" and "samples_ms" in row}
    lines = ["| case | implementation | ms | of the floor | it takes, of apo | host us |", "|---|---|---|---|---|---|"]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['case']} | {row['implementation']} | {row['error'][:100]} | | | |")
            continue
        ratio = ""
        if row["case"] in apo and row["implementation"] != "apo":
            pairs = zip(row["samples_ms"], apo[row["case"]])
            ratio = "{:.3f}x [{:.3f}x, {:.3f}x]".format(*median_and_interval(it / ours for it, ours in pairs))
        wrong = "" if row["right"] else " WRONG"
        share = f"{row['floor_ms'] / row['median_ms']:.0%}"
        way = f"{row['implementation']}{wrong} | {row['median_ms']:.4f}"
        lines.append(f"| {row['case']} | {way} | {share} | {ratio} | {row['host_us']:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="time peers of operations, and exported ops beside them")
    parser.add_argument("--op", nargs="*", default=[], help="folders that 'apo export --torch' wrote")
    parser.add_argument("--json", help="file for all samples")
    parser.add_argument("--only", default="", help="regular expression: the cases to time")
    parser.add_argument("--calls", type=int, default=30)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("peers.py: PyTorch sees no CUDA GPU")
    torch.manual_seed(1)
    torch._dynamo.config.recompile_limit = 64  # one function, many shapes
    families = (*FAMILY_OF.values(), "lse_backward", *ROWS)
    ops = {family: op for folder in options.op for family in families if (op := load_op(folder, family))}
    timer = Timer(options.calls)
    timer.gb_per_s = gb_per_s = timer.copy_gb_per_s()
    tflops = timer.product_tflops()
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()[0]
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

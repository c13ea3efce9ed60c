"""experiments/sweep_rows.py OUT - times settings of the device variants of rows beside the peers (temporary)."""
import collections
import concurrent.futures
import ctypes
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

begin = time.time()
import torch  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "experiments"))
out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
TYPES = {"f32": "float", "bf16": "__nv_bfloat16", "i64": "long long"}


def block(path):
    lines = {}
    for line in path.read_text().splitlines():
        if m := re.match(r"// apo:(\w+)\s+(.*)", line):
            lines.setdefault(m[1], []).append(m[2].split())
    return lines


def value(text, names):
    text = re.sub(r"&&", " and ", text).replace("||", " or ").replace("/", "//")
    return eval(text, {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max}, names)


def parts(text):
    """At the commas outside of parentheses."""
    depth, found = 0, [""]
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return found


class Kernel:
    def __init__(self, family, variant, **settings):
        self.family, self.settings = block(ROOT / f"kernels/{family}.h"), settings
        self.block = block(ROOT / f"variants/{family}/{variant}.cu")
        self.name, self.variant = family, variant
        self.values = {w[0]: settings.get(w[0], int(w[1].split(",")[0])) for w in self.block.get("tune", [])}

    def label(self):
        return "apo " + self.variant + " " + " ".join(f"{k}={v}" for k, v in self.settings.items())

    def build(self):
        folder = out / "build" / re.sub(r"\W+", "_", self.name + self.label())
        folder.mkdir(parents=True, exist_ok=True)
        typed = lambda w: TYPES[re.match("[a-z0-9]+", w[1])[0]]  # noqa: E731
        args = "#pragma once\n#include <cuda_bf16.h>\n#include <math_constants.h>\n#undef INFINITY\n#define INFINITY CUDART_INF_F\n"
        args += f"struct {self.name}_args {{\n"
        args += "".join(f"  const {typed(w)}* {w[0]};\n" for kind in ("input", "derive") for w in self.family.get(kind, []))
        args += "".join(f"  {typed(w)}* {w[0]};\n" for w in self.family["output"])
        args += "".join(f"  void* {w[0]};\n" for w in self.block.get("scratch", []))
        args += "".join(f"  alignas(8) float {w[0]};\n" for w in self.family.get("scalar", []))
        args += "".join(f"  alignas(8) long long {w[0]};\n" for w in self.family["axis"]) + "};\n"
        args += "".join(f"inline constexpr long long {k} = {v};\n" for k, v in self.values.items())
        (folder / f"{self.name}.args.h").write_text(args)
        command = f"nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Xptxas -v -cubin -I {folder} -I {ROOT}/variants/common"
        done = subprocess.run([*command.split(), "-o", folder / "k.cubin", ROOT / f"variants/{self.name}/{self.variant}.cu"], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        self.cubin = (folder / "k.cubin").read_bytes()
        sass = subprocess.run(["cuobjdump", "-sass", folder / "k.cubin"], capture_output=True, text=True).stdout
        found = collections.Counter(re.findall(r"\b((?:LDG|STG|LDL|STL|LDS|STS|UBLKCP|MUFU)[.\w]*)", sass))
        self.report = f"{dict(found)} " + " ".join(re.findall(r"(\d+ bytes spill stores|Used \d+ registers)", done.stderr))
        return None

    def way(self, inputs, axes, scalars, outputs):
        names = self.values | axes | {"SMS": 132, "SHARED_MAX": 232448}
        for w in self.block.get("requires", []):
            if not value(" ".join(w), names):
                raise ValueError("not supported")
        module, self.calls = ctypes.c_void_p(), []
        check(cuda.cuModuleLoadData(ctypes.byref(module), self.cubin))
        for w in self.block["launch"]:
            at = dict(word.split("=", 1) for word in w[1:])
            function = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, w[0].encode()))
            dims = lambda key: [value(e, names) for e in parts(at.get(key, "1"))] + [1, 1]  # noqa: E731
            shared = value(at.get("shared", "0"), names)
            check(cuda.cuFuncSetAttribute(function, 8, shared))
            attribute = Attribute(4, 0, (ctypes.c_uint * 16)(*dims("cluster")[:3]))
            config = Config(*dims("grid")[:3], *dims("block")[:3], shared, torch.cuda.current_stream().cuda_stream, ctypes.pointer(attribute), int("cluster" in at and dims("cluster")[0] > 1))
            self.calls.append((config, function, attribute))
        self.scratch = [torch.empty(value(w[1], names) + 64, dtype=torch.uint8, device="cuda") for w in self.block.get("scratch", [])]

        def shape_of(w):
            return [value(e, names) for e in parts(re.search(r"\[(.*)\]", w[1])[1])]

        dtypes = {"f32": torch.float32, "bf16": torch.bfloat16}
        outputs = outputs if outputs else [torch.empty(shape_of(w), dtype=dtypes[re.match("[a-z0-9]+", w[1])[0]], device="cuda") for w in self.family["output"]]
        numbers = [tensor.data_ptr() for tensor in (*inputs, *outputs, *self.scratch)]
        numbers += [int.from_bytes(bytes(ctypes.c_float(scalars[w[0]])), "little") for w in self.family.get("scalar", [])]
        numbers += [axes[w[0]] for w in self.family["axis"]]
        self.struct = (ctypes.c_longlong * len(numbers))(*numbers)
        self.parameters = (ctypes.c_void_p * 1)(ctypes.addressof(self.struct))
        self.inputs = inputs

        unused = [True]

        def call():
            if unused:
                unused.clear()
                for output in outputs:
                    output.fill_(float("nan"))
            for config, function, _ in self.calls:
                check(cuda.cuLaunchKernelEx(ctypes.byref(config), function, self.parameters, None))
            return outputs

        return call, outputs


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint) for n in "gx gy gz bx by bz shared".split()] + [("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


cuda = ctypes.CDLL("libcuda.so.1")


def check(code):
    if code:
        raise RuntimeError(f"CUDA error {code}")


def grid(**lists):
    rows = [{}]
    for name, values in lists.items():
        rows = [row | {name: v} for row in rows for v in values]
    return rows


def of(pairs, rows, streamed=(0, 1)):
    return [{"THREADS": t, "VECTORS": v, "ROWS": r, "WEIGHTS_FIRST": first, "STREAMED": s} for t, v in pairs for r in rows if r * v <= 8 for first in (1, 0) for s in (streamed if first else streamed[:1])]


def backward(settings):
    return [{"THREADS": t, "VECTORS": v, "ROWS": r, "BLOCKS_PER_SM": b} for t, v, rs, bs in settings for r in rs for b in bs]


def of(pairs, rows, blocks):
    return [{"THREADS": t, "VECTORS": v, "ROWS": r, "BLOCKS_PER_SM": b} for t, v in pairs for r in rows if r * v <= 8 for b in blocks if b * t <= 2048]


R = "cuda_registers"
def each(names, *rows):
    return [dict(zip(names.split(), row)) for row in rows]


SETTINGS = [
    ("row_softmax", 16384, 131072, "cuda_cluster_row", each("THREADS VECTORS CLUSTER PARTS STAGES ROWS", (512, 16, 4, 4, 6, 16), (512, 16, 4, 4, 6, 64), (512, 16, 4, 1, 1, 64), (512, 16, 4, 2, 3, 16), (1024, 8, 4, 2, 3, 16), (1024, 8, 4, 4, 6, 32), (512, 8, 8, 2, 6, 16))),
    ("rms_norm", 4096, 2048, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (128, 2, 4, 8), (128, 2, 4, 1), (128, 2, 2, 1), (128, 2, 2, 12), (64, 4, 2, 16), (64, 4, 2, 1))),
    ("rms_norm", 16384, 8192, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (512, 2, 2, 1), (512, 2, 2, 2), (256, 4, 1, 1), (256, 4, 2, 1))),
    ("rms_norm", 16384, 8192, "cuda_policy", each("THREADS VECTORS ROWS LOAD STORE", (512, 2, 2, 2, 0), (512, 2, 2, 3, 0), (512, 2, 2, 0, 1), (512, 2, 2, 1, 0))),
    ("layer_norm", 4096, 2048, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (128, 2, 1, 1), (128, 2, 1, 12), (128, 2, 2, 1), (128, 2, 2, 8), (128, 2, 4, 8), (64, 4, 1, 1), (64, 4, 1, 20), (64, 4, 2, 16))),
    ("layer_norm", 16384, 4096, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (64, 8, 1, 1), (128, 4, 1, 1), (128, 4, 2, 1), (256, 2, 2, 1), (256, 2, 2, 4))),
    ("layer_norm_backward", 4096, 2048, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (256, 1, 2, 3))),
    ("layer_norm_backward", 4096, 2048, "cuda_bulk_rows", each("THREADS VECTORS GROUPS STAGES", (256, 1, 4, 2), (256, 1, 4, 4), (256, 1, 4, 6), (256, 1, 2, 6), (256, 1, 3, 4))),
    ("layer_norm_backward", 16384, 4096, R, each("THREADS VECTORS ROWS BLOCKS_PER_SM", (256, 2, 2, 2))),
    ("layer_norm_backward", 16384, 4096, "cuda_bulk_rows", each("THREADS VECTORS GROUPS STAGES", (512, 1, 2, 2), (512, 1, 2, 4), (512, 1, 2, 6), (256, 2, 2, 4))),
    ("cross_entropy", 8192, 50304, "cuda_row_in_shared", each("THREADS BLOCKS_PER_SM STAGES", (512, 2, 1), (1024, 2, 1), (512, 1, 2), (1024, 1, 2))),
]
DROPPED = ("eager", "torch.compile", "Triton")


def stamp(text):
    print(f"[{time.time() - begin:6.1f} s] {text}", flush=True)


kernels = {}
for family, rows, cols, variant, settings in SETTINGS:
    kernels.setdefault((family, "", rows, cols), []).extend(Kernel(family, variant, **s) for s in settings)
pool = concurrent.futures.ThreadPoolExecutor(14)
builds = {k: pool.submit(k.build) for ks in kernels.values() for k in ks}
import peers  # noqa: E402

torch.manual_seed(1)
torch._dynamo.config.recompile_limit = 64
timer = peers.Timer(15)
timer.gb_per_s = timer.copy_gb_per_s()
stamp(f"{torch.cuda.get_device_name()}: a copy moves {timer.gb_per_s:.0f} GB/s")
report, results = [], []
for (family, variant, rows, cols), ks in kernels.items():
    try:
        captured = {}

        def op(*inputs, **scalars):
            captured.update(inputs=inputs, scalars=scalars)
            return []

        moved, ways = getattr(peers, family)(op, rows, cols)
        (ways.pop("apo"))()
        first = next(iter(ways))
        kept = {first} | ({"torch.compile"} if family == "rms_norm" else set())
        ways = {way: function for way, function in ways.items() if way in kept}
        scalars = {"eps": 1e-5} | captured["scalars"]
        outputs = None
        for k in ks:
            if error := builds[k].result():
                report.append(f"{family} {k.label()}: {error[:1500]}")
                continue
            report.append(f"{family} {k.label()}: {k.report}")
            try:
                ways[k.label()], outputs = k.way(captured["inputs"], {"rows": rows, "cols": cols}, scalars, outputs)
            except Exception as error:
                report.append(f"{family} {k.label()}: {error}")
        source = torch.randn(moved // 8, device="cuda")
        target = torch.empty_like(source)
        ways["copy of as many bytes"] = lambda: [target.copy_(source)]
        timed = peers.time_case(f"{family} {rows} x {cols}", moved / timer.gb_per_s / 1e6, ways, timer)
        results += timed
        stamp(f"{family} {rows} x {cols}")
        for row in sorted(timed, key=lambda r: (r["case"], r.get("median_ms", 1e9))):
            print(f"{row['case']:42s} {row.get('median_ms', 0) * 1e3:10.2f} us {row['floor_ms'] / row.get('median_ms', 1e9):5.0%} {row['implementation']} {'' if row.get('right', True) else 'WRONG'} {row.get('error', '')[:200]}", flush=True)
    except Exception as error:
        stamp(f"{family} {rows} x {cols}: {type(error).__name__} {error}")
    ways = captured = source = target = timed = outputs = None
    for k in ks:
        k.scratch = k.inputs = k.calls = None
    torch.cuda.empty_cache()
    (out / "report.txt").write_text("\n".join(report))
    (out / "sweep.json").write_text(json.dumps(results))
stamp("done")

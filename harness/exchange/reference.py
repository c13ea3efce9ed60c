# reference.py - calls run() of a definition: the program that is the reference of an imported family. The import writes
# INPUTS, SCALARS, OUTPUTS, DRAWN, AXES, EXPRESSIONS and CUSTOM in place of this comment.

import json
import os
import sys


def fail(what):
    print(str(what).replace("\n", " "), file=sys.stderr)
    sys.exit(1)


try:
    import numpy as np
    import torch
except ImportError as error:
    fail(f"{error}: install NumPy and PyTorch for {sys.executable}: 'apt-get install python3-torch' or 'pip install "
         "torch numpy'; 'apo import definition --python PROGRAM' names another Python")

import importlib.util
import traceback

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(FOLDER, sys.argv[1])
DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
          "e5m2": "float8_e5m2", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "bool": "bool"}
STORED = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "F8_E4M3": "e4m3", "F8_E5M2": "e5m2",
          "I64": "i64", "I32": "i32", "I16": "i16", "I8": "i8", "BOOL": "bool"}


def torch_dtype(name):
    if not hasattr(torch, DTYPES[name]):
        fail(f"PyTorch {torch.__version__} has no {DTYPES[name]}: install 2.1 or newer")
    return getattr(torch, DTYPES[name])


def call(function, *arguments):
    """Says which line of the definition failed."""
    try:
        with torch.no_grad():
            return function(*arguments)
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == SOURCE]
        fail(f"{sys.argv[1]}:{lines[-1] if lines else 0}: {type(error).__name__}: {error} (PyTorch {torch.__version__})")


def load_definition():
    spec = importlib.util.spec_from_file_location("definition", SOURCE)
    module = importlib.util.module_from_spec(spec)
    call(spec.loader.exec_module, module)
    if not callable(getattr(module, "run", None)):
        fail(f"{sys.argv[1]} defines no function 'run'")
    return module


def save(folder, name, value):
    value = torch.as_tensor(value).detach().cpu().contiguous()
    np.save(f"{folder}/{name}.npy", (value.to(torch.float64) if value.is_floating_point() else value).numpy())


def argument(folder, request, name):
    if name in request["scalars"]:
        return SCALARS[name](request["scalars"][name])
    value = torch.from_numpy(np.load(f"{folder}/{name}.npy"))
    if not value.is_floating_point():
        return value
    declared = request["tensors"][name]["dtype"]
    return value.to(torch_dtype(declared) if request["precision"] == "declared" else getattr(torch, request["precision"]))


def compute(folder, request):
    results = call(definition.run, *[argument(folder, request, name) for name in INPUTS])
    if isinstance(results, dict):
        results = [results[name] for name in OUTPUTS if name in results]
    elif not isinstance(results, (tuple, list)):
        results = [results]
    if len(results) != len(OUTPUTS):
        fail(f"run() of {sys.argv[1]} gives {len(results)} of the {len(OUTPUTS)} outputs {', '.join(OUTPUTS)}")
    for name, value in zip(OUTPUTS, results):
        save(folder, name, value)


def recorded(axes, name):
    key = ",".join(f"{axis}={axes[axis]}" for axis in AXES) + "/" + name
    with open(os.path.join(FOLDER, sys.argv[2]), "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        if key not in header:
            fail(f"no values of '{name}' were recorded for these sizes: only the workloads have some")
        begin, end = header[key]["data_offsets"]
        file.seek(8 + length + begin)
        data = bytearray(file.read(end - begin))
    return torch.frombuffer(data, dtype=torch_dtype(STORED[header[key]["dtype"]])).reshape(header[key]["shape"])


def draw(folder, request):
    torch.manual_seed(request["seed"] % 2**63)
    axes = dict(request["axes"])
    custom = {}
    if "custom" in [DRAWN[name] for name in request["fill"]]:
        for name, expression in EXPRESSIONS.items():
            axes[name] = int(eval(expression, {}, axes))
        custom = call(getattr(definition, CUSTOM), {**axes, **request["scalars"]}, torch.device("cpu"))
    for name in request["fill"]:
        shape = request["tensors"][name]["shape"]
        if DRAWN[name] == "custom":
            value = custom[name] if name in custom else fail(f"{CUSTOM}() of {sys.argv[1]} gives no '{name}'")
        elif DRAWN[name] == "recorded":
            value = recorded(request["axes"], name)
        elif DRAWN[name] == "causal":  # masked where a later position would be seen
            low = -30000.0 if request["tensors"][name]["dtype"] == "f16" else -1e30
            value = torch.triu(torch.full(shape, low), diagonal=1)
        elif DRAWN[name] == "cumsum":
            value = (torch.rand(shape) * -0.1).cumsum(dim=-1)
        else:
            value = torch.softmax(torch.randn(shape), dim=-1)
        save(folder, name, value)


definition = load_definition()
folder = sys.argv[-1]
while folder:
    with open(f"{folder}/axes.json") as file:
        request = json.load(file)
    (draw if "fill" in request else compute)(folder, request)
    print("\napo:next", flush=True)
    folder = sys.stdin.readline().strip()

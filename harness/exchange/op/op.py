"""@FAMILY@_op.py - the op torch.ops.apo.@FAMILY@.

    from @FAMILY@_op import @FAMILY@
    help(@FAMILY@)

Written by 'apo export --torch': do not edit. A call checks its tensors against the contract, and calls the kernel that
the dispatch table has for their sizes on their device: on the current stream, with outputs and scratch from PyTorch's
allocator. Importing compiles the table, and the first call of a kernel the kernel, into build/ beside this file.

Where the op of the family's gradient was exported to this folder too, the op has a gradient for autograd.
"""
import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import torch

FAMILY = "@FAMILY@"
HERE = Path(__file__).resolve().parent
OP = json.loads((HERE / f"{FAMILY}_op.json").read_text())
DTYPES = [getattr(torch, tensor["dtype"]) for tensor in OP["inputs"] + OP["outputs"]]
ALIGNMENT = 64  # bytes, of every tensor: kernels/abi.h
# The extents are expressions over the axes, with these functions.
FUNCTIONS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b), "next_pow2": lambda a: 1 << max(0, a - 1).bit_length()}
SHAPES = [[compile(extent, "shape", "eval") for extent in tensor["shape"]] for tensor in OP["inputs"] + OP["outputs"]]
HOST_FLAGS = ["-std=c++20", "-O3", "-march=native", "-fopenmp", "-fPIC", "-fvisibility=hidden", "-shared"]


# ---------------------------------------------------------------- building


def cuda_folder():
    """The CUDA toolkit's folder, or None."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    folder = Path(os.environ.get("CUDA_HOME") or Path(nvcc).resolve().parent.parent)
    return folder if (folder / "bin" / "nvcc").exists() else None


def build(key, folder, command):
    """Runs the command in a folder; returns the file that it wrote, kept under a hash of the key."""
    built = HERE / "build" / f"{FAMILY}-{hashlib.sha256(json.dumps([key, command]).encode()).hexdigest()[:16]}"
    if built.exists():
        return str(built)
    built.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as place:
        output = Path(place) / "built"
        ran = subprocess.run(command + ["-o", str(output)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ran.returncode != 0:
            raise RuntimeError(f"{FAMILY}: {folder} does not compile:\n{' '.join(command)}\n{ran.stdout}")
        output.rename(built)
    return str(built)


def compile_table():
    """The dispatch table and what calls its kernels, as a shared object."""
    flags = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-I."]
    if torch.cuda.is_available() and cuda_folder():
        flags += ["-DAPO_WITH_CUDA", f"-I{cuda_folder()}/include", f"-L{cuda_folder()}/lib64/stubs"]
    libraries = ["-ldl"] + (["-lcuda"] if "-DAPO_WITH_CUDA" in flags else [])
    texts = [(HERE / file).read_text() for file in (f"{FAMILY}_op.cpp", f"{FAMILY}_dispatch.h", "apo_op.hpp")]
    return build(texts, HERE, [os.environ.get("CXX", "g++")] + flags + [f"{FAMILY}_op.cpp"] + libraries)


def with_flags(usual, source):
    """The usual flags without the standard that the source's own replace, and these."""
    has_standard = any(flag.startswith("-std=") for flag in source["flags"])
    return [flag for flag in usual if not (has_standard and flag.startswith("-std="))] + source["flags"]


def nvcc(source, capability):
    """nvcc and its flags for a source on a device of this compute capability."""
    if not cuda_folder():
        raise RuntimeError(f"{FAMILY}: no CUDA toolkit to compile {source['file']}: install it, or set CUDA_HOME")
    # What is for sm_90a runs on compute capability 9.0 and nowhere else.
    asked = source["arch"][3:]
    number = asked if asked and not asked[-1].isdigit() else str(capability)
    folders = [str(cuda_folder() / "include" / "cccl") if folder == "cccl" else folder for folder in source["includes"]]
    return [
        str(cuda_folder() / "bin" / "nvcc"), f"-gencode=arch=compute_{number},code=sm_{number}",
        *with_flags(["-std=c++20"], source), *["-I" + folder for folder in folders],
    ]  # fmt: skip


def library_command(source, capability):
    """The command for a source that exports a function, without the source."""
    if source["target"] == "host":
        return [os.environ.get("CXX", "g++")] + with_flags(HOST_FLAGS, source)
    folder = cuda_folder() / "lib64"
    shared = "cudart" in source["libraries"]
    return [
        *nvcc(source, capability), "-shared", "-Xcompiler", "-O3,-fPIC,-fvisibility=hidden,-ffunction-sections",
        "-Xlinker", "--gc-sections", f"-L{folder}",
        "-Xlinker", f"-rpath,{folder}", *[f"-l{library}" for library in source["libraries"] if library != "cudart"],
        "--cudart=shared" if shared else "--cudart=static",
    ]  # fmt: skip


def instructions_of_this_cpu():
    """What -march=native depends on: a folder may be shared between machines."""
    words = Path("/proc/cpuinfo").read_text().splitlines()
    return sorted({line for line in words if line.startswith(("flags", "model name", "Features"))})


def compile_kernel(folder, constants, capability):
    """The source of a row with the constants of a call, as a cubin or a shared object."""
    source = OP["sources"][folder]
    text = (HERE / folder / source["file"]).read_text()
    # Relative, so that a copy of this folder finds what was built in the first.
    defined = [f"-DAPO_{constant}" for constant in constants.split()] + [f"-I{os.path.relpath(HERE, HERE / folder)}", "-I."]
    if source["kernels"]:
        command = nvcc(source, capability) + defined + ["-cubin", source["file"]]
    else:
        command = library_command(source, capability) + defined + [source["plain"]]
    return build([folder, text, instructions_of_this_cpu()], HERE / folder, command)


# ---------------------------------------------------------------- calling


@functools.lru_cache(None)
def table():
    library = ctypes.CDLL(compile_table())
    pointer = ctypes.c_void_p
    for name, result, arguments in (
        ("prepare", ctypes.c_char_p, [pointer, ctypes.c_int, pointer]),
        ("folder", ctypes.c_char_p, [pointer]),
        ("elsewhere", ctypes.c_char_p, [pointer]),
        ("constants", ctypes.c_char_p, [pointer]),
        ("capability", ctypes.c_int64, [pointer]),
        ("scratch", ctypes.c_int64, [pointer, ctypes.c_size_t]),
        ("load", ctypes.c_char_p, [pointer, ctypes.c_char_p]),
        ("run", ctypes.c_char_p, [pointer, pointer, pointer, ctypes.c_int, pointer]),
    ):
        function = getattr(library, f"apo_op_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def check(error):
    if error is not None:
        raise RuntimeError(f"{FAMILY}: {error.decode()}")


def check_input(tensor, spec, dtype, device):
    if tensor.device != device:
        raise RuntimeError(f"{FAMILY}: {spec['name']} is on {tensor.device}, and {OP['inputs'][0]['name']} on {device}: call to()")
    if tensor.dtype != dtype:
        raise RuntimeError(f"{FAMILY}: {spec['name']} has dtype {tensor.dtype}, needed {dtype}: call to()")
    if not tensor.is_contiguous():
        raise RuntimeError(f"{FAMILY}: {spec['name']} is not contiguous: call contiguous()")
    if not tensor.is_meta and tensor.data_ptr() % ALIGNMENT:
        raise RuntimeError(f"{FAMILY}: {spec['name']} begins at an address that is no multiple of {ALIGNMENT} bytes: call clone()")


def extents_of(tensor, spec):
    """Leading extents of 1 may be left out."""
    missing = spec["rank"] - tensor.dim()
    if missing < 0:
        raise RuntimeError(f"{FAMILY}: {spec['name']} has {tensor.dim()} dimensions, and the contract has {spec['extents']}: call reshape()")
    return [1] * missing + [int(extent) for extent in tensor.shape]


def text_of(axes):
    return " ".join(f"{name}={value}" for name, value in axes.items())


def shapes_at(axes):
    """Of all tensors of the contract, one after the other."""
    try:
        shapes = [[int(eval(extent, FUNCTIONS, axes)) for extent in shape] for shape in SHAPES]
    except ArithmeticError:
        shapes = [[-1]]
    if any(extent < 0 for shape in shapes for extent in shape):
        raise RuntimeError(f"{FAMILY}: no shape for {text_of(axes)}")
    return shapes


def check_shape(tensor, spec, needed, axes):
    if extents_of(tensor, spec) == needed or (tensor.numel() == 0 and 0 in needed):
        return
    unread = "; this call does not read it: pass new_empty(0)" if 0 in needed else ""
    raise RuntimeError(f"{FAMILY}: {spec['name']} has shape {list(tensor.shape)}, needed {needed} = {spec['extents']} for {text_of(axes)}{unread}")


def word(value, dtype):
    """Eight bytes of the argument struct."""
    return int.from_bytes(bytes(torch.tensor([value], dtype=dtype).view(torch.uint8).tolist()), "little")


class Prepared:
    """All of a call that its sizes and its device decide."""

    def __init__(self, inputs, arguments):
        axes = {}
        for axis in OP["axes"]:
            if "input" in axis:
                axes[axis["name"]] = extents_of(inputs[axis["input"]], OP["inputs"][axis["input"]])[axis["dimension"]]
            else:
                axes[axis["name"]] = arguments[axis["name"]] if axis["name"] in arguments else axis["default"]
        self.axes = (ctypes.c_int64 * len(axes))(*axes.values())
        shapes = shapes_at(axes)
        for tensor, spec, needed in zip(inputs, OP["inputs"], shapes):
            check_shape(tensor, spec, needed, axes)
        self.outputs = list(zip(shapes[len(inputs) :], DTYPES[len(inputs) :]))
        scalars = [(arguments.get(scalar["name"], scalar["value"]), getattr(torch, scalar["dtype"])) for scalar in OP["scalars"]]
        self.values = [word(value, dtype) for value, dtype in scalars] + [value % 2**64 for value in axes.values()]
        self.kernel = self.sizes = None
        if not inputs[0].is_meta:
            self.prepare_kernel(inputs[0].get_device() if inputs[0].is_cuda else -1)

    def prepare_kernel(self, device):
        self.kernel = ctypes.c_void_p()
        check(table().apo_op_prepare(self.axes, device, ctypes.byref(self.kernel)))
        if (elsewhere := table().apo_op_elsewhere(self.kernel)) is not None:
            warnings.warn(f"{FAMILY}: {elsewhere.decode()}", stacklevel=2)
        folder, constants = (of(self.kernel).decode() for of in (table().apo_op_folder, table().apo_op_constants))
        file = compile_kernel(folder, constants, table().apo_op_capability(self.kernel))
        check(table().apo_op_load(self.kernel, file.encode()))
        self.scratch = []
        while (size := table().apo_op_scratch(self.kernel, len(self.scratch))) >= 0:
            self.scratch.append(size)

    def __call__(self, inputs):
        first = inputs[0]
        outputs = [first.new_empty(shape, dtype=dtype) for shape, dtype in self.outputs]
        if self.kernel is None:
            return outputs
        buffers = [*inputs, *outputs, *(first.new_empty(size, dtype=torch.uint8) for size in self.scratch)]
        addresses = [buffer.data_ptr() for buffer in buffers]
        words = (ctypes.c_uint64 * (len(addresses) + len(self.values)))(*addresses, *self.values)
        if self.sizes is None:
            self.sizes = (ctypes.c_int64 * len(buffers))(*(buffer.numel() * buffer.element_size() for buffer in buffers))
        stream = torch.cuda.current_stream(first.device).cuda_stream if first.is_cuda else None
        check(table().apo_op_run(self.kernel, words, self.sizes, torch.get_num_threads(), stream))
        return outputs


PREPARED = {}


def plain(value):
    """torch.compile may pass symbols; a kernel is for one size."""
    return float(value) if isinstance(value, (float, torch.SymFloat)) else int(value)


def call(*inputs, **arguments):
    device = inputs[0].device
    for tensor, spec, dtype in zip(inputs, OP["inputs"], DTYPES):
        check_input(tensor, spec, dtype, device)
    shapes = tuple(tensor.shape for tensor in inputs)
    if inputs[0].is_meta and hasattr(torch, "SymInt"):
        shapes = tuple(tuple(int(extent) for extent in shape) for shape in shapes)
        arguments = {name: plain(value) for name, value in arguments.items()}
    key = (device, shapes, tuple(arguments.items()))
    prepared = PREPARED.get(key)
    if prepared is None:
        prepared = PREPARED[key] = Prepared(inputs, arguments)
    outputs = prepared(inputs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


# ---------------------------------------------------------------- gradient


def gradient_op():
    """The op that computes the gradient, if it was exported to this folder too."""
    name = f"{OP['gradient']['op']}_op" if OP["gradient"] else ""
    if not name or not (HERE / f"{name}.py").exists():
        return None
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return getattr(sys.modules[name], OP["gradient"]["op"])


def whole(tensor):
    """As an op takes it: a gradient may arrive as a view."""
    aligned = tensor.storage_offset() * tensor.element_size() % ALIGNMENT == 0
    return tensor if tensor.is_contiguous() and aligned else tensor.clone(memory_format=torch.contiguous_format)


def as_input(gradient, shape):
    """An input has the gradient's extents, without leading ones of 1, or is empty because the call does not read it."""
    if gradient.shape == shape:
        return gradient
    return gradient.reshape(shape) if gradient.numel() == shape.numel() else None


@contextlib.contextmanager
def below_autograd():
    """In it the op is the kernel, and not the function below again."""
    guard = torch._C._AutoDispatchBelowAutograd()
    if hasattr(guard, "__enter__"):
        with guard:
            yield
    else:  # in PyTorch 1 its life is the scope
        try:
            yield
        finally:
            del guard


class Differentiable(torch.autograd.Function):
    """The op, and as its gradient the other op. What no gradient can arrive at is kept for it, or a dead end."""

    @staticmethod
    def forward(ctx, arguments, *inputs):
        with below_autograd():
            outputs = getattr(torch.ops.apo, FAMILY)(*inputs, **arguments)
        known = {"input": inputs, "output": outputs if isinstance(outputs, tuple) else (outputs,)}
        sources = OP["gradient"]["inputs"]
        ctx.save_for_backward(*(known[kind][index] for kind, index in sources if kind != "gradient"))
        ctx.arguments = {name: arguments[name] for name in OP["gradient"]["arguments"] if name in arguments}
        ctx.shapes = [tensor.shape for tensor in inputs]
        ctx.mark_non_differentiable(*(output for index, output in enumerate(known["output"]) if ["gradient", index] not in sources))
        return outputs

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *arriving):
        kept = iter(ctx.saved_tensors)
        inputs = [whole(arriving[index]) if kind == "gradient" else next(kept) for kind, index in OP["gradient"]["inputs"]]
        found = getattr(torch.ops.apo, OP["gradient"]["op"])(*inputs, **ctx.arguments)
        gradients = [None] * len(ctx.shapes)
        for index, gradient in zip(OP["gradient"]["outputs"], found if isinstance(found, tuple) else (found,)):
            if ctx.needs_input_grad[1 + index]:
                gradients[index] = as_input(gradient, ctx.shapes[index])
        return None, *gradients


# ---------------------------------------------------------------- the op


def library():
    """The namespace; in PyTorch 1 it is one object of the process."""
    if not torch.__version__.startswith("1."):
        return torch.library.Library("apo", "FRAGMENT")
    if not hasattr(torch.library, "apo"):
        torch.library.apo = torch.library.Library("apo", "DEF")
    return torch.library.apo


LIBRARY = library()
LIBRARY.define(OP["schema"])
for backend in ("CPU", "CUDA", "Meta"):
    LIBRARY.impl(FAMILY, call, backend)
HAS_GRADIENT = gradient_op() is not None
if HAS_GRADIENT:
    LIBRARY.impl(FAMILY, lambda *inputs, **arguments: Differentiable.apply(arguments, *inputs), "Autograd")
table()


def @FAMILY@(*inputs, **arguments):
    return torch.ops.apo.@FAMILY@(*inputs, **arguments)


@FAMILY@.__doc__ = OP["schema"]

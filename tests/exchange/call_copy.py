"""call_copy.py - calls the exported table of the family `copy` in the current folder as copy_op.py does, but with NumPy.

Compiles table and kernel with g++, copies the inputs of a case, and asks for a size that cannot be.
"""
import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np


def compile_here(source, output, *flags):
    subprocess.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", *flags, source, "-o", output, "-ldl"], check=True)


def aligned(count):
    """NumPy's memory begins anywhere; the contract wants multiples of 64 bytes."""
    raw = np.zeros(4 * count + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + 4 * count].view(np.float32)


def main():
    compile_here("copy_op.cpp", "table.so", "-I.")
    table = ctypes.CDLL("./table.so")
    for name in ("prepare", "folder", "constants", "elsewhere", "load", "run"):
        getattr(table, f"apo_op_{name}").restype = ctypes.c_char_p
    given = np.load(next(Path("copy_cases").glob("*1001*/x.npy")))
    axes, kernel = (ctypes.c_int64 * 1)(given.size), ctypes.c_void_p()
    error = table.apo_op_prepare(axes, -1, ctypes.byref(kernel))
    assert error is None, error
    folder = table.apo_op_folder(kernel).decode()
    source = json.loads(Path("copy_op.json").read_text())["sources"][folder]
    compile_here(f"{folder}/{source['plain']}", "kernel.so", "-I.", f"-I{folder}")
    error = table.apo_op_load(kernel, b"./kernel.so")
    assert error is None, error
    x, y = aligned(given.size), aligned(given.size)
    x[:] = given
    words = (ctypes.c_uint64 * 3)(x.ctypes.data, y.ctypes.data, given.size)
    error = table.apo_op_run(kernel, words, (ctypes.c_int64 * 2)(x.nbytes, y.nbytes), 1, None)
    assert error is None, error
    assert np.array_equal(x, y)
    print(f"copied {given.size} numbers")
    print("elsewhere:", table.apo_op_elsewhere(kernel).decode())
    print("refused:", table.apo_op_prepare((ctypes.c_int64 * 1)(-1), -1, ctypes.byref(kernel)).decode())


main()

"""safetensors.py - tensors in the .safetensors format: 8 bytes of length, a JSON header, the data.

The format: github.com/huggingface/safetensors, README.md. A tensor is its entry of the header without offsets, and its bytes.
"""
import json
import math

from conversion import DTYPES, Mistake

STORED = {stored: own for own, _, stored in DTYPES}
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}  # of the others 1


def read_safetensor(path, key):
    """Its entry, and its bytes."""

    def fail(why):
        raise Mistake(f"'{path}' is not a usable .safetensors file: {why}")

    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    if len(data) < 8 or begin > len(data):
        fail("its header is cut off")
    try:
        header = json.loads(data[8:begin])
    except ValueError:
        header = None
    if not isinstance(header, dict) or key not in header:
        fail(f"it has no tensor '{key}'" if isinstance(header, dict) else "its header is no JSON object")
    try:
        entry = header[key]
        dtype, shape, (first, last) = STORED.get(entry["dtype"]), entry["shape"], entry["data_offsets"]
        if dtype is None:
            fail(f"the dtype of '{key}' is {entry['dtype']}")
        whole = all(type(size) is int and size >= 0 for size in [*shape, first, last])
        if not whole or last > len(data) - begin or last - first != math.prod(shape) * BYTES.get(dtype, 1):
            fail(f"the offsets of '{key}' do not fit its shape and the file")
    except (KeyError, TypeError, ValueError):
        fail(f"the entry of '{key}' has no dtype, shape and data_offsets")
    return {"dtype": entry["dtype"], "shape": shape}, data[begin + first : begin + last]


def safetensors_text(tensors):
    header, data = {}, b""
    for key, (entry, contents) in tensors.items():
        header[key] = {**entry, "data_offsets": [len(data), len(data) + len(contents)]}
        data += contents
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the data are aligned
    return len(text).to_bytes(8, "little") + text + data

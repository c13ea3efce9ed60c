#!/usr/bin/env python3
"""experiments/agreement.py VARIANT WORKLOAD A B - how far the outputs in two folders of `apo verify --dump` are apart.

Prints one row of a markdown table: elements, share that is bit for bit the same, the largest difference relative to the
largest value of its tensor, and whether that is within two roundings of bf16 (2^-7).
"""
import pathlib
import re
import struct
import sys


def read(path):
    """The numbers of a .npy file of little-endian f4 or f8."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    kind = re.search(r"'descr': '<(f[48])'", data[10 : 10 + length].decode()).group(1)
    body = data[10 + length :]
    return struct.unpack("<%d%s" % (len(body) // int(kind[1]), "f" if kind == "f4" else "d"), body)


def main():
    variant, workload, first, second = sys.argv[1:5]
    elements = same = 0
    largest = 0.0
    for reference in sorted(pathlib.Path(first).glob("*.reference.npy")):
        name = reference.name.replace(".reference", "")
        a, b = read(pathlib.Path(first) / name), read(pathlib.Path(second) / name)
        scale = max(max(map(abs, a)), 1e-30)
        elements += len(a)
        same += sum(x == y for x, y in zip(a, b))
        largest = max(largest, max(abs(x - y) for x, y in zip(a, b)) / scale)
    within = elements > 0 and largest <= 2**-7
    print("| %s | %s | %d | %.2f %% | %.2g | %s |"
          % (variant, workload, elements, 100 * same / max(elements, 1), largest, "yes" if within else "NO"))


if __name__ == "__main__":
    main()

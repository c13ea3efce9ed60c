"""conversion.py - what the conversions share: how the program calls one, mistakes, numbers and expressions as text.

The program starts `python3 CONVERSION.py FOLDER` and gives it one JSON document on standard input. The conversion writes
its files into FOLDER and prints one JSON document: what the user should hear of them. A mistake of the user is exit code
1, with what is wrong on the first line of standard error and the hint on the others.
"""
import json
import re
import sys
from pathlib import Path

# Name in the program, in PyTorch and the two projects, in .safetensors.
DTYPES = [
    ("f64", "float64", "F64"), ("f32", "float32", "F32"), ("f16", "float16", "F16"), ("bf16", "bfloat16", "BF16"),
    ("e4m3", "float8_e4m3fn", "F8_E4M3"), ("e5m2", "float8_e5m2", "F8_E5M2"), ("i64", "int64", "I64"),
    ("i32", "int32", "I32"), ("i16", "int16", "I16"), ("i8", "int8", "I8"), ("u8", "uint8", "U8"), ("bool", "bool", "BOOL"),
]  # fmt: skip
TORCH_NAMES = {own: torch for own, torch, _ in DTYPES}


class Mistake(Exception):
    def __init__(self, what, hint=""):
        super().__init__(what)
        self.hint = hint


def main(convert):
    """`convert` takes the document, and returns the texts by path within the folder and the document to print."""
    try:
        files, report = convert(json.load(sys.stdin))
        for path, contents in files.items():
            target = Path(sys.argv[1]) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        print(json.dumps(report))
    except Mistake as mistake:
        sys.exit(f"{mistake}\n{mistake.hint}")


def read_bytes(path, most=-1):
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise Mistake(f"cannot read '{path}': {error.strerror}") from error


def read(path):
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mistake(f"cannot read '{path}': {error}") from error


def number(value):
    """As short as it can be: 1e-05, 2."""
    return repr(float(value)).removesuffix(".0")


def is_identifier(name):
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None


def extents_of(shape):
    """The expressions of "[rows,(cols/2)]"."""
    extents, depth = [""], 0
    for letter in shape[1:-1]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            extents.append("")
        else:
            extents[-1] += letter
    return [extent.strip() for extent in extents if extent.strip()]


def python_of(expression):
    """An integer expression of a metadata block in Python. Its functions keep their names: see FUNCTIONS."""
    words = {"&&": " and ", "||": " or ", "!": " not ", "/": "//"}
    tokens = iter(re.findall(r"\s+|\w+|&&|\|\||[<>=!]=|.", expression))

    def part(ends):
        """Up to one of the ends, and which one it was."""
        text = ""
        for token in tokens:
            if token in ends:
                return text, token
            if token == "(":
                inside, end = part((",", ")"))
                while end == ",":
                    more, end = part((",", ")"))
                    inside += "," + more
                text += f"({inside})"
            elif token == "?":
                chosen, _ = part((":",))
                other, end = part(ends)
                return f"({chosen} if {text} else {other})", end
            else:
                text += words.get(token, token)
        return text, ""

    return " ".join(part(())[0].split())


FUNCTIONS = {
    "__builtins__": {}, "min": min, "max": max, "ceil_div": lambda a, b: -(-a // b),
    "next_pow2": lambda a: 1 << max(0, a - 1).bit_length(),
}  # fmt: skip


def evaluate(expression, axes):
    return int(eval(python_of(expression), FUNCTIONS, axes))

"""torch_op.py - a dispatch table as an op of PyTorch.

Reads {"family": NAME, "families": as `apo list --json` has them, "sources": how each row's source is compiled, "devices": of
the table's rows}. Writes, beside the table's header and sources, the op in
C++, the Python file that builds it, a test, and NAME_op.json, from which both know the contract; prints {"gradient": the
family that computes its gradient, or null}.
"""
import json
from pathlib import Path

from conversion import Mistake, TORCH_NAMES, evaluate, extents_of, main, python_of

HERE = Path(__file__).parent
OP_CPP = """\
// {family}_op.cpp - a dispatch table for Python; written by 'apo export --torch': do not edit.
#include "{family}_dispatch.h"

namespace table = apo_dispatch::{family};

// In the order of the contract.
constexpr std::int64_t table::Axes::*kAxes[] = {{{axes}}};

#include "apo_op.hpp"
"""


# ---------------------------------------------------------------- the contract


def says_the_shape(family, tensor):
    """Families that are part of the program have shapes as functions; their text has to say the same on every workload."""
    try:
        return all(
            [evaluate(extent, workload["axes"]) for extent in extents_of(tensor["shape"])] == workload["shapes"][tensor["name"]]
            for workload in family["workloads"]
        )
    except (ArithmeticError, NameError, SyntaxError, TypeError):
        return False


def tensor_of(family, tensor):
    if not says_the_shape(family, tensor):
        what = f"family {family['name']} cannot become an op of PyTorch: the shape {tensor['shape']} of its tensor {tensor['name']}"
        raise Mistake(f"{what} is not one of expressions over its axes", "describe the family in a file: 'apo new' writes one")
    extents = extents_of(tensor["shape"])
    return {
        "name": tensor["name"],
        "dtype": torch_dtype(tensor),
        "extents": tensor["shape"],
        "shape": [python_of(extent) for extent in extents],
        "rank": len(extents),
    }


def torch_dtype(one):
    return "uint8" if one["dtype"] == "u8" else TORCH_NAMES[one["dtype"]]


def axis_of(axis, inputs):
    """The first input that has the axis as a whole extent tells it; else it is an argument of the op."""
    for index, tensor in enumerate(inputs):
        if axis["name"] in tensor["shape"]:
            return {"name": axis["name"], "input": index, "dimension": tensor["shape"].index(axis["name"])}
    return {"name": axis["name"], **({} if axis["default"] is None else {"default": axis["default"]})}


def contract_of(family):
    inputs = [tensor_of(family, tensor) for tensor in family["tensors"] if tensor["role"] == "input"]
    outputs = [tensor_of(family, tensor) for tensor in family["tensors"] if tensor["role"] == "output"]
    if not inputs:
        raise Mistake(f"family {family['name']} cannot become an op of PyTorch: it has no input")
    scalars = [{"name": one["name"], "dtype": torch_dtype(one), "value": one["value"]} for one in family["scalars"]]
    axes = [axis_of(axis, inputs) for axis in family["axes"]]
    return {"inputs": inputs, "outputs": outputs, "axes": axes, "scalars": scalars}


def arguments_of(contract):
    """The axes that no input tells, those without a default first."""
    return sorted((axis for axis in contract["axes"] if "input" not in axis), key=lambda axis: "default" in axis)


def schema_of(name, contract):
    """"copy(Tensor x, *, int n) -> Tensor"."""
    named = [f"int {axis['name']}" + (f"={axis['default']}" if "default" in axis else "") for axis in arguments_of(contract)]
    for scalar in contract["scalars"]:
        is_float = "float" in scalar["dtype"]
        value = f"{scalar['value']:.17g}" if is_float else str(int(scalar["value"]))
        named.append(f"{'float' if is_float else 'int'} {scalar['name']}={value}")
    tensors = ", ".join(f"Tensor {tensor['name']}" for tensor in contract["inputs"])
    results = ["Tensor " + tensor["name"] for tensor in contract["outputs"]]
    result = "Tensor" if len(results) == 1 else f"({', '.join(results)})"
    return f"{name}({tensors}{', *, ' if named else ''}{', '.join(named)}) -> {result}"


# ---------------------------------------------------------------- the gradient


def is_alike(one, other):
    return (one["dtype"], one["extents"]) == (other["dtype"], other["extents"])


def is_gradient_of(gradient, tensor):
    """By its name, dtype and shape."""
    return gradient["name"] in (f"d{tensor['name']}", f"d_{tensor['name']}") and is_alike(gradient, tensor)


def place_of(tensors, matches):
    return next((index for index, tensor in enumerate(tensors) if matches(tensor)), None)


def source_of(tensor, forward):
    """What an input of the gradient's family is in the family that it differentiates, and where; None where it is nothing."""
    for kind, tensors, matches in (
        ("input", forward["inputs"], lambda one: one["name"] == tensor["name"] and is_alike(one, tensor)),
        ("output", forward["outputs"], lambda one: one["name"] == tensor["name"] and is_alike(one, tensor)),
        ("gradient", forward["outputs"], lambda one: is_gradient_of(tensor, one)),
    ):
        index = place_of(tensors, matches)
        if index is not None:
            return [kind, index]
    return None


def arguments_for(contract, forward):
    """What both take; None where the gradient could not be called with what the forward has."""
    given = [axis["name"] for axis in arguments_of(forward)] + [scalar["name"] for scalar in forward["scalars"]]
    if any("default" not in axis and axis["name"] not in given for axis in arguments_of(contract)):
        return None
    return [one["name"] for one in [*arguments_of(contract), *contract["scalars"]] if one["name"] in given]


def named(tensor, key, index):
    return {"name": tensor["name"], "dtype": tensor["dtype"], key: index}


def gradient_by(family, forward):
    """None unless it takes only inputs, outputs and gradients of `forward`, and computes only gradients of its inputs."""
    try:
        contract = contract_of(family)
    except Mistake:
        return None  # it is no gradient that PyTorch could use
    sources = [source_of(tensor, forward) for tensor in contract["inputs"]]
    places = [place_of(forward["inputs"], lambda one: is_gradient_of(output, one)) for output in contract["outputs"]]
    arguments = arguments_for(contract, forward)
    arriving = [(tensor, source) for tensor, source in zip(contract["inputs"], sources) if source and source[0] == "gradient"]
    if None in sources or None in places or arguments is None or not arriving:
        return None
    return {
        "op": family["name"],
        "inputs": sources,
        "outputs": places,
        "arguments": arguments,
        "arriving": [named(tensor, "output", index) for tensor, (_, index) in arriving],
        "gradients": [named(tensor, "input", index) for tensor, index in zip(contract["outputs"], places)],
    }


def gradient_of(family, forward, families):
    axes = {axis["name"] for axis in family["axes"]}
    for other in families:
        if other["name"] != family["name"] and {axis["name"] for axis in other["axes"]} <= axes:
            gradient = gradient_by(other, forward)
            if gradient:
                return gradient
    return None


# ---------------------------------------------------------------- the files


def torch_op(document):
    name = document["family"]
    family = next(one for one in document["families"] if one["name"] == name)
    contract = contract_of(family)
    gradient = gradient_of(family, contract, document["families"])
    op = {
        "schema": schema_of(name, contract),
        **contract,
        "gradient": gradient,
        "sources": document["sources"],
        "devices": document["devices"],
    }
    axes = ", ".join(f"&table::Axes::{axis['name']}" for axis in contract["axes"])
    files = {
        f"{name}_op.cpp": OP_CPP.format(family=name, axes=axes),
        f"{name}_op.py": (HERE / "op" / "op.py").read_text().replace("@FAMILY@", name),
        f"test_{name}.py": (HERE / "op" / "test.py").read_text().replace("@FAMILY@", name),
        f"{name}_op.json": json.dumps(op, indent=2) + "\n",
        "apo_op.hpp": (HERE / "op" / "apo_op.hpp").read_text(),
        "kernels/abi.h": (HERE.parents[1] / "kernels" / "abi.h").read_text(),
    }
    return files, {"gradient": gradient and gradient["op"]}


if __name__ == "__main__":
    main(torch_op)

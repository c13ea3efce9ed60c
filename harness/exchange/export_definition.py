"""export_definition.py - a family as a problem of FlashInfer-Trace and SOL-ExecBench.

Reads {"family": the family as `apo list FAMILY --json` has it, "reference": a Python file with run() or ""}. Writes
definition.json, workload.jsonl and, where values were recorded, their file. A family that was imported has its reference in
Python, and gives, when it is imported again under its name, the same files.
"""
import ast
import json
import re
from pathlib import Path

from conversion import Mistake, TORCH_NAMES, as_written, extents_of, main, number, python_of, read
from translation import NotUnderstood, Translation

DRAW = "draw_inputs"  # the custom_inputs_entrypoint of a family that was not imported


def kept_by_import(family):
    """INPUTS, DRAWN and so on of the program that an import wrote; {} for another program."""
    program = Path(family["file"]).parent / f"{family['name']}_reference.py"
    if not (program.is_file() and program.with_name(f"{family['name']}_definition.py").is_file()):
        return {}
    kept = {}
    for statement in ast.parse(read(program)).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "").isupper():
            try:
                kept[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:
                pass  # SCALARS names types, and what follows is computed
    return kept


def in_python(family, expression):
    if "?" in expression or re.search(r"\w\(", expression):
        known = "known there: + - * / % comparisons && || ! and parentheses"
        raise Mistake(f"{family['file']}: '{expression}' cannot be said in a definition", known)
    return python_of(expression)


def unwrapped(term):
    """Without the one pair of parentheses round all of it."""
    depth = 0
    for place, letter in enumerate(term):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return term[1:-1] if place > 0 and place + 1 == len(term) else term
    return term


def terms_of(condition):
    """The terms of "(a) && (b)"."""
    terms, depth = [""], 0
    for part in re.split(r"(&&|[()])", condition):
        depth += (part == "(") - (part == ")")
        if part == "&&" and depth == 0:
            terms.append("")
        else:
            terms[-1] += part
    return [unwrapped(term.strip()) for term in terms]


class Contract:
    """The family's axes and tensors as those of a definition."""

    def __init__(self, family):
        self.family, self.kept = family, kept_by_import(family)
        self.axes = {}
        for axis in family["axes"]:
            fixed = axis["specialised"] and axis["min"] == axis["max"]
            self.axes[axis["name"]] = {"type": "const", "value": axis["min"]} if fixed else {"type": "var"}
            if axis["meaning"]:
                self.axes[axis["name"]]["description"] = axis["meaning"]
        for name, expression in self.kept.get("EXPRESSIONS", {}).items():
            self.axes[name] = {"type": "expr", "expression": expression}
        self.inputs, self.outputs = {}, {}
        for tensor in family["tensors"]:
            if tensor["derived"]:
                what = f"{family['file']}: {tensor['name']} is derived, which a definition cannot say"
                raise Mistake(what, "make it an input")
            shape = [self.axis_for(extent) for extent in extents_of(tensor["shape"])]
            tensors = self.outputs if tensor["role"] == "output" else self.inputs
            tensors[tensor["name"]] = {"shape": shape, "dtype": self.dtype_of(tensor)}
        for scalar in family["scalars"]:
            self.inputs[scalar["name"]] = {"shape": None, "dtype": self.dtype_of(scalar)}
        order = self.kept.get("INPUTS", [])  # that of run()
        place = {name: order.index(name) if name in order else len(order) for name in self.inputs}
        self.inputs = dict(sorted(self.inputs.items(), key=lambda item: place[item[0]]))

    def dtype_of(self, one):
        if one["dtype"] == "u8":
            raise Mistake("definitions have no dtype u8", "docs/definitions.md has those they have")
        return TORCH_NAMES[one["dtype"]]

    def axis_for(self, extent):
        """The name of an axis that is this extent; a new one where there is none."""
        if extent.isdigit():
            return int(extent)
        for name in self.axes:
            try:
                if Translation(self.axes).axis(name) == extent:
                    return name
            except NotUnderstood:
                pass  # the expression was edited
        name = f"extent_{len(self.axes)}"
        self.axes[name] = {"type": "expr", "expression": in_python(self.family, extent)}
        return name

    def signature(self):
        return f"def run({', '.join(self.inputs)})"


def drawn_by(family, tensor):
    """PyTorch that draws an input as the block says; "" for what SOL-ExecBench draws by itself."""
    draw = tensor["draw"]
    kind, first, second = draw["kind"], number(draw["first"]), number(draw["second"])
    if kind == "function":
        what = f"{family['file']}: {tensor['name']} is drawn by a function of the family, which a definition cannot have"
        raise Mistake(what, "give it a distribution")
    return {
        "normal": "" if (first, second) == ("0", "1") else f"{first} + {second} * torch.randn(shape)",
        "uniform": f"{first} + {number(draw['second'] - draw['first'])} * torch.rand(shape)",
        "positive": "torch.randn(shape).abs() + 2**-10",
        "probability": "torch.rand(shape)",
        "mask": "" if tensor["dtype"] == "bool" else "torch.randint(0, 2, shape)",
        "index": f"torch.randint(0, 1 + ({in_python(family, draw['largest'])}), shape)",
    }[kind]


def drawing_function(contract):
    """The custom_inputs_entrypoint of a family that was not imported; "" where it needs none."""
    body = ""
    for tensor in contract.family["tensors"]:
        drawn = drawn_by(contract.family, tensor) if tensor["role"] == "input" else ""
        if drawn:
            own = contract.inputs[tensor["name"]]
            body += f"    shape = [{', '.join(map(str, own['shape']))}]\n"
            body += f"    inputs[\"{tensor['name']}\"] = ({drawn}).to(torch.{own['dtype']}).to(device)\n"
    names = "".join(f'    {axis} = axes["{axis}"]\n' for axis in contract.axes)
    head = f"\n\ndef {DRAW}(axes, device):\n    import torch\n{names}    inputs = {{}}\n"
    return head + body + "    return inputs\n" if body else ""


def input_document(contract, name, workload):
    family = contract.family
    scalar = next((one for one in family["scalars"] if one["name"] == name), None)
    if scalar:
        return {"type": "scalar", "value": as_written(scalar)}
    drawn = contract.kept.get("DRAWN")
    if drawn is None:
        tensor = next(one for one in family["tensors"] if one["name"] == name)
        return {"type": "custom" if drawn_by(family, tensor) else "random"}
    if drawn.get(name) == "recorded":
        key = ",".join(f"{axis['name']}={workload['axes'][axis['name']]}" for axis in family["axes"])
        return {"type": "safetensors", "path": f"{family['name']}_recorded.safetensors", "tensor_key": f"{key}/{name}"}
    return {"type": "custom" if drawn.get(name) == "custom" else "random"}


def workload_lines(contract):
    tolerance = contract.family["tolerance"] or contract.kept.get("TOLERANCE")
    lines = ""
    for workload in sorted(contract.family["workloads"], key=lambda one: one["place"]):
        axes = {name: workload["axes"][name] for name, axis in contract.axes.items() if axis["type"] == "var"}
        inputs = {name: input_document(contract, name, workload) for name in contract.inputs}
        line = {"uuid": workload["origin"] or workload["name"], "axes": axes, "inputs": inputs}
        line.update({"tolerance": tolerance} if tolerance else {})
        lines += json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"
    return lines


def check_reference(contract, path, text):
    """It is Python, and run() can be called with the inputs."""
    hint = "the reference is Python with the function " + contract.signature()
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise Mistake(f"{path}:{error.lineno or 1}: {error.msg}", hint) from error
    except ValueError as error:
        raise Mistake(f"{path}:1: {error}", hint) from error
    functions = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == "run"]
    if not functions:
        raise Mistake(f"{path}:1: there is no function 'run'", hint)
    own, given = functions[-1].args, len(contract.inputs)
    most = len(own.posonlyargs) + len(own.args)
    if given < most - len(own.defaults) or (given > most and not own.vararg):
        raise Mistake(f"{path}:{functions[-1].lineno}: run() takes {most} arguments and is called with {given}", hint)


def export_definition(document):
    family = document["family"]
    contract = Contract(family)
    folder, name = Path(family["file"]).parent, family["name"]
    if document["reference"]:
        reference = read(document["reference"])
        check_reference(contract, document["reference"], reference)
    elif contract.kept:
        reference = read(folder / f"{name}_definition.py")
    else:
        hint = f"write one in PyTorch, and name its file with --reference: {contract.signature()}"
        raise Mistake(f"a definition has its reference in Python, and that of {name} is not", hint)
    custom = contract.kept.get("CUSTOM")
    if custom is None:
        drawing = drawing_function(contract)
        reference, custom = reference + drawing, DRAW if drawing else ""
    bounded = [axis for axis in family["axes"] if contract.axes[axis["name"]]["type"] == "var" and axis["min"] > 1]
    terms = [f"{axis['name']} >= {axis['min']}" for axis in bounded]
    terms += [] if family["requires"] == "1" else terms_of(family["requires"])
    definition = {
        "name": family["origin"] or name,
        "op_type": family["origin"] or name,
        "description": family["summary"],
        "axes": contract.axes,
        "constraints": [in_python(family, term) for term in terms],
        "inputs": contract.inputs,
        "outputs": contract.outputs,
        "reference": reference,
        **({"custom_inputs_entrypoint": custom} if custom else {}),
    }
    files = {
        "definition.json": json.dumps(definition, indent=2, ensure_ascii=False) + "\n",
        "workload.jsonl": workload_lines(contract),
    }
    recorded = folder / f"{name}_recorded.safetensors"
    if contract.kept and recorded.is_file():
        files[recorded.name] = recorded.read_bytes()
    return files, {}


if __name__ == "__main__":
    main(export_definition)

"""import_definition.py - a definition as a family file, with the program that is its reference.

Reads {"definition": PATH, "workloads": PATH or "", "name": FAMILY or "", "python": PROGRAM, "widest", "honest": PRECISION}.
Writes NAME.h, NAME_reference.py, NAME_definition.py and, where values were recorded, NAME_recorded.safetensors; prints
{"family", "workloads": how many, "remarks": what was left out, and why}.
"""
import json
import math
import re
from pathlib import Path

from conversion import DTYPES, Mistake, evaluate, is_identifier, main, number
from definition import read_definition, read_workloads
from safetensors import STORED, read_safetensor, safetensors_text
from translation import NotUnderstood, Translation

OWN = {torch: own for own, torch, _ in DTYPES}
MOST_RECORDED = 256 << 20  # bytes


# ---------------------------------------------------------------- the problem in the words of a family


def find_recorded(folder, path):
    """In the folder of the problem or in one above: a data set has one folder for all of its problems."""
    for place in [folder.resolve(), *folder.resolve().parents]:
        if (place / path).is_file():
            return place / path
    raise Mistake(f"no file '{path}'")


class Problem:
    def __init__(self, definition, workloads, folder, path, name):
        self.definition, self.folder, self.path = definition, folder, path
        self.remarks, self.workloads, self.recorded = [], [], {}
        self.family = re.sub(r"[-.]", "_", name or definition["name"])
        if not is_identifier(self.family) or len(self.family) > 64:
            what = f"{path}: the name '{self.family}' is no identifier of at most 64 characters"
            raise Mistake(what, "name the family with --name")
        self.axes = {name: axis for name, axis in definition["axes"].items() if axis["type"] != "expr"}
        self.tensors = {name: one for name, one in definition["inputs"].items() if one["shape"] is not None}
        self.scalars = {name: one for name, one in definition["inputs"].items() if one["shape"] is None}
        self.read_conditions()
        try:
            self.choose_workloads(workloads)
        except (ArithmeticError, SyntaxError) as error:
            raise Mistake(f"{path}: {error}", "mend the expressions and the axes of the workloads") from error

    def read_conditions(self):
        translation = Translation(self.definition["axes"])
        conditions, self.least = [], {}
        for constraint in self.definition["constraints"]:
            bound = re.fullmatch(r"(\w+) >= (\d+)", constraint.strip())
            if bound and bound[1] in self.axes:  # the range of the axis, so that no extent is below 0 there
                self.least[bound[1]] = max(int(bound[2]), self.least.get(bound[1], 1))
                continue
            try:
                conditions.append(f"({translation.translate(constraint)})")
            except NotUnderstood as error:
                self.remarks.append(f"the constraint '{constraint}' is left out: {error}")
        self.shapes = {}
        for name, tensor in [*self.tensors.items(), *self.definition["outputs"].items()]:
            self.shapes[name] = [self.extent(translation, extent) for extent in tensor["shape"]]
        conditions += [f"({condition})" for condition in translation.conditions]
        self.requires = " && ".join(dict.fromkeys(conditions))

    def extent(self, translation, extent):
        try:
            return str(extent) if type(extent) is int else translation.axis(extent)
        except NotUnderstood as error:
            hint = "known: + - * / // % ** parentheses and the names of axes"
            raise Mistake(f"{self.path}: the axis '{extent}': {error}", hint) from error

    def extents(self, tensor, axes):
        return [evaluate(extent, axes) for extent in self.shapes[tensor]]

    def size_of(self, workload):
        """Elements of the outputs, which a loss has one of, and of all tensors."""
        return [sum(math.prod(self.extents(name, workload["axes"])) for name in names)
                for names in (self.definition["outputs"], self.shapes)]  # fmt: skip

    def axes_text(self, axes, separator):
        return separator.join(f"{name}={axes[name]}" for name in self.axes)

    def choose_workloads(self, workloads):
        names = workload_names(workloads)
        for workload, name in zip(workloads, names):
            fixed = {axis: one["value"] for axis, one in self.axes.items() if one["type"] == "const"}
            workload = {**workload, "name": name, "axes": {**workload["axes"], **fixed}}
            try:
                self.check(workload)
                recorded = self.read_recorded(workload)
                if sum(len(data) for _, data in [*self.recorded.values(), *recorded.values()]) > MOST_RECORDED:
                    raise Mistake("its recorded values are beyond 256 MiB")
                self.recorded.update(recorded)
                self.workloads.append(workload)
            except Mistake as why:
                self.remarks.append(f"workload {workload['uuid']} is left out: {why}")
        if not self.workloads:
            raise Mistake(f"{self.path}: no workload can be imported", "\n".join(self.remarks))

    def check(self, workload):
        """Throws a Mistake that says why it can't be one of the family's."""
        for name, value in workload["axes"].items():
            if value < self.least.get(name, 1):
                raise Mistake(f"{name}={value}, and extents are at least {self.least.get(name, 1)}")
        if self.requires and not evaluate(self.requires, workload["axes"]):
            raise Mistake(f"it does not satisfy {self.requires}")
        for other in self.workloads:
            if other["axes"] == workload["axes"]:
                raise Mistake(f"it has the sizes of {other['name']}")
            for name, own in workload["inputs"].items():
                same = other["inputs"][name]
                if own["type"] != same["type"]:
                    raise Mistake(f"its {name} comes from elsewhere than that of {other['name']}")
                if own["type"] == "scalar" and own["value"] != same["value"]:
                    values = f"{number(own['value'])}, and a family has one value: {number(same['value'])}"
                    raise Mistake(f"its {name} is {values} as in {other['name']}")

    def read_recorded(self, workload):
        read = {}
        for name, own in workload["inputs"].items():
            if own["type"] != "safetensors":
                continue
            entry, data = read_safetensor(find_recorded(self.folder, own["path"]), own["tensor_key"])
            dtype = STORED[entry["dtype"]]
            if dtype != OWN[self.tensors[name]["dtype"]] or entry["shape"] != self.extents(name, workload["axes"]):
                shape = ",".join(map(str, entry["shape"]))
                what = f"'{own['tensor_key']}' of '{own['path']}' is {dtype}[{shape}]"
                raise Mistake(f"{what}, which is not what the definition says")
            read[self.axes_text(workload["axes"], ",") + "/" + name] = entry, data
        return read


def workload_names(workloads):
    """The first 8 characters of each uuid, or as many as tell them apart."""
    for length in range(8, 61):
        names = ["w_" + re.sub(r"[^A-Za-z0-9]", "_", workload["uuid"][:length]) for workload in workloads]
        if len(set(names)) == len(names):
            break
    return names


# ---------------------------------------------------------------- how inputs are drawn


def draw_by_name(problem, name):
    """SOL-ExecBench draws a float input by its name (core/bench/io.py). Weights of norms are 1 and biases 0 there; here
    they vary about that, so that a kernel that leaves them out is wrong."""
    shape = problem.tensors[name]["shape"]
    base, rank = name.rstrip("0123456789"), len(shape)
    if base.endswith(("norm_weight", "norm1_weight", "norm2_weight")):
        return "normal(1,0.1)", ""
    if base.endswith(("norm_bias", "norm1_bias", "norm2_bias")):
        return "normal(0,0.1)", ""
    if name in ("attention_mask", "causal_mask") and rank >= 2 and shape[-1] == shape[-2]:
        return "fill", "causal"
    if name.endswith("_mask") and (name != "attention_mask" or rank < 3):
        return "mask", ""
    if name in ("cos", "sin", "cos_cached", "sin_cached", "rope_cos", "rope_sin"):
        return "uniform(-1,1)", ""
    if base.endswith(("rstd", "_std", "variance", "_var")) or name in ("std", "var"):
        return "uniform(0.1,2)", ""
    if name in ("A_log", "A", "g"):
        return {"A_log": "uniform(-5,-1)", "A": "uniform(-1,-0.001)", "g": "uniform(-5,0)"}[name], ""
    if name in ("A_cumsum", "attn_weights", "attention_weights", "routing_weights"):
        return "fill", "cumsum" if name == "A_cumsum" else "softmax"
    if rank >= 2 and (name == "weight" or base.endswith(("_weight", "_weights", "_proj", "_projs", "_weight_matrix"))):
        width = problem.extents(name, problem.workloads[0]["axes"])[-1]
        return f"normal(0,{1 / math.sqrt(width):.4g})", ""
    return "normal", ""


def draw_of(problem, name):
    """The distribution of the block, and for `fill` the rule of the program."""
    own = problem.workloads[0]["inputs"][name]
    source = own["type"]
    if "draw" in own:  # of import_kernelbench.py: 'custom' for others, and a distribution for us where there is one
        return own["draw"], "custom"
    if source in ("custom", "safetensors"):
        return "fill", "custom" if source == "custom" else "recorded"
    dtype = OWN[problem.tensors[name]["dtype"]]
    if dtype == "bool":
        return "mask", ""
    if dtype.startswith("i"):
        return "uniform(-128,127)" if dtype == "i8" else "uniform(-1024,1023)", ""
    return ("normal", "") if dtype in ("e4m3", "e5m2") else draw_by_name(problem, name)


# ---------------------------------------------------------------- the files


def kind_of(problem, workload):
    """The two smallest workloads are those that every candidate is checked on, with shapes that are drawn near them;
    recorded values rule such shapes out."""
    order = sorted(problem.workloads, key=lambda one: (problem.size_of(one), one["name"]))
    place = order.index(workload)
    if place >= 2 or place + 1 >= len(order) or problem.recorded:
        return "production"
    return ("small", "ragged")[place]


def theirs(problem):
    """The tightest of the workloads."""
    return [number(min(workload[key] for workload in problem.workloads)) for key in ("max_rtol", "max_atol")]


def family_file(problem, request):
    definition, family = problem.definition, problem.family
    idea = " ".join(definition["description"].split()) or f"Imported from {definition['name']}."
    lines = [f"apo:family     {family}", f"apo:idea       {idea}", f"apo:origin     {definition['name']}"]
    for name, axis in problem.axes.items():
        fixed = axis["type"] == "const"
        most = max(workload["axes"][name] for workload in problem.workloads)
        least = axis["value"] if fixed else problem.least.get(name, 1)
        words = [f"{least}..{most}", "specialised" if fixed else "", *axis["description"].split()]
        lines.append(f"apo:axis       {name} " + " ".join(word for word in words if word))
    for name, tensor in definition["inputs"].items():
        if name in problem.scalars:
            value = number(problem.workloads[0]["inputs"][name]["value"])
            lines.append(f"apo:scalar     {name} {OWN[tensor['dtype']]} {value}")
        else:
            shape = ",".join(problem.shapes[name])
            lines.append(f"apo:input      {name} {OWN[tensor['dtype']]}[{shape}] {draw_of(problem, name)[0]}")
    for name, tensor in definition["outputs"].items():
        lines.append(f"apo:output     {name} {OWN[tensor['dtype']]}[{','.join(problem.shapes[name])}]")
    if problem.requires:
        lines.append(f"apo:requires   {problem.requires}")
    if {OWN[one["dtype"]] for one in [*problem.tensors.values(), *definition["outputs"].values()]} & {"f16", "e4m3", "e5m2"}:
        lines.append("apo:regimes    typical near_zero")
    recorded = f" {family}_recorded.safetensors" if problem.recorded else ""
    lines.append(f"apo:reference  {request['python']} {family}_reference.py {family}_definition.py{recorded}")
    lines.append(f"apo:precision  {request['widest']} {request['honest']}")
    tolerance = "rtol={} atol={}".format(*theirs(problem))
    declared = f"apo:tolerance  {tolerance} because it is the definition's own"
    lines.append(declared if request["widest"] == "declared" else
                 f"The definition's own tolerance: {tolerance}. The one here is derived from the reference.")  # fmt: skip
    for workload in problem.workloads:
        kind = kind_of(problem, workload)
        lines.append(f"apo:workload   {workload['name']} {kind} {problem.axes_text(workload['axes'], ' ')}")
        lines.append(f"apo:origin     {workload['name']} {workload['uuid']}")
    return "".join(f"// {line}\n" for line in lines)


def reference_program(problem):
    """What is the definition's own, before the text that all such programs share."""
    definition = problem.definition

    def listed(names):
        return json.dumps(list(names), ensure_ascii=False)

    def type_of(dtype):
        return "float" if dtype.startswith(("float", "bfloat")) else "bool" if dtype == "bool" else "int"

    drawn = {name: draw_of(problem, name)[1] for name in problem.tensors}
    expressions = {name: " ".join(axis["expression"].split("\n")) for name, axis in definition["axes"].items() if axis["type"] == "expr"}
    scalars = ", ".join(f'"{name}": {type_of(scalar["dtype"])}' for name, scalar in problem.scalars.items())
    shared = (Path(__file__).parent / "reference.py").read_text().split("\n\n", 1)[1]
    return (
        f"# {problem.family}_reference.py - calls run() of {problem.family}_definition.py: the reference of the family "
        f"{problem.family}.\n"
        f"INPUTS = {listed(definition['inputs'])}  # in the order of run()\n"
        f"SCALARS = {{{scalars}}}\n"
        f"OUTPUTS = {listed(definition['outputs'])}\n"
        f"DRAWN = {json.dumps({name: rule for name, rule in drawn.items() if rule})}  # here, not by apo\n"
        f"AXES = {listed(problem.axes)}\n"
        f"EXPRESSIONS = {json.dumps(expressions, ensure_ascii=False)}\n"
        f"CUSTOM = {json.dumps(definition['custom_inputs_entrypoint'])}\n"
        f"\n{shared}"
    )


def find_workloads(path):
    """definitions/OP/NAME.json has its workloads in workloads/OP/NAME.jsonl; PROBLEM/definition.json beside it."""
    beside = path.parent / "workload.jsonl"
    parts = ["workloads" if part == "definitions" else part for part in path.parts]
    other = Path(*parts).with_suffix(".jsonl")
    return beside if beside.exists() or other.parent == path.parent else other


def import_definition(request):
    path = Path(request["definition"])
    path = path / "definition.json" if path.is_dir() else path
    definition = read_definition(path)
    workloads = Path(request["workloads"]) if request["workloads"] else find_workloads(path)
    problem = Problem(definition, read_workloads(definition, workloads), workloads.parent, path, request["name"])
    name = problem.family
    files = {
        f"{name}.h": family_file(problem, request),
        f"{name}_reference.py": reference_program(problem),
        f"{name}_definition.py": definition["reference"],
    }
    if problem.recorded:
        files[f"{name}_recorded.safetensors"] = safetensors_text(problem.recorded)
    return files, {"family": name, "workloads": len(problem.workloads), "remarks": problem.remarks}


if __name__ == "__main__":
    main(import_definition)

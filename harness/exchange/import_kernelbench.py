"""import_kernelbench.py - a KernelBench file (Model, get_inputs, get_init_inputs) as a definition with its workloads.

Reads {"file": PATH, "name": FAMILY or ""}. Writes definition.json and workload.jsonl for `import_definition.py`; prints
{"remarks": what is not as in the file}. The Python that runs it needs PyTorch. The file runs in this process, which is
from then on in the sandbox of Python files, and prints nothing.
"""
import ast
import json
import math
import re
import resource
import sys
from pathlib import Path

from conversion import Mistake, main, read
from kernelbench import constraints, distribution, explore, parametrised, short
from kernelbench_run import Trials, dtype_of, failure_of, same, silence, tensors_of, torch

sys.path.append(str(Path(__file__).resolve().parents[1] / "implement" / "python"))
from sandbox import Fault, hold_calls, hold_files  # noqa: E402

MOST_OF_WEIGHTS = 1 << 28  # elements: they are initialised once at the file's own sizes
MOST_MEMORY = 8 << 30  # bytes that the file may take
ENOUGH, MOST_LOOKED_AT = 1 << 14, 1 << 20  # values of a tensor that is drawn, to tell its distribution


# ---------------------------------------------------------------- how inputs and weights are drawn


def distribution_of(draws):
    values = torch.cat([one.flatten() for one in draws])
    values = values[:: 1 + values.numel() // MOST_LOOKED_AT].to(torch.float64)
    mean, deviation = values.mean().item(), values.std(unbiased=False).item()
    fourth = ((values - mean) ** 4).mean().item()
    kurtosis = fourth / deviation**4 if deviation else 0
    return distribution(values.numel(), values.min().item(), values.max().item(), mean, deviation, kurtosis)


def draw_of_input(run, name, expressions):
    one = run.inputs[name]
    if id(one) not in run.draws.known:
        return "fill"
    low, high = (expressions.get(("range", name, place)) for place in (0, 1))
    if high is not None:
        last = str(int(high) - 1) if high.isdigit() else f"{high}-1"
        is_fixed = high.isdigit() and low.lstrip("-").isdigit()
        return f"index(0..{last})" if low == "0" else f"uniform({low},{last})" if is_fixed else "fill"
    draws = []
    while len(draws) * one.numel() < ENOUGH and one.numel():
        given = zip(run.given, run.get_inputs())
        draws.append({part: tensor for each in given for part, tensor in tensors_of(*each).items()}[name].flatten())
    if dtype_of(one) == "bool":
        return "mask" if abs(torch.cat(draws).float().mean().item() - 0.5) < 0.02 else "fill"
    return (distribution_of(draws) if one.is_floating_point() and draws else "") or "fill"


def draw_of_weight(draws, is_parameter):
    first = draws[0].flatten()[0].item()
    if all(bool((one == first).all()) for one in draws):  # moved, so that it can't be left out
        if first > 0 and not is_parameter:  # as a variance, which stays positive
            return f"uniform({short(0.5 * first)},{short(1.5 * first)})"
        return f"normal({short(first)},{short(0.1 * abs(first) or 0.1)})"
    return distribution_of(draws) or "fill"


def weights_that_matter(run):
    """Those that change the result. A buffer that the module computes, as a table of positions, stays as it is."""
    expected, chosen = run.outputs_with(run.weights), []
    for name, one in run.weights.items():
        is_computed = name not in run.parameters and one.numel() > 0 and bool((one != one.flatten()[0]).any())
        if not is_computed and not same(expected, run.outputs_with({**run.weights, name: one * 1.5 + 0.25})):
            chosen.append(name)
    return chosen


def initialised(problem, sizes):
    """The weights as the module has them, several times where they are few."""
    Model, _, get_init_inputs = problem(**sizes)
    draws = []
    while len(draws) < 64 and sum(one.numel() for each in draws for one in each.values()) < 64 * ENOUGH:
        torch.manual_seed(len(draws) + 1)
        draws.append(Model(*get_init_inputs()).state_dict())
    return draws


# ---------------------------------------------------------------- the definition

# STATE, IS_TRAINING and forwarded() are also what a model in the place of Model is called with
# (harness/implement/python/call_python.py).
REFERENCE = '''
STATE = {{{state}}}  # the tensor of the family that is this part of the state
IS_TRAINING = {training}


def forwarded(sizes, {parameters}):
    """What forward() gets."""
    return [{arguments}]


def run({parameters}):
    """forward() with the given weights, at the sizes of the tensors."""
    sizes = {{{sizes}}}
    default = torch.get_default_dtype()
    if {first}.dtype in (torch.float32, torch.float64):
        torch.set_default_dtype({first}.dtype)
    try:
        Model, _, get_init_inputs = problem(**sizes)
        model = Model(*get_init_inputs()).train(IS_TRAINING)
        given = {{{weights}}}
        model.load_state_dict({{name: given[tensor] for name, tensor in STATE.items()}}, strict=False)
        return model(*forwarded(sizes, {parameters}))
    finally:
        torch.set_default_dtype(default)


def draw(axes, device):
    """The inputs as the file draws them, and the weights as the module is initialised."""
    Model, get_inputs, get_init_inputs = problem(**{{name: axes[name] for name in {axes}}})
    given, state = get_inputs(), Model(*get_init_inputs()).state_dict()
    return {{{drawn}}}
'''


class Definition:
    """Its parts. `names` has the name of each tensor and scalar of the family by its role and its name in the file."""

    def __init__(self, run, explored, own):
        self.run, self.explored, self.own = run, explored, own
        self.expressions = explored.expressions
        self.taken = {*own, "axes", "device", "given", "problem", "sizes", "state", "torch"}
        self.weights = weights_that_matter(run)
        self.names = {("input", name): self.new(name) for name in run.inputs}
        self.scalars = {name: value for name, value in run.given.items() if type(value) is float}
        self.names.update({("number", name): self.new(name) for name in self.scalars})
        self.names.update({("weight", name): self.new(name) for name in self.weights})
        one_only = len(run.outputs) == 1
        self.names.update({("output", place): self.new("y" if one_only else f"y{place}") for place in run.outputs})
        self.tensors = {self.names[key]: one for key, one in run.tensors().items() if key in self.names}
        self.axes = {axis.name: {"type": "var"} for axis in explored.axes}

    def new(self, wish):
        """An identifier that is not taken."""
        name = re.sub(r"\W|^(?=\d)", "_", wish, flags=re.ASCII)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def described(self, role):
        return {name: self.describe(role, own, name) for (its, own), name in self.names.items() if its == role}

    def describe(self, role, own, name):
        if role == "number":
            return {"shape": None, "dtype": "float32"}
        one = self.tensors[name]
        shape = [self.extent(self.expressions[role, own, place], f"{name}_{place}") for place in range(one.dim())]
        return {"shape": shape, "dtype": dtype_of(one)}

    def extent(self, text, wish):
        if text.isdigit():
            return int(text)
        known = [axis for axis, one in self.axes.items() if text in (axis, one.get("expression"))]
        if not known:
            known = [self.new(wish)]
            self.axes[known[0]] = {"type": "expr", "expression": text}
        return known[0]

    def value_of(self, axis):
        """From the shape of a tensor."""
        for role, own, place in axis.alone(self.explored.axes, ("input", "weight")):
            if (role, own) in self.names:
                return f"{self.names[role, own]}.shape[{place}]"
        raise Mistake(f"the size '{axis.name}' is no extent of an input, or of a weight that the result depends on")

    def argument(self, name, value):
        if isinstance(value, torch.Tensor):
            return self.names["input", name]
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.names["input", one] for one in tensors_of(name, value)) + "]"
        if type(value) is int:
            return re.sub(r"[A-Za-z_]\w*", r"sizes['\g<0>']", self.expressions["number", name, 0])
        return self.names.get(("number", name), repr(value))

    def drawn(self):
        """{tensor: where draw() finds it}"""
        found = {}
        for place, (name, value) in enumerate(self.run.given.items()):
            for part, one in enumerate(tensors_of(name, value)):
                within = "" if isinstance(value, torch.Tensor) else f"[{part}]"
                found[self.names["input", one]] = f"given[{place}]{within}"
        return {**found, **{self.names["weight", name]: f"state[{name!r}]" for name in self.weights}}

    def reference(self, tree, training):
        floats = [name for name in self.drawn() if self.tensors[name].is_floating_point()]
        if not floats:
            raise Mistake("neither an input nor a weight is of floating point")
        return "import torch\n" + ast.unparse(tree) + REFERENCE.format(
            parameters=", ".join(self.described_inputs()),
            sizes=", ".join(f"{axis.name!r}: {self.value_of(axis)}" for axis in self.explored.axes),
            first=floats[0],
            training=training,
            state=", ".join(f"{name!r}: {self.names['weight', name]!r}" for name in self.weights),
            weights=", ".join(f"{self.names['weight', name]!r}: {self.names['weight', name]}" for name in self.weights),
            arguments=", ".join(self.argument(*each) for each in self.run.given.items()),
            axes=[axis.name for axis in self.explored.axes],
            drawn=", ".join(f"{name!r}: {text}" for name, text in self.drawn().items()),
        )  # fmt: skip

    def described_inputs(self):
        return {**self.described("input"), **self.described("number"), **self.described("weight")}

    def draws(self, problem):
        run = self.run
        drawn = {self.names["input", name]: draw_of_input(run, name, self.expressions) for name in run.inputs}
        states = initialised(problem, self.own) if self.weights else []
        for name in self.weights:
            draws = [state[name] for state in states]
            drawn[self.names["weight", name]] = draw_of_weight(draws, name in run.parameters)
        return drawn

    def workloads(self, draws):
        inputs = {name: {"type": "custom", "draw": how} for name, how in draws.items()}
        for name, value in self.scalars.items():
            inputs[self.names["number", name]] = {"type": "scalar", "value": value}
        lines = {}
        for name, sizes in (("file", self.own), ("small", self.explored.base), ("ragged", self.explored.ragged)):
            axes = {axis.name: sizes[axis.name] for axis in self.explored.axes}
            lines.setdefault(str(axes), json.dumps({"uuid": name, "axes": axes, "inputs": inputs}) + "\n")
        return "".join(lines.values())


# ---------------------------------------------------------------- the file


def import_kernelbench(request):
    path = request["file"]
    tree, own = parametrised(read(path), path)
    try:
        hold_files(sys.argv[1])
        hold_calls()
    except Fault as fault:
        raise Mistake(str(fault)) from fault
    taken = int(read("/proc/self/statm").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_MEMORY, taken + MOST_MEMORY))
    try:
        with silence():
            return converted(path, tree, own, request["name"])
    except Mistake as mistake:
        raise Mistake(f"{'' if str(mistake).startswith(path) else path + ': '}{mistake}", mistake.hint) from mistake


def explored_by(trials, own):
    """The sizes, and a run at small ones."""
    explored = explore(own, trials.attempt, trials.shapes(own)[0])
    if explored is None:
        raise Mistake(trials.failure or "it takes no sizes")
    try:
        run, other = trials.run(explored.base), trials.run(explored.base, seed=2)
    except Exception as error:  # at shapes that were too large to be computed before
        raise Mistake(failure_of(trials.path, error), "it takes no smaller sizes") from error
    if other.facts() != run.facts():
        raise Mistake("shapes depend on the values of the inputs", "a family's shapes follow from its axes")
    return explored, run


def is_random(run):
    return not same(run.outputs_with(run.weights), run.outputs_with(run.weights, seed=2))


def converted(path, tree, own, name):
    module = {"__name__": "definition", "__file__": path}
    try:
        exec(compile(tree, path, "exec"), module)
    except BaseException as error:
        raise Mistake(failure_of(path, error), f"it has to run with {sys.executable}") from error
    trials, remarks = Trials(module["problem"], path), []
    explored, run = explored_by(trials, own)
    if is_random(run):
        trials.training, trials.known = False, {}
        remarks.append("forward() is random in training mode: the reference is the module in eval()")
        explored, run = explored_by(trials, own)
        if is_random(run):
            hint = "random outputs can't be imported, and no values that __init__ draws but keeps as no parameter"
            raise Mistake("forward() gives other results on the same inputs and weights", hint)
    weights = sum(math.prod(eval(explored.expressions["weight", one, place], {}, own) for place in range(tensor.dim()))
                  for one, tensor in run.weights.items())  # fmt: skip
    if weights > MOST_OF_WEIGHTS:
        hint = f"at most {MOST_OF_WEIGHTS} are imported: make the sizes smaller"
        raise Mistake(f"its weights have {weights} elements", hint)
    definition = Definition(run, explored, own)
    draws = definition.draws(trials.problem)
    kept = ", ".join(f"{size}={value}" for size, value in own.items() if size not in definition.axes)
    with_kept, in_mode = f" with {kept}" if kept else "", "" if trials.training else ", in eval()"
    family = re.sub(r"\W", "_", name or Path(path).stem, flags=re.ASCII)
    document = {
        "name": f"kb_{family}" if family[:1].isdigit() else family,
        "description": f"Model of {Path(path).name}{with_kept}{in_mode}.",
        "inputs": definition.described_inputs(),
        "outputs": definition.described("output"),
        "axes": definition.axes,
        "constraints": constraints(explored.axes),
        "reference": definition.reference(tree, trials.training),
        "custom_inputs_entrypoint": "draw",
    }
    remarks += [f"{one} is drawn by the file, alike in every regime" for one, how in draws.items() if how == "fill"]
    files = {"definition.json": json.dumps(document, indent=2), "workload.jsonl": definition.workloads(draws)}
    return files, {"remarks": remarks}


if __name__ == "__main__":
    main(import_kernelbench)

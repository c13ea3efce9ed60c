"""kernelbench_run.py - runs a KernelBench file at given sizes: its tensors, how its inputs were drawn, what it returns."""
import contextlib
import inspect
import os
import sys
import traceback

from conversion import DTYPES, Mistake


@contextlib.contextmanager
def silence():
    sys.stdout.flush()
    kept, nowhere = [os.dup(stream) for stream in (1, 2)], os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, old in zip((1, 2), kept):
            os.dup2(old, stream)


try:
    with silence():
        import numpy  # noqa: F401: the reference needs it
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.overrides import TorchFunctionMode
except ImportError as missing:
    sys.exit(f"{missing}: install NumPy and PyTorch (1.13 or newer) for {sys.executable}\n"
             "'apt-get install python3-torch' or 'pip install torch numpy'; --python PROGRAM names another Python")  # fmt: skip

MOST_COMPUTED = 1 << 22  # elements of all tensors; a trial of more looks at shapes alone
KNOWN = [torch_name for own, torch_name, _ in DTYPES if own != "u8"]


def dtype_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


DRAWS = {"rand", "randn", "normal", "randint", "uniform_", "normal_"}
KEEPS_VALUES = {"to", "float", "half", "double", "bfloat16", "long", "int", "contiguous", "clone", "detach", "reshape",
                "view", "unsqueeze", "squeeze", "transpose", "permute", "requires_grad_"}  # fmt: skip
CHANGES_EACH = {"mul", "add", "sub", "div", "rsub", "neg", "gt", "lt", "ge", "le"}


class Draws(TorchFunctionMode):
    """Notes which tensors have independent elements of one distribution, and of integers the range of randint()."""

    def __init__(self):
        super().__init__()
        self.known = {}  # id: the tensor, so that no other gets its id, and its range or ()

    def __torch_function__(self, function, types, arguments=(), named=None):
        result = function(*arguments, **(named or {}))
        name = getattr(function, "__name__", "")
        tensors = [one for one in [*arguments, *(named or {}).values()] if isinstance(one, torch.Tensor)]
        drawn = self.known.get(id(tensors[0])) if len(tensors) == 1 else None
        if name in DRAWS and len(tensors) == name.endswith("_"):
            self.known[id(result)] = result, self.range_of(arguments, named or {}) if name == "randint" else ()
        elif drawn and (name in KEEPS_VALUES or name in CHANGES_EACH and not drawn[1]):
            self.known[id(result)] = result, drawn[1]
        elif drawn and name == "bool" and drawn[1] == (0, 2):
            self.known[id(result)] = result, ()
        return result

    @staticmethod
    def range_of(arguments, named):
        """randint(high, size) and randint(low, high, size)"""
        numbers = [one for one in arguments if isinstance(one, int)]
        low = named.get("low", numbers[0] if len(numbers) > 1 else 0)
        return low, named["high"] if "high" in named else numbers[-1]


def cloned(value):
    if isinstance(value, (list, tuple)):
        return [cloned(one) for one in value]
    return value.clone() if isinstance(value, torch.Tensor) else value


def tensors_of(name, value):
    """The tensors in one argument of forward(), by name: one, or a list."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, torch.Tensor) for one in value):
        return {f"{name}_{place}": one for place, one in enumerate(value)}
    if isinstance(value, (int, float, str, type(None))):
        return {}
    what = f"get_inputs() gives '{name}' of type {type(value).__name__}"
    raise Mistake(what, "tensors, lists of tensors and numbers are inputs")


def outputs_of(result):
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    for one in results:
        if not isinstance(one, torch.Tensor):
            raise Mistake(f"forward() returns a {type(one).__name__}", "outputs are a tensor, or a tuple of tensors")
    return results


class Run:
    """The model at some sizes, what it is given, and what it returns."""

    def __init__(self, problem, sizes, training, seed=1):
        torch.manual_seed(seed)
        Model, get_inputs, get_init_inputs = problem(**sizes)
        self.initialise = lambda: Model(*get_init_inputs()).train(training)
        self.get_inputs, self.draws = get_inputs, Draws()
        model = self.initialise()
        with self.draws:
            given = get_inputs()
        parameters = inspect.signature(model.forward).parameters.values()
        names = [one.name for one in parameters if one.kind <= one.POSITIONAL_OR_KEYWORD]
        names += [f"x{place}" for place in range(len(names), len(given))]
        self.given = dict(zip(names, given))
        self.inputs = {name: one for each in self.given.items() for name, one in tensors_of(*each).items()}
        self.parameters = dict(model.named_parameters())
        self.weights = {name: one.clone() for name, one in model.state_dict().items() if one.is_floating_point()}
        with torch.no_grad():
            self.outputs = {str(place): one for place, one in enumerate(outputs_of(model(*cloned(given))))}

    def tensors(self):
        """By role and name."""
        roles = {"input": self.inputs, "weight": self.weights, "output": self.outputs}
        return {(role, name): one for role, tensors in roles.items() for name, one in tensors.items()}

    def facts(self):
        facts = {}
        for (role, name), one in self.tensors().items():
            if dtype_of(one) not in KNOWN:
                raise Mistake(f"the {role} {name} is {dtype_of(one)}", "known: " + " ".join(KNOWN))
            facts.update({(role, name, place): extent for place, extent in enumerate(one.shape)})
        for name, one in self.inputs.items():
            ends = self.draws.known.get(id(one), (one, ()))[1]
            facts.update({("range", name, place): end for place, end in enumerate(ends)})
        facts.update({("number", name, 0): value for name, value in self.given.items() if type(value) in (int, float)})
        return facts

    def outputs_with(self, weights, seed=1):
        """Of a module that is initialised anew, on the same inputs and these weights."""
        torch.manual_seed(seed)
        model = self.initialise()
        model.load_state_dict(weights, strict=False)
        with torch.no_grad():
            return outputs_of(model(*cloned([*self.given.values()])))


def same(results, others):
    return all(torch.equal(torch.nan_to_num(one), torch.nan_to_num(other)) for one, other in zip(results, others))


class Trials:
    """Runs the file at given sizes."""

    def __init__(self, problem, path):
        self.problem, self.path, self.training = problem, path, True
        self.known, self.failure = {}, ""

    def run(self, sizes, seed=1):
        return Run(self.problem, sizes, self.training, seed)

    def shapes(self, sizes):
        """The facts without computing, and the elements of all tensors; None where this mode can't run the file."""
        try:
            with FakeTensorMode():
                run = self.run(sizes)
                return run.facts(), sum(one.numel() for one in run.tensors().values())
        except Mistake:
            raise
        except BaseException:
            return None, 0

    def attempt(self, sizes):
        key = tuple(sizes.values())
        if key not in self.known:
            facts, elements = self.shapes(sizes)
            self.known[key] = self.computed(sizes) if elements <= MOST_COMPUTED else facts
        return self.known[key]

    def computed(self, sizes):
        try:
            return self.run(sizes).facts()
        except Mistake:
            raise
        except BaseException as error:  # also sys.exit()
            self.failure = failure_of(self.path, error)
            return None


def failure_of(path, error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    what = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"{path}:{lines[-1] if lines else 1}: {what} (PyTorch {torch.__version__})"

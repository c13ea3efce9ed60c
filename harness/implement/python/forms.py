"""forms.py - which function of a Python file is called, and what its parameters get. The file is read, not run.

A family is what `request["family"]` holds: {"name", "inputs", "outputs", "scalars", "axes", "tunables"}, of which inputs
and outputs are lists of {"name", "text"} and those behind them lists of names. A tensor that a call updates is among
the inputs and the outputs.
"""
import ast
import re

ORDER = ("ModelNew", "custom_kernel", "run")  # KernelBench; kernelbot; FlashInfer-Trace and SOL-ExecBench
UPSTREAM = "Model"  # of a KernelBench problem


class Fault(Exception):
    """Why there is no recording: a word of Outcome (harness/core/records/outcome.h), and one sentence."""

    def __init__(self, outcome, what):
        super().__init__(what)
        self.outcome = outcome


class Parameter:
    def __init__(self, name, is_needed=True, by_name_only=False, annotation=None):
        self.name, self.is_needed, self.by_name_only = name, is_needed, by_name_only
        self.is_number = isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool")


class Form:
    """`name` of the file is called: a function, or a class of which an object is. `parameters` is None where the text
    does not tell them; with `takes_more` any number may follow. `parts`: how many values the one parameter of kernelbot
    is taken apart into, 0 where it is not."""

    def __init__(self, name, is_class, parameters, takes_more=False, parts=0):
        self.name, self.is_class, self.parameters = name, is_class, parameters
        self.takes_more, self.parts = takes_more, parts

    @property
    def is_bundle(self):
        return self.name == "custom_kernel" and self.parameters is not None and len(self.parameters) == 1


def defined(body):
    """{name: statement} of the module, also within `if` and `try`; the last one counts."""
    found = {}
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            found[statement.name] = statement
        elif (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            found[statement.targets[0].id] = statement
        elif isinstance(statement, ast.ImportFrom):
            found.update({one.asname or one.name: statement for one in statement.names})
        elif isinstance(statement, (ast.If, ast.Try)) and "__name__" not in ast.unparse(statement).split("\n")[0]:
            found.update(defined([*statement.body, *statement.orelse]))
    return found


def is_kernel(statement):
    """A Triton kernel is launched by a grid, and not called."""
    decorators = [ast.unparse(one) for one in getattr(statement, "decorator_list", [])]
    return isinstance(statement, ast.FunctionDef) and any(re.search(r"\bjit\b", one) for one in decorators)


def origin(statement, known):
    """What an assignment names: `f` of `run = f` and of `run = torch.compile(f)`."""
    seen = set()
    while isinstance(statement, ast.Assign):
        value = statement.value
        while isinstance(value, ast.Call):
            value = value.args[0] if value.args else ast.Constant(None)
        name = value.id if isinstance(value, ast.Name) else ""
        if name in seen or name not in known:
            return None
        seen.add(name)
        statement = known[name]
    return statement


def parameters_of(function, skips_self):
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = len(positional) - len(arguments.defaults)
    parameters = [
        Parameter(one.arg, place < needed, annotation=one.annotation) for place, one in enumerate(positional)
    ][1 if skips_self else 0 :]
    only = zip(arguments.kwonlyargs, arguments.kw_defaults)
    parameters += [Parameter(one.arg, default is None, by_name_only=True) for one, default in only]
    return parameters, arguments.vararg is not None


def forward_of(statement, known):
    """The method that a class, or a base of it in the file, defines."""
    while isinstance(statement, ast.ClassDef):
        methods = [one for one in statement.body if isinstance(one, ast.FunctionDef)]
        for name in ("forward", "__call__"):
            if own := [one for one in methods if one.name == name]:
                return own[-1]
        bases = [one.id for one in statement.bases if isinstance(one, ast.Name)]
        statement = origin(known.get(bases[0]), known) if bases and known.get(bases[0]) is not statement else None
    return None


def parts_of(function):
    """`a, b, out = data`, or data[0] and data[2]."""
    if not function.args.args:
        return 0
    name, most = function.args.args[0].arg, 0
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            sizes = [len(target.elts) for target in node.targets if isinstance(target, (ast.Tuple, ast.List))]
            most = max([most, *sizes])
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == name:
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            most = max(most, place + 1) if isinstance(place, int) and place >= 0 else most
    return most


def form_of(name, known):
    statement = origin(known[name], known)
    is_class = isinstance(statement, ast.ClassDef)
    makes_models = name in ("ModelNew", UPSTREAM)
    if isinstance(statement, ast.FunctionDef) and not makes_models:
        parameters, takes_more = parameters_of(statement, skips_self=False)
        return Form(name, False, parameters, takes_more, parts_of(statement))
    if not is_class and makes_models:  # a function that makes one: its forward is that of Model, where there is one
        upstream = known.get(UPSTREAM)
        statement, is_class = (upstream if upstream is not known[name] else None), True
    forward = forward_of(statement, known)
    parameters, takes_more = parameters_of(forward, skips_self=True) if forward else (None, False)
    return Form(name, is_class, parameters, takes_more)


def find_form(text, path, family, variant, function=""):
    """The function that is named, else the first of the known forms, else the one that is called like the family or the
    variant, else the model of a KernelBench problem."""
    try:
        known = defined(ast.parse(text, path).body)
    except (SyntaxError, ValueError) as error:
        raise Fault(
            "build_failed", f"{path}:{getattr(error, 'lineno', None) or 1}: {getattr(error, 'msg', error)}"
        ) from error
    if function and function not in known:
        raise Fault("wrong_abi", f"the file defines no '{function}', which its apo:function line names")
    wanted = [function] if function else [*ORDER, family, variant, UPSTREAM]
    name = next((one for one in wanted if one in known and not is_kernel(known[one])), "")
    if name:
        return form_of(name, known)
    if any(is_kernel(one) for one in known.values()):
        raise Fault(
            "wrong_abi",
            (
                "the file has Triton kernels, and no function that launches them: write one of tensors, and call it "
                f"'{family}' or name it in a line '# apo:function NAME'"
            ),
        )
    raise Fault(
        "wrong_abi",
        (
            f"the file defines no class ModelNew, and no function 'custom_kernel', 'run' or '{family}': "
            "name the function with --function, or with a line '# apo:function NAME'"
        ),
    )


# ---------------------------------------------------------------- what the parameters get


def names(tensors):
    return [one["name"] for one in tensors]


def signature(family):
    tensors = ", ".join(f"{one['name']} {one['text']}" for one in family["inputs"])
    others = ", ".join([*family["scalars"], *family["axes"]])
    outputs = ", ".join(f"{one['name']} {one['text']}" for one in family["outputs"])
    return f"{family['name']}({tensors}{'; ' + others if others else ''}) -> {outputs}"


def sized(family, weights, parts):
    """The values of a bundle of so many parts: the inputs, the scalars behind them, or the outputs too."""
    inputs = [one for one in names(family["inputs"]) if one not in weights]
    outputs = [one for one in names(family["outputs"]) if one not in inputs]
    offers = (inputs, [*inputs, *family["scalars"]], [*inputs, *outputs], [*inputs, *family["scalars"], *outputs])
    return next((one for one in offers if len(one) == parts), None)


def bundle(form, family):
    """The values of custom_kernel(data). One that is not taken apart is the only input, or all of them."""
    if not form.parts:
        return [one for one in names(family["inputs"])]
    values = sized(family, (), form.parts)
    if values is None:
        raise Fault(
            "wrong_abi",
            f"custom_kernel() takes its data apart into {form.parts} values, and the family has {signature(family)}",
        )
    return values


def is_value(text):
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def match(form, family, given=None, weights=()):
    """[(parameter, value)]: a value is a name of the family, or a literal of Python's. `given` are those of the
    apo:function line, `weights` the inputs that are a model's own. By the names of the parameters; those that no name
    fits get what is left, in the order of the family."""
    inputs = [one for one in names(family["inputs"]) if one not in weights]
    outputs = [one for one in names(family["outputs"]) if one not in inputs]
    known = {*inputs, *outputs, *family["scalars"], *family["axes"], *family["tunables"]}
    if form.parameters is None:
        return [(one, one) for one in inputs]
    given, chosen = dict(given or {}), {}
    for name, value in given.items():
        if name not in [one.name for one in form.parameters] or not (value in known or is_value(value)):
            raise Fault(
                "wrong_abi",
                (
                    f"the apo:function line gives '{name}' the value '{value}': a parameter of {form.name}() gets a "
                    "tensor, a scalar or an axis of the family, a name of apo:tune, or a literal"
                ),
            )
    for one in form.parameters:
        value = given.get(one.name, one.name if one.name in known else None)
        if value is not None:
            chosen[one.name] = value
    open_ones = [one for one in form.parameters if one.name not in chosen and not one.by_name_only]
    taken = set(chosen.values())
    needed = [one for one in open_ones if one.is_needed]
    groups = [[*inputs, *family["scalars"]], outputs, family["axes"]]
    first, ends, axes = ([one for one in group if one not in taken] for group in groups)
    offers = (first, first + ends, first + axes, first + ends + axes)
    fitting = (one for one in offers if len(needed) <= len(one) <= len(open_ones))
    left = next(fitting, first if len(needed) <= len(first) else offers[-1])
    takers = open_ones if len(left) >= len(open_ones) else needed
    for one, value in zip(takers, left):
        chosen[one.name] = value
    missing = [one.name for one in form.parameters if one.is_needed and one.name not in chosen]
    tensors = {*inputs, *outputs}
    numbers = [one.name for one in form.parameters if one.is_number and chosen.get(one.name) in tensors]
    if numbers:
        number = numbers[0]
        raise Fault(
            "wrong_abi",
            f"{form.name}() takes the number '{number}', and the family has none to give: write it in a line "
            f"'# apo:function {form.name} {number}=VALUE'",
        )
    unused = [one for one in inputs if one not in chosen.values()]
    if form.takes_more and not missing:
        return [(one.name, chosen[one.name]) for one in form.parameters if one.name in chosen] + [
            (one, one) for one in unused
        ]
    if missing:
        raise Fault(
            "wrong_abi", f"{form.name}() takes '{missing[0]}', and the family has no more to give: {signature(family)}"
        )
    if unused and not form.is_class:
        raise Fault("wrong_abi", f"{form.name}() takes no '{unused[0]}': the family has {signature(family)}")
    return [(one.name, chosen[one.name]) for one in form.parameters if one.name in chosen]


def shown(form, family, given=None):
    """ "run(x, eps=epsilon)": each parameter, and what it gets where that is called otherwise."""
    if form.is_bundle:
        values = bundle(form, family)
        return f"{form.name}(({', '.join(values)}{',' if len(values) == 1 and form.parts else ''}))"
    pairs = match(form, family, given)
    return f"{form.name}({', '.join(one if one == value else f'{one}={value}' for one, value in pairs)})"

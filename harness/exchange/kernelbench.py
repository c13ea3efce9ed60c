"""kernelbench.py - the sizes of a KernelBench file: its integer constants become parameters, and trials with other
values tell which of them are axes, what values these may have, and how the extents of all tensors follow from them.

Nothing here needs PyTorch: `attempt(sizes)` of the functions runs the file, and returns {key: integer} of what follows
from the sizes, or None where the file does not take them. A key is (role, tensor, place), with the roles "input",
"weight" and "output" for extents.
"""
import ast
import itertools
import math
import random

from conversion import Mistake

SMALL = 16  # sizes are scaled down to this where the file takes it; literals of no more stay as they are
SCALED = (SMALL, 32, 64, 128, 256)
LONGEST_STRIDE = 64  # of an extent that is (axis + r) // stride + c


# ---------------------------------------------------------------- the file as a function of its sizes


def integer(node):
    """Of an expression of literals, as 2 * 1024; None for any other."""
    if any(isinstance(part, (ast.Name, ast.Call, ast.Attribute)) for part in ast.walk(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    except Exception:
        return None
    return value if type(value) is int else None


def separated(statement):
    """M, N = 8, 16 and M = N = 16 as two statements."""
    if not isinstance(statement, ast.Assign):
        return [statement]
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if len(statement.targets) > 1:
        pairs = [(one, value) for one in statement.targets] if integer(value) is not None else []
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts)
    return [ast.copy_location(ast.Assign([one], part), statement) for one, part in pairs] or [statement]


class Literals(ast.NodeTransformer):
    def __init__(self, sizes):
        self.sizes = sizes

    def visit_Constant(self, node):
        if type(node.value) is not int or node.value <= SMALL:
            return node
        self.sizes[f"size_{node.value}"] = node.value
        return ast.copy_location(ast.Name(f"size_{node.value}", ast.Load()), node)


def names_of(statement):
    """That a statement of the module defines."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [one.asname or one.name for one in statement.names]
    return [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def is_main(statement):
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def parametrised(text, path):
    """The file as a tree that defines problem(SIZE=VALUE...), which returns Model, get_inputs and get_init_inputs, and
    the sizes: constants of the module, and literals of more than 16 outside of the model."""
    try:
        body = [one for statement in ast.parse(text, path).body for one in separated(statement) if not is_main(one)]
    except (SyntaxError, ValueError) as error:
        raise Mistake(f"{path}:{getattr(error, 'lineno', None) or 1}: {getattr(error, 'msg', error)}") from error
    defined = [name for statement in body for name in names_of(statement)]
    for needed in ("Model", "get_inputs"):
        if needed not in defined:
            hint = "a KernelBench file has class Model, get_inputs() and get_init_inputs()"
            raise Mistake(f"{path} defines no '{needed}'", hint)
    imports = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
    sizes, inner = {}, []
    for statement in body:
        name = getattr(statement.targets[0], "id", "") if isinstance(statement, ast.Assign) else ""
        value = integer(statement.value) if defined.count(name) == 1 else None
        if value is not None and value > 1:
            sizes[name] = value
        elif statement not in imports:
            has_name = isinstance(statement, (ast.ClassDef, ast.FunctionDef))
            is_model = has_name and statement.name not in ("get_inputs", "get_init_inputs")
            inner.append(statement if is_model else Literals(sizes).visit(statement))
    if "get_init_inputs" not in defined:
        inner += ast.parse("def get_init_inputs():\n    return []").body
    parameters = ", ".join(f"{name}={value}" for name, value in sizes.items())
    function = ast.parse(f"def problem({parameters}):\n    return Model, get_inputs, get_init_inputs").body[0]
    function.body = [*inner, *function.body]
    return ast.fix_missing_locations(ast.Module([*imports, function], [])), sizes


# ---------------------------------------------------------------- trials


def scaled(value, limit):
    while value > limit:
        value = (value + 1) // 2
    return value


def working_point(own, free, attempt):
    """Small sizes that the file takes: all scaled alike, else each as far as it goes alone."""
    for limit in SCALED:
        point = {name: scaled(value, limit) if name in free else value for name, value in own.items()}
        if attempt(point) is not None:
            return point
    point = dict(own)
    for name in sorted(free, key=own.get, reverse=True):
        tries = ({**point, name: scaled(own[name], limit)} for limit in SCALED)
        point = next((one for one in tries if attempt(one) is not None), point)
    return point


class Axis:
    """A size, tried with the others as in `base`: `working` is {value: what follows}."""

    def __init__(self, name, own, base, attempt):
        self.name, self.own, self.base = name, own[name], base[name]
        facts = attempt(base)
        tried = {*range(1, 9), *(max(1, self.base + step) for step in (-1, 0, 1, 2, 3)), 2 * self.base, 3 * self.base}
        answers = {value: attempt({**base, name: value}) for value in sorted(tried)}
        self.working = {value: one for value, one in answers.items() if one is not None and one.keys() == facts.keys()}
        self.step, self.least = math.gcd(*self.working), min(self.working)
        allowed = {value for value in tried if value % self.step == 0 and value >= self.least}
        self.is_explained = allowed == self.working.keys() and self.own % self.step == 0 and self.own >= self.least
        self.changes = {key for key in facts if any(one[key] != facts[key] for one in self.working.values())}

    def odd(self):
        """A value near that of the base for a ragged shape."""
        values = [value for value in self.working if self.least <= value <= min(self.own, self.base + 3)]
        return max(values, key=lambda value: (value % 2, value))

    def alone(self, others, roles):
        """The keys of extents that are this size, whatever the others are."""
        kept = self.changes.difference(*(other.changes for other in others if other is not self))
        sized = (key for key in kept if all(one[key] == value for value, one in self.working.items()))
        return sorted(key for key in sized if key[0] in roles)


def is_axis(axis, axes):
    """It is an extent of an input or a weight, from which a call can tell it; where of a weight alone, as the size of a
    filter is, a large one."""
    if axis.own <= SMALL and not axis.alone(axes, ("input", "output")):
        return False
    return bool(axis.alone(axes, ("input", "weight")))


def least_fit(axes, all_axes):
    """Which of some axes is kept as the file has it: one that is of no input, else the smallest."""
    return min(axes, key=lambda axis: (bool(axis.alone(all_axes, ("input",))), axis.own))


def raise_minima(axes, base, attempt):
    """Until all axes, and any two, may be at their minimum. Returns the axes of a point that fails all the same."""
    groups = [*itertools.combinations(axes, 2), axes]
    while True:
        points = ((group, {**base, **{axis.name: axis.least for axis in group}}) for group in groups)
        failing = next((group for group, point in points if attempt(point) is None), ())
        if not failing:
            return []
        larger = [axis for axis in failing if any(axis.least < value <= axis.base for value in axis.working)]
        if not larger:
            return failing
        axis = max(larger, key=lambda one: one.own)
        axis.least = min(value for value in axis.working if value > axis.least)


class Explored:
    """`axes`, small sizes that the file takes (`base`), odd ones (`ragged`), and `expressions` in Python over the axes for
    each key of what attempt() returns."""

    def __init__(self, axes, base, ragged, expressions):
        self.axes, self.base, self.ragged, self.expressions = axes, base, ragged, expressions


def explore(own, attempt, at_own=None):
    """`at_own`: what follows from the file's own sizes, where that is known. Returns None where it takes no sizes."""
    free = set(own)
    while True:
        base = working_point(own, free, attempt)
        if attempt(base) is None:
            return None
        axes = [Axis(name, own, base, attempt) for name in own if name in free]
        unfit = [axis for axis in axes if not is_axis(axis, axes)]
        if not unfit:
            failing = raise_minima(axes, base, attempt)
            if not all(axis.is_explained for axis in axes):  # it, or what bounds it: that may not be smaller than now
                failing = [axis for axis in axes if not axis.is_explained or axis.least == axis.base]
            unfit = [least_fit(failing, axes)] if failing else []
        if not unfit:
            points, unfit = joint_points(axes, base, attempt)
            points += [(own, at_own)] if at_own is not None else []
        if not unfit:
            expressions, unfit = fit(axes, base, points)
        if not unfit:
            return Explored(axes, base, {**base, **{axis.name: axis.odd() for axis in axes}}, expressions)
        free -= {axis.name for axis in unfit}


def joint_points(axes, base, attempt):
    """Trials of all axes at once, which no expression was made from; or the axis to keep where one fails."""
    draw = random.Random(1)
    points = [{**base, axis.name: value} for axis in axes for value in axis.working]
    allowed = {axis.name: [value for value in axis.working if value >= axis.least] for axis in axes}
    points += [{**base, **{name: draw.choice(values) for name, values in allowed.items()}} for _ in range(12)]
    points += [base, {**base, **{axis.name: axis.odd() for axis in axes}}]
    tried = [(point, attempt(point)) for point in points]
    keys = attempt(base).keys()
    fails = any(facts is None or facts.keys() != keys for _, facts in tried)
    return tried, [least_fit(axes, axes)] if fails else []


# ---------------------------------------------------------------- how extents follow from axes


def term(factor, name):
    return name if factor == 1 else f"{factor} * {name}"


def plus(text, constant):
    return text if constant == 0 else f"{text} {'-' if constant < 0 else '+'} {abs(constant)}"


def slope(axis, key):
    first, last = min(axis.working), max(axis.working)
    rise = axis.working[last][key] - axis.working[first][key]
    return rise // (last - first) if rise % (last - first) == 0 else None


def candidates(key, axes, value):
    """Expressions that give the value at the base, the simplest first."""
    slopes = [slope(axis, key) for axis in axes]
    if None not in slopes:
        rest = value - sum(rise * axis.base for rise, axis in zip(slopes, axes))
        text = " + ".join(term(rise, axis.name) for rise, axis in zip(slopes, axes))
        yield plus(text, rest) if text else str(value)
    product = math.prod(axis.base for axis in axes)
    if len(axes) > 1 and value % product == 0:
        yield term(value // product, " * ".join(axis.name for axis in axes))
    if len(axes) == 1:
        for stride, shift in ((stride, shift) for stride in range(2, LONGEST_STRIDE + 1) for shift in range(stride)):
            whole = f"({plus(axes[0].name, shift)}) // {stride}" if shift else f"{axes[0].name} // {stride}"
            yield plus(whole, value - (axes[0].base + shift) // stride)


def fit(axes, base, points):
    """Expressions that hold at all points; or the axis to keep, where an extent follows in no such way."""
    expressions = {}
    at_base = next(facts for point, facts in points if point == base)
    for key, value in at_base.items():
        own = [axis for axis in axes if key in axis.changes]
        texts = candidates(key, own, value)
        holding = (text for text in texts if all(eval(text, {}, point) == facts[key] for point, facts in points))
        expressions[key] = next(holding, None)
        if expressions[key] is None:
            return {}, [least_fit(own or axes, axes)]
    return expressions, []


def constraints(axes):
    least = [f"{axis.name} >= {axis.least}" for axis in axes if axis.least > 1]
    return least + [f"{axis.name} % {axis.step} == 0" for axis in axes if axis.step > 1]


# ---------------------------------------------------------------- how values are drawn


def short(value):
    """To three digits."""
    return repr(float(f"{value:.3g}")).removesuffix(".0")


def distribution(count, low, high, mean, deviation, kurtosis):
    """Of independent values: uniform or normal, whichever their kurtosis (1.8 and 3) is nearer to; "" where they are
    neither, and for one value."""
    if deviation == 0 or kurtosis > 3.5:
        return ""
    if kurtosis < 2.3:
        if abs(high - low - math.sqrt(12) * deviation) > 0.1 * (high - low):
            return ""
        wider = (high - low) / count  # what the bounds are wider than what was drawn
        low, high = low - wider, high + wider
        if abs(low + high) < (0.02 + 6 / count) * (high - low):
            low, high = -max(-low, high), max(-low, high)
        return f"uniform({bound(low, high)},{bound(high, low)})"
    mean = 0 if abs(mean) < 5 * deviation / math.sqrt(count) else mean
    deviation = 1 if abs(deviation - 1) < 3 / math.sqrt(count) else deviation
    return "normal" if (mean, deviation) == (0, 1) else f"normal({short(mean)},{short(deviation)})"


def bound(value, other):
    """A bound that is 0 was drawn as 1e-5."""
    return "0" if abs(value) < 0.002 * abs(value - other) else short(value)

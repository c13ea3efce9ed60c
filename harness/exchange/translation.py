"""translation.py - Python over the axes of a definition as an expression of a metadata block."""
import ast

MOST_POWER = 8


class NotUnderstood(Exception):
    pass


BINARY = {ast.Add: ("+", 4), ast.Sub: ("-", 4), ast.Mult: ("*", 5), ast.Div: ("/", 5), ast.FloorDiv: ("/", 5), ast.Mod: ("%", 5)}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Translation:
    """Python over the axes as an expression of a block. `conditions` are those under which / and // are the same."""

    def __init__(self, axes):
        self.axes, self.conditions, self.open = axes, [], []

    def translate(self, python):
        try:
            return self.text(ast.parse(python.strip(), mode="eval").body)[0]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NotUnderstood(f"'{python[:200]}' is not understood") from error

    def axis(self, name):
        if name not in self.axes:
            raise NotUnderstood(f"'{name}' is no axis")
        if self.axes[name]["type"] != "expr":
            return name
        if name in self.open:
            raise NotUnderstood(f"the axis '{name}' depends on itself")
        self.open.append(name)
        text = f"({self.translate(self.axes[name]['expression'])})"
        self.open.remove(name)
        return text

    def within(self, node, level):
        """In parentheses where it binds less than the operator round it."""
        text, own = self.text(node)
        return text if own >= level else f"({text})"

    def text(self, node):
        """And how tightly it binds."""
        kind = type(node)
        if kind is ast.Name:
            return self.axis(node.id), 9
        if kind is ast.Constant and type(node.value) is int:
            return str(node.value), 9
        if kind is ast.BoolOp:
            word, level = (" || ", 1) if type(node.op) is ast.Or else (" && ", 2)
            return word.join(self.within(value, level + 1) for value in node.values), level
        if kind is ast.Compare and type(node.ops[0]) in COMPARISONS:
            if len(node.ops) > 1:
                raise NotUnderstood("a chain of comparisons is not understood")
            return f"{self.within(node.left, 4)} {COMPARISONS[type(node.ops[0])]} {self.within(node.comparators[0], 4)}", 3
        if kind is ast.BinOp and type(node.op) in BINARY:
            word, level = BINARY[type(node.op)]
            left, right = self.within(node.left, level), self.within(node.right, level + 1)
            if type(node.op) is ast.Div:
                self.conditions.append(f"{left}%{right} == 0")
            return left + word + right, level
        if kind is ast.BinOp and type(node.op) is ast.Pow:
            exponent = getattr(node.right, "value", None)
            if type(exponent) is not int or not 1 <= exponent <= MOST_POWER:
                raise NotUnderstood(f"'**' is understood with a literal of 1 to {MOST_POWER}")
            return "(" + "*".join([self.within(node.left, 9)] * exponent) + ")", 9
        if kind is ast.UnaryOp and type(node.op) is ast.Not:
            return f"!({self.text(node.operand)[0]})", 9
        if kind is ast.UnaryOp and type(node.op) is ast.USub:
            return "-" + self.within(node.operand, 6), 6
        if kind is ast.UnaryOp and type(node.op) is ast.UAdd:
            return self.text(node.operand)
        raise NotUnderstood(f"'{ast.unparse(node)}' is not understood")

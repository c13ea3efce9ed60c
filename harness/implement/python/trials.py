"""trials.py - the statements at the top of a file that test, time or print what it defines, as those of a tutorial do.
What is called does not need them, and they would run for each size. The file is read, not run.
"""
import ast
import symtable

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def scopes(table):
    yield table
    for child in table.get_children():
        yield from scopes(child)


class Statement:
    """One of the module: the names of the module that it reads, those of them that it reads when it runs, those that it
    gives values to, and those that a call of it would."""

    def __init__(self, node):
        self.node, self.is_definition = node, isinstance(node, DEFINITIONS)
        top = symtable.symtable(ast.unparse(node), "file", "exec")
        self.reads, self.reads_at_once, self.sets, self.sets_when_called = set(), set(), set(), set()
        for scope in scopes(top):
            for one in scope.get_symbols():
                is_of_module = scope is top or one.is_global()
                if is_of_module and one.is_referenced():
                    self.reads.add(one.get_name())
                    if scope is top or scope.get_type() == "class":
                        self.reads_at_once.add(one.get_name())
                if is_of_module and (one.is_assigned() or one.is_imported()):
                    (self.sets if scope is top else self.sets_when_called).add(one.get_name())
        if not self.is_definition:
            self.sets |= {changed for one in ast.walk(node) for changed in changed_by(one)}


def changed_by(node):
    """`x` of x.y = 1, x[0] = 1 and the statement x.append(1)"""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node = node.value.func
    elif not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name):
            yield node.id


def trials(body, wanted):
    """Of the module's statements those that use a function or a class of the file, or what came of it, and change
    nothing that the names `wanted` need. Definitions and imports are never among them."""
    statements = [Statement(one) for one in body if not isinstance(one, (ast.Import, ast.ImportFrom))]
    definitions = {one.node.name: one for one in statements if one.is_definition}
    for one in statements:
        if not one.is_definition:
            one.sets |= set().union(*(definitions[name].sets_when_called for name in one.reads & definitions.keys()))
    needed = set(wanted).union(*(one.reads_at_once for one in definitions.values()))  # all of them run
    before = None
    while needed != before:
        before = set(needed)
        needed.update(*(one.reads for one in statements if one.sets & needed))
    found, came_of_it = [], set(definitions)
    for one in statements:
        if not one.is_definition and one.reads & came_of_it and not one.sets & needed:
            found.append(one.node)
            came_of_it |= one.sets
    return found

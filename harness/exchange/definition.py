"""definition.py - reads a problem of FlashInfer-Trace and SOL-ExecBench; what is wrong with it is named by its place.

The result is the documents themselves: definition.json, and of workload.jsonl a list of dictionaries.
"""
import difflib
import json
import math

from conversion import DTYPES, Mistake, is_identifier, read

FORMAT = "docs/definitions.md describes the format"
TOLERANCE = 1e-2  # of the two projects, where a workload says nothing


def did_you_mean(word, known):
    near = difflib.get_close_matches(word, known, 1)
    return f"did you mean '{near[0]}'?  " if near else ""


class Field:
    """A value of a document, and the way to it: "definition.json: inputs.x"."""

    def __init__(self, way, value):
        self.way, self.value = way, value

    def fail(self, what, hint=FORMAT):
        raise Mistake(f"{self.way} {what}", hint)

    def has(self, key):
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def at(self, key):
        if not isinstance(self.value, dict) or key not in self.value:
            self.fail(f"has no '{key}'")
        return Field(self.way + (" " if self.way.endswith(":") else ".") + key, self.value[key])

    def of_type(self, types, words):
        if not isinstance(self.value, types):
            self.fail(f"is no {words}")
        return self.value

    def text(self):
        return self.of_type(str, "text")

    def integer(self):
        if isinstance(self.value, bool) or not isinstance(self.value, int) or abs(self.value) >= 2**63:
            self.fail("is no integer of 64 bits")
        return self.value

    def number(self):
        if not math.isfinite(self.of_type((int, float), "number")):
            self.fail("is no finite number")
        return float(self.value)

    def choice(self, *known):
        if self.text() not in known:
            self.fail(f"is '{self.value}'", "known: " + " ".join(known))
        return self.value

    def members(self):
        return [(key, self.at(key)) for key in self.of_type(dict, "object")]

    def elements(self):
        return [Field(f"{self.way}[{i}]", value) for i, value in enumerate(self.of_type(list, "list"))]


def parse(text, path, first_line=1):
    def unique(pairs):
        if len(dict(pairs)) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Mistake(f"{path}: an object has the key '{twice}' twice", "remove one of the two")
        return dict(pairs)

    def not_a_number(word):
        line = first_line + text[: text.find(word)].count("\n")
        raise Mistake(f"{path}:{line}: this is no JSON: {word}", "JSON has no NaN and no infinity: remove this number")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=not_a_number)
    except RecursionError as error:
        raise Mistake(f"{path}:{first_line}: this is nested too deeply") from error
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise Mistake(f"{path}:{line}: this is no JSON: {error.msg}", "mend the file at this line") from error


def check_name(name, field):
    if not is_identifier(name):
        field.fail("is no identifier")


def check_axis(name, axis):
    check_name(name, axis)
    kind = axis.at("type").choice("var", "const", "expr")
    if kind == "const" and axis.at("value").integer() < 1:
        axis.at("value").fail(f"is {axis.value['value']}: extents are at least 1")
    if kind == "expr":
        axis.at("expression").text()


def check_tensor(name, tensor, axes):
    check_name(name, tensor)
    dtype = tensor.at("dtype")
    if dtype.text().startswith("float4"):
        dtype.fail(f"is {dtype.value}: apo has no 4-bit floats", "problems with packed 4-bit tensors cannot be imported")
    known = [name for own, name, _ in DTYPES if own != "u8"]
    if dtype.value not in known:
        hint = did_you_mean(dtype.value, known) + "known: " + " ".join(known)
        dtype.fail(f"names an unknown dtype '{dtype.value}'", hint)
    for extent in [] if tensor.at("shape").value is None else tensor.at("shape").elements():
        if isinstance(extent.value, bool) or not isinstance(extent.value, int):
            if extent.text() not in axes:
                hint = did_you_mean(extent.value, list(axes)) + "the axes: " + " ".join(axes)
                extent.fail(f"is '{extent.value}', which is no axis", hint)


def read_definition(path):
    definition = parse(read(path), path)
    field = Field(f"{path}:", definition)
    field.at("name").text()
    for key in ("description", "custom_inputs_entrypoint"):
        definition[key] = field.at(key).text() if field.has(key) else ""
    for name, axis in field.at("axes").members():
        check_axis(name, axis)
        axis.value["description"] = axis.at("description").text() if axis.has("description") else ""
    definition["constraints"] = [one.text() for one in field.at("constraints").elements()] if field.has("constraints") else []
    for tensors in ("inputs", "outputs"):
        for name, tensor in field.at(tensors).members():
            check_tensor(name, tensor, definition["axes"])
    for output in definition["outputs"].values():
        output["shape"] = output["shape"] or []  # a number that run() returns is a tensor without extents
    field.at("reference").text()
    return definition


def check_input(field, tensor, definition):
    kind = field.at("type").choice("random", "scalar", "safetensors", "custom")
    if kind == "scalar":
        field.value["value"] = field.at("value").number()
    elif kind == "safetensors":
        path = field.at("path").text()
        field.at("tensor_key").text()
        if path.startswith("/") or ".." in path.split("/"):
            field.at("path").fail(f"is '{path}'", "give a path below the folder of the problem, without '..'")
    is_scalar = tensor["shape"] is None
    if is_scalar != (kind == "scalar"):
        field.fail("gives no value for a scalar" if is_scalar else "gives a value for a tensor")
    if kind == "custom" and not definition["custom_inputs_entrypoint"]:
        field.fail("is custom, and the definition has no custom_inputs_entrypoint")


def read_workload(field, definition):
    uuid = field.at("uuid").text()
    if len(uuid.split()) != 1:
        field.at("uuid").fail("is empty or has spaces")
    for name, value in field.at("axes").members():
        if name not in definition["axes"]:
            value.fail("is no axis of the definition", did_you_mean(name, list(definition["axes"])))
    variable = [name for name, axis in definition["axes"].items() if axis["type"] == "var"]
    workload = {"uuid": uuid, "axes": {name: field.at("axes").at(name).integer() for name in variable}, "inputs": {}}
    for name, tensor in definition["inputs"].items():
        check_input(field.at("inputs").at(name), tensor, definition)
        workload["inputs"][name] = field.value["inputs"][name]
    theirs = field.at("tolerance") if field.has("tolerance") else Field(field.way, {})
    for key in ("max_rtol", "max_atol"):
        workload[key] = theirs.at(key).number() if theirs.has(key) else TOLERANCE
    return workload


def read_workloads(definition, path):
    workloads = {}
    for line, text in enumerate(read(path).split("\n"), 1):
        if not text.strip():
            continue
        field = Field(f"{path}:{line}:", parse(text, path, line))
        if field.has("definition") and field.at("definition").text() != definition["name"]:
            field.at("definition").fail(f"is '{field.value['definition']}', not '{definition['name']}'")
        workload = read_workload(field.at("workload") if field.has("workload") else field, definition)
        if workload["uuid"] in workloads:
            field.fail(f"the workload '{workload['uuid']}' is repeated", "remove one of them")
        workloads[workload["uuid"]] = workload
    if not workloads:
        raise Mistake(f"'{path}' has no workloads", "one JSON object a line")
    return list(workloads.values())

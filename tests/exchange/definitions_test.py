"""definitions_test.py - the definitions of tests/definitions as families, and the mistakes in one."""
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "harness" / "exchange"))
from conversion import Mistake, evaluate, extents_of, python_of  # noqa: E402
from import_definition import import_definition  # noqa: E402
from safetensors import read_safetensor, safetensors_text  # noqa: E402
from translation import NotUnderstood, Translation  # noqa: E402

PROBLEMS = ROOT / "tests" / "definitions"
EXAMPLES = sorted(problem for problem in PROBLEMS.iterdir() if problem.name != "page_gather")  # its values are not kept


def imported(folder, name=""):
    """The files of the import by the end of their name, and its report."""
    request = {"definition": folder, "workloads": "", "name": name, "python": "python3", "widest": "float64", "honest": "declared"}
    files, report = import_definition(request)
    return {path.removeprefix(report["family"]): contents for path, contents in files.items()}, report


class InAFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="apo-test")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def write(self, path, contents):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return target


class Families(InAFolder):
    def test_every_example_is_a_family(self):
        self.assertEqual(len(EXAMPLES), 10)
        for problem in EXAMPLES:
            with self.subTest(problem.name):
                files, report = imported(problem)
                self.assertEqual(sorted(files), [".h", "_definition.py", "_reference.py"])
                self.assertEqual((report["workloads"], report["remarks"]), (3, []))

    def test_axes_shapes_scalars_and_origins_are_those(self):
        rmsnorm = imported(PROBLEMS / "rmsnorm_d96")[0][".h"]
        for line in (
            "// apo:axis       rows 1..64 Tokens in the batch\n", "// apo:axis       width 96..96 specialised\n",
            "// apo:input      norm_weight bf16[width] normal(1,0.1)\n", "// apo:scalar     eps f32 1e-05\n",
            "// The definition's own tolerance: rtol=0.005 atol=0.02.", "// apo:precision  float64 declared\n",
            "// apo:workload   w_c9ae091d small rows=1 width=96\n",
            "// apo:origin     w_c9ae091d c9ae091d-2044-5e31-b736-7086a03d7111\n",
        ):  # fmt: skip
            self.assertIn(line, rmsnorm)
        gqa = imported(PROBLEMS / "gqa-decode.h8_kv2")[0][".h"]
        self.assertIn("// apo:family     gqa_decode_h8_kv2\n", gqa)
        self.assertIn("// apo:origin     gqa-decode.h8_kv2\n", gqa)
        self.assertIn("q bf16[batch,kv_heads,(heads/kv_heads),head_dim] normal", gqa)
        self.assertIn("(heads == kv_heads*(heads/kv_heads)) && (length >= 1 && !(length > 4096)) && (heads%kv_heads == 0)", gqa)

    def test_recorded_values_travel_with_the_family(self):
        shutil.copytree(PROBLEMS / "page_gather", self.folder, dirs_exist_ok=True)
        tensors = {"four": ({"dtype": "I32", "shape": [4]}, bytes(16)), "three": ({"dtype": "F32", "shape": [3]}, bytes(12))}
        self.write("blob/pages.safetensors", safetensors_text(tensors))
        files, report = imported(self.folder)
        self.assertEqual(report["workloads"], 1)
        self.assertIn("// apo:input      indices i32[picked] fill\n", files[".h"])
        self.assertIn(" pages-001\n", files[".h"])
        constraint, other, absent = report["remarks"]
        self.assertIn("constraint 'picked == indices.shape[0]' is left out", constraint)
        self.assertIn("pages-002 is left out: 'three' of 'blob/pages.safetensors' is f32[3]", other)
        self.assertIn("it has no tensor 'absent'", absent)
        path = self.write("kept.safetensors", files["_recorded.safetensors"])
        self.assertEqual(read_safetensor(path, "pages=8,picked=4,width=16/indices"), tensors["four"])

    def test_a_damaged_file_of_values_is_one_error_that_names_it(self):
        whole = safetensors_text({"pages": ({"dtype": "I32", "shape": [2, 3]}, bytes(24))})

        def with_header(header):
            return len(header).to_bytes(8, "little") + header + bytes(24)

        for text, part in (
            (b"abc", "header is cut off"),
            (b"\xff" * 8, "header is cut off"),
            (whole[:-1], "do not fit its shape and the file"),
            (safetensors_text({}), "no tensor 'pages'"),
            (with_header(b"[1]"), "no JSON object"),
            (with_header(b'{"pages":{"dtype":"I32"}}'), "no dtype, shape and"),
            (with_header(b'{"pages":{"dtype":"F4","shape":[6],"data_offsets":[0,24]}}'), "F4"),
            (with_header(b'{"pages":{"dtype":"I32","shape":[6],"data_offsets":[1,25]}}'), "do not fit"),
            (with_header(b'{"pages":{"dtype":"I32","shape":[-6],"data_offsets":[0,24]}}'), "shape"),
        ):
            with self.assertRaisesRegex(Mistake, part):
                read_safetensor(self.write("x.safetensors", text), "pages")


    def test_a_lower_bound_of_an_axis_is_its_range(self):
        definition = json.loads((PROBLEMS / "softmax_rows" / "definition.json").read_text())
        definition["constraints"] = ["cols >= 3", "cols % 1 == 0", "rows >= 1"]
        self.write("definition.json", json.dumps(definition))
        self.write("workload.jsonl", (PROBLEMS / "softmax_rows" / "workload.jsonl").read_text())
        files, report = imported(self.folder)
        self.assertIn("// apo:axis       cols 3..", files[".h"])
        self.assertIn("// apo:requires   (cols%1 == 0)\n", files[".h"])


class Expressions(unittest.TestCase):
    def translated(self, python):
        translation = Translation({name: {"type": "var"} for name in "abc"})
        return translation.translate(python), translation.conditions

    def test_have_the_value_that_python_gives(self):
        for python, value in (
            ("a * b + c", 17), ("-a // b", -4), ("a % b ** 2", 3), ("(a - b) * -c", -15), ("a - (b - c)", 8),
            ("a == b * c + 1 and not b > c", 1), ("a < b or c != 3", 0),
        ):  # fmt: skip
            self.assertEqual(evaluate(self.translated(python)[0], {"a": 7, "b": 2, "c": 3}), value, python)

    def test_a_division_with_a_slash_has_to_be_exact(self):
        self.assertEqual(self.translated("a / b"), ("a/b", ["a%b == 0"]))

    def test_what_is_not_understood_is_said(self):
        for python in (
            "", "a +", "a b", "(a", "a < b < c", "kv_indptr[-1].item() == a", "a ** b", "a ** 9", "min(a, b)", "a = b", "a.b",
            '"x"', "a if b else c", "d", "(" * 100_000,
        ):  # fmt: skip
            with self.assertRaises(NotUnderstood, msg=python):
                self.translated(python)

    def test_those_of_a_block_have_their_value_in_python(self):
        self.assertEqual(extents_of("[B,ceil_div(T,16),(H/2)]"), ["B", "ceil_div(T,16)", "(H/2)"])
        for text, value in (("ceil_div(T,16)*B", 8), ("B ? min(T,3) : 7", 3), ("!B ? 1 : (T>3 && B ? 5 : 6)", 5), ("T/-2", -28)):
            self.assertEqual(evaluate(text, {"B": 2, "T": 55}), value, python_of(text))


class Mistakes(InAFolder):
    """The softmax, with one mistake."""

    definition = (PROBLEMS / "softmax_rows" / "definition.json").read_text()
    workloads = (PROBLEMS / "softmax_rows" / "workload.jsonl").read_text()

    def error(self, definition, workloads, name=""):
        self.write("definition.json", definition)
        self.write("workload.jsonl", workloads)
        try:
            imported(self.folder, name)
        except Mistake as mistake:
            return f"{mistake}|{mistake.hint}"
        return ""

    def expect(self, old, new, part):
        self.assertIn(old, self.definition)
        self.assertIn(part, self.error(self.definition.replace(old, new, 1), self.workloads))

    def expect_of_workloads(self, old, new, part):
        self.assertIn(old, self.workloads)
        self.assertIn(part, self.error(self.definition, self.workloads.replace(old, new, 1)))

    def test_of_a_definition_are_one_error_that_names_the_field(self):
        self.assertEqual(self.error(self.definition, self.workloads), "")
        x = '"x": {"shape": ["rows", "cols"], "dtype": "float32"'
        rows = '"rows": {"type": "var"}'
        for old, new, part in (
            ('"tags"', "tags", "definition.json:4: this is no JSON: "),
            (x, x.replace("float32", "flaot32"), "inputs.x.dtype names an unknown dtype 'flaot32'|did you mean 'float32'?"),
            ("float32", "float4_e2m1", "inputs.x.dtype is float4_e2m1: apo has no 4-bit floats"),
            ('["rows", "cols"]', '["rows", "col"]', "inputs.x.shape[1] is 'col', which is no axis|did you mean 'cols'?"),
            ('"softmax_rows"', "7", "definition.json: name is no text"),
            ('"softmax_rows"', "NaN", "JSON has no NaN and no infinity"),
            ('"reference"', '"referense"', "has no 'reference'"),
            ('"reference"', '"name": "twice", "reference"', "an object has the key 'name' twice"),
            (rows, '"rows": {"type": "vary"}', "axes.rows.type is 'vary'"),
            (rows, '"rows": {"type": "const", "value": 0}', "axes.rows.value is 0"),
            (rows, '"rows": {"type": "expr", "expression": "rows + 1"}', "the axis 'rows' depends on itself"),
            ('"x": {"shape"', '"switch": {"shape"', "has no 'switch'"),
        ):
            self.expect(old, new, part)

    def test_a_name_that_is_no_identifier_needs_another(self):
        one = '{"uuid": "one", "axes": {"rows": 2, "cols": 3}, "inputs": {"x": {"type": "random"}}}'
        for name in ("soft max", "../../up", "7up", "", "x" * 65):
            definition = self.definition.replace('"softmax_rows"', json.dumps(name))
            self.assertIn("is no identifier of at most 64 characters|name the family with --name", self.error(definition, one))
            self.assertEqual(self.error(definition, one, "mine"), "")

    def test_of_a_workload_are_one_error_that_names_the_line(self):
        random = '{"type": "random"}'
        recorded = '{"type": "safetensors", "path": "../up.safetensors", "tensor_key": "k"}'
        for old, new, part in (
            ('"cols": 100', '"cols": 1e2', "workload.jsonl:2: workload.axes.cols is no integer"),
            ('"cols": 100', '"cols": 100,', "workload.jsonl:2: this is no JSON"),
            ('"cols": 100', '"colls": 100', "workload.axes.colls is no axis"),
            ('"definition": "softmax_rows"', '"definition": "other"', "workload.jsonl:1: definition is 'other', not 'softmax_rows'"),
            ('"random"', '"randon"', "workload.inputs.x.type is 'randon'|known: random"),
            (random, '{"type": "custom"}', "no custom_inputs_entrypoint"),
            (random, '{"type": "scalar", "value": 1}', "gives a value for a tensor"),
            (random, recorded, "path is '../up.safetensors'|give a path below the folder of the problem, without '..'"),
        ):
            self.expect_of_workloads(old, new, part)
        first = self.workloads.split("\n")[0] + "\n"
        self.assertIn("workload.jsonl:2: the workload '", self.error(self.definition, first + first))
        self.assertIn("has no workloads", self.error(self.definition, "\n"))

    def test_of_some_workloads_leave_the_others(self):
        for old, new in (('"rows": 5', '"rows": 0'), ('"rows": 32', '"rows": 2'), ('"cols": 256', '"cols": 7')):
            self.workloads = self.workloads.replace(old, new)
        self.assertEqual(self.error(self.definition, self.workloads), "")
        report = imported(self.folder, "mine")[1]
        self.assertEqual((report["family"], report["workloads"]), ("mine", 1))
        self.assertIn("rows=0, and extents are at least 1", report["remarks"][0])
        self.assertIn("it has the sizes of w_", report["remarks"][1])


if __name__ == "__main__":
    unittest.main()

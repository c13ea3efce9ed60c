"""forms_test.py - which function of a Python file is called, what it gets and finds; no PyTorch is needed."""
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness" / "implement" / "python"))
import forms  # noqa: E402
import furnish  # noqa: E402
import submission  # noqa: E402
from forms import Fault  # noqa: E402


def tensors(*names):
    return [{"name": name, "text": "f32[n]"} for name in names]


def family(inputs=("x",), outputs=("y",), scalars=(), axes=("n",)):
    return {
        "name": "norm",
        "inputs": tensors(*inputs),
        "outputs": tensors(*outputs),
        "scalars": list(scalars),
        "axes": list(axes),
        "tunables": ["WARPS"],
    }


def found(text, function=""):
    return forms.find_form(text, "file.py", "norm", "fast_norm", function)


def shown(text, given=None, function="", **of):
    return forms.shown(found(text, function), family(**of), given)


class Forms(unittest.TestCase):
    def test_the_known_ones_come_before_the_family_and_the_variant(self):
        norm = "def norm(x): pass\n"
        for text, name in (
            (norm, "norm"),
            (norm + "def run(x): pass\n", "run"),
            (norm + "def run(x): pass\ndef custom_kernel(data): pass\n", "custom_kernel"),
            ("class Model:\n  def forward(self, x): pass\nclass ModelNew(Model): pass\n" + norm, "ModelNew"),
            ("class Model:\n  def forward(self, x): pass\n", "Model"),
            ("def fast_norm(x): pass\ndef helper(x): pass\n", "fast_norm"),
            ("try:\n    def run(x): pass\nexcept ImportError:\n    run = None\n", "run"),
            ("from mine import run\n", "run"),
        ):
            self.assertEqual(found(text).name, name, text)

    def test_a_named_function_is_the_one(self):
        self.assertEqual(found("def run(x): pass\ndef other(x): pass\n", "other").name, "other")
        with self.assertRaisesRegex(Fault, "defines no 'other', which its apo:function line names"):
            found("def run(x): pass\n", "other")

    def test_what_runs_as_a_program_alone_is_none(self):
        with self.assertRaisesRegex(Fault, "no class ModelNew, and no function 'custom_kernel', 'run' or 'norm'"):
            found("import torch\nif __name__ == '__main__':\n    def run(x): pass\n")

    def test_kernels_alone_need_a_function_that_launches_them(self):
        with self.assertRaisesRegex(Fault, "Triton kernels, and no function that launches them.*apo:function NAME"):
            found("@triton.jit\ndef norm(x): pass\n")

    def test_a_syntax_error_has_its_line(self):
        with self.assertRaisesRegex(Fault, "file.py:2: ") as raised:
            found("import torch\ndef run(x:\n")
        self.assertEqual(raised.exception.outcome, "build_failed")

    def test_names_of_other_functions_are_followed(self):
        for text in (
            "def f(a, b=1): pass\nrun = f\n",
            "def f(a, b=1): pass\nrun = torch.compile(f)\n",
            "def f(a, b=1): pass\nrun = torch.compile(mode='x')(f)\n",
        ):
            form = found(text)
            names = None if form.parameters is None else [one.name for one in form.parameters]
            self.assertIn(names, (["a", "b"], None), text)
        self.assertIsNone(found("run = run\n").parameters)

    def test_a_model_that_a_function_makes_takes_what_model_takes(self):
        text = "class Model:\n  def forward(self, x, scale): pass\ndef ModelNew(*sizes):\n  return Model(*sizes)\n"
        form = found(text)
        self.assertTrue(form.is_class)
        self.assertEqual([one.name for one in form.parameters], ["x", "scale"])

    def test_the_forward_of_a_base_in_the_file_counts(self):
        text = "class Base:\n  def forward(self, x): pass\nclass ModelNew(Base):\n  def other(self): pass\n"
        self.assertEqual([one.name for one in found(text).parameters], ["x"])


class Arguments(unittest.TestCase):
    def test_names_come_first_in_any_order(self):
        self.assertEqual(shown("def run(eps, x): pass\n", scalars=("eps",)), "run(eps, x)")
        self.assertEqual(shown("def run(y, x): pass\n"), "run(y, x)", "destination passing")
        self.assertEqual(shown("def run(x, n): pass\n"), "run(x, n)")
        self.assertEqual(shown("def run(x, *, eps): pass\n", scalars=("eps",)), "run(x, eps)")

    def test_else_the_order_of_the_family(self):
        self.assertEqual(shown("def run(a, b): pass\n", inputs=("x", "w")), "run(a=x, b=w)")
        self.assertEqual(shown("def run(a, w): pass\n", inputs=("x", "w")), "run(a=x, w)")
        self.assertEqual(shown("def run(a, b): pass\n", scalars=("eps",)), "run(a=x, b=eps)")
        self.assertEqual(shown("def run(a, out): pass\n"), "run(a=x, out=y)", "destination passing")
        self.assertEqual(shown("def run(a, b, out): pass\n", scalars=("eps",)), "run(a=x, b=eps, out=y)")

    def test_axes_come_all_or_none(self):
        self.assertEqual(shown("def run(a, out, m, k): pass\n", axes=("n", "m2")), "run(a=x, out=y, m=n, k=m2)")
        self.assertEqual(shown("def run(a, m, k): pass\n", axes=("n", "m2")), "run(a=x, m=n, k=m2)")
        with self.assertRaisesRegex(Fault, "has no more to give"):
            shown("def run(a, out, m, k, more): pass\n", axes=("n", "m2"))

    def test_defaults_stay_where_nothing_is_left(self):
        self.assertEqual(shown("def run(x, block=128): pass\n"), "run(x)")
        self.assertEqual(shown("def run(x, w=None): pass\n", inputs=("x", "w")), "run(x, w)")
        self.assertEqual(shown("def run(x, *, block=128): pass\n"), "run(x)")

    def test_what_stands_behind_a_default_that_stays_is_given_by_name(self):
        for text, got in (
            ("def run(x, dim=-1, y=None): return x, dim, y\n", ("X", -1, "Y")),
            ("def run(*, x, y, dim=-1): return x, dim, y\n", ("X", -1, "Y")),
            ("def run(y, x, dim=-1): return x, dim, y\n", ("X", -1, "Y")),
        ):
            with tempfile.TemporaryDirectory(prefix="apo-test") as folder:
                path = Path(folder) / "submission.py"
                path.write_text(text)
                request = {
                    "file": str(path),
                    "variant": "fast_norm",
                    "function": "",
                    "arguments": {},
                    "family": family(),
                    "contract": "",
                    "values": {},
                }
                call = submission.Call(None, request, {"x": "X", "y": "Y"}, "cpu")
                self.assertEqual(call({"x": "X", "y": "Y"}), got, text)

    def test_more_arguments_get_the_inputs_that_are_left(self):
        self.assertEqual(shown("def run(*all): pass\n", inputs=("x", "w")), "run(x, w)")

    def test_what_updates_memory_gets_it_once(self):
        self.assertEqual(shown("def run(x, y): pass\n", inputs=("x", "y"), outputs=("y",)), "run(x, y)")

    def test_the_line_of_the_function_says_what_names_do_not(self):
        self.assertEqual(shown("def run(a, k): pass\n", {"a": "x", "k": "'sum'"}), "run(a=x, k='sum')")
        with self.assertRaisesRegex(Fault, "gives 'k' the value 'm': a parameter"):
            shown("def run(x, k): pass\n", {"k": "m"})

    def test_too_many_and_too_few_are_refused_with_the_family(self):
        with self.assertRaisesRegex(
            Fault, r"run\(\) takes 'c', and the family has no more to give: norm\(x f32\[n\]; n\) -> y f32\[n\]"
        ):
            shown("def run(a, b, d, c): pass\n")
        with self.assertRaisesRegex(Fault, r"run\(\) takes no 'w': the family has"):
            shown("def run(x): pass\n", inputs=("x", "w"))

    def test_a_number_is_no_tensor(self):
        self.assertEqual(shown("def run(a, n: int, out): pass\n"), "run(a=x, n, out=y)")
        with self.assertRaisesRegex(Fault, r"takes the number 'group', .* '# apo:function run group=VALUE'"):
            shown("def run(x, group: int): pass\n")

    def test_a_bundle_has_as_many_parts_as_it_is_taken_apart_into(self):
        for body, says in (
            ("a, out = data", "custom_kernel((x, y))"),
            ("return data * 2", "custom_kernel((x))"),
            ("return data[0]", "custom_kernel((x,))"),
            ("b = data[1]\n  a = data[0]", "custom_kernel((x, y))"),
        ):
            self.assertEqual(shown(f"def custom_kernel(data):\n  {body}\n"), says)
        with self.assertRaisesRegex(Fault, "takes its data apart into 4 values"):
            shown("def custom_kernel(data):\n  a, b, c, d = data\n")

    def test_the_weights_of_a_model_are_no_arguments(self):
        form = found("class ModelNew:\n  def forward(self, x): pass\n")
        self.assertEqual(forms.match(form, family(inputs=("x", "w")), None, ("w",)), [("x", "x")])


class Furnished(unittest.TestCase):
    def setUp(self):
        self.torch = types.SimpleNamespace(compile=lambda *arguments, **options: options)
        furnish.furnish(self.torch)
        self.addCleanup(sys.modules.pop, "task")

    def test_compiling_for_cuda_graphs_compiles_without(self):
        said = self.torch.compile(print, mode="reduce-overhead", dynamic=True)
        self.assertEqual(said, {"mode": None, "dynamic": True})
        self.assertEqual(self.torch.compile(mode="max-autotune"), {"mode": "max-autotune-no-cudagraphs"})
        self.assertEqual(self.torch.compile(mode="default"), {"mode": "default"})

    def test_a_submission_of_kernelbot_finds_the_module_of_its_types(self):
        text = "from task import input_t, output_t\ndef f(data: input_t) -> output_t: pass\n"
        module = submission.run_text(text, "f.py", "given")
        self.addCleanup(sys.modules.pop, "given")
        self.assertTrue(callable(module.f))


if __name__ == "__main__":
    unittest.main()

"""kernelbench_torch_test.py - files in the form of KernelBench as definitions; where PyTorch is."""
import importlib.util
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

PYTHON = "/usr/bin/python3"
HAS_TORCH = importlib.util.find_spec("torch") is not None
if not HAS_TORCH and os.path.exists(PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
    os.execv(PYTHON, [PYTHON, "-B", *sys.argv])

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "harness" / "exchange"))
from conversion import Mistake  # noqa: E402
from kernelbench import parametrised  # noqa: E402

if HAS_TORCH:
    import torch
    from import_kernelbench import converted
    from kernelbench_run import silence


def imported(text, name="problem"):
    """The definition, its workloads by name, and the remarks."""
    with tempfile.TemporaryDirectory(prefix="apo-test") as folder:
        path = f"{folder}/{name}.py"
        tree, own = parametrised(text, path)
        Path(path).write_text(text)
        with silence():
            files, report = converted(path, tree, own, "")
    workloads = [json.loads(line) for line in files["workload.jsonl"].splitlines()]
    return json.loads(files["definition.json"]), {one["uuid"]: one for one in workloads}, report["remarks"]


def problem(forward, given, init="pass", init_given="", constants="N, C = 64, 512"):
    return f"""import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self{', *own' if init_given else ''}):
        super().__init__()
        {init}
    def forward(self, {forward}
{constants}
def get_inputs(): return [{given}]
def get_init_inputs(): return [{init_given}]
"""


@unittest.skipUnless(HAS_TORCH, "needs PyTorch: apt-get install python3-torch")
class KernelBench(unittest.TestCase):
    def test_every_example_computes_what_its_model_does(self):
        """With another module's weights, at the ragged shape, in float64."""
        for path in sorted((ROOT / "tests" / "kernelbench").glob("*.py")):
            with self.subTest(path.name):
                definition, workloads, remarks = imported(path.read_text(), path.stem)
                self.assertEqual((remarks, definition["name"]), ([], path.stem))
                self.assertLessEqual(max(workloads["small"]["axes"].values()), 16)
                module = {}
                exec(definition["reference"], module)
                Model, get_inputs, get_init_inputs = module["problem"](**workloads["ragged"]["axes"])
                given, model = get_inputs(), Model(*get_init_inputs()).double()
                given = [one.double() if getattr(one, "dtype", None) == torch.float32 else one for one in given]
                with torch.no_grad():
                    expected, result = model(*given), module["run"](*given, *model.state_dict().values())
                self.assertEqual(result.dtype, torch.float64)
                self.assertTrue(torch.equal(result, expected))

    def test_weights_are_inputs_as_the_module_initialises_them(self):
        init = ("self.linear = nn.Linear(*own); self.norm = nn.LayerNorm(own[1]); "
                "self.gain = nn.Parameter(torch.randn(own[1])); self.unused = nn.Parameter(torch.ones(3))")  # fmt: skip
        text = problem("x): return self.norm(self.linear(x)) * self.gain", "torch.randn(N, C)", init, "C, 256")
        _, workloads, _ = imported(text)
        draws = {name: one["draw"] for name, one in workloads["file"]["inputs"].items()}
        self.assertEqual(draws, {
            "x": "normal", "gain": "normal", "linear_weight": "uniform(-0.0442,0.0442)",
            "linear_bias": draws["linear_bias"], "norm_weight": "normal(1,0.1)", "norm_bias": "normal(0,0.1)"})  # fmt: skip

    def test_inputs_have_their_distribution_or_are_drawn_by_the_file(self):
        for given, draw in (
            ("torch.rand(N, C)", "uniform(0,1)"), ("torch.rand(N, C) * 2 - 1", "uniform(-1,1)"),
            ("torch.rand(N, C).half()", "uniform(0,1)"), ("torch.empty(N, C).uniform_(0, 3)", "uniform(0,3)"),
            ("torch.randn(N, C)", "normal"), ("torch.randn(N, C) * 0.5 + 2", None),
            ("torch.rand(N, C) > 0.5", "mask"), ("torch.randint(0, 2, (N, C)).bool()", "mask"),
            ("torch.randint(0, C, (N, 3))", "index(0..511)"), ("torch.randint(N, (N, 3))", "index(0..N-1)"),
            ("torch.randint(5, 9, (N, C))", "uniform(5,8)"), ("torch.rand(N, C) > 0.9", "fill"),
            ("torch.triu(torch.rand(N, N))", "fill"), ("torch.softmax(torch.randn(N, C), 1)", "fill"),
            ("torch.randperm(N)", "fill"), ("torch.ones(N, C)", "fill"),
        ):  # fmt: skip
            _, workloads, remarks = imported(problem("x, y): return x[:1].double() + y[0]", f"{given}, torch.rand(4)"))
            own = workloads["file"]["inputs"]["x"]["draw"]
            self.assertEqual(own, draw) if draw else self.assertRegex(own, r"normal\((2|1\.9\d|2\.0\d),0\.(5|4|5)\d*\)")
            self.assertEqual(len(remarks), own == "fill", given)

    def test_lists_scalars_constants_and_several_outputs(self):
        definition, workloads, _ = imported(problem(
            "xs, scale, dim, flag=None): a = torch.cat(xs, 1); return a * scale, a.sum(dim)",
            "[torch.randn(N, C), torch.randn(N, E)], 3.25, 1, None", constants="N, C, E = 64, 512, 48"))  # fmt: skip
        self.assertEqual(list(definition["inputs"]), ["xs_0", "xs_1", "scale"])
        self.assertEqual(workloads["file"]["inputs"]["scale"], {"type": "scalar", "value": 3.25})
        self.assertEqual(definition["outputs"]["y1"]["shape"], ["N"])
        self.assertEqual(definition["axes"][definition["outputs"]["y0"]["shape"][1]]["expression"], "C + E")

    def test_a_module_that_is_random_in_training_is_taken_in_eval(self):
        init = "self.drop = nn.Dropout(0.3); self.norm = nn.BatchNorm1d(*own)"
        text = problem("x): return self.norm(self.drop(x))", "torch.rand(N, C)", init, "C")
        definition, workloads, remarks = imported(text)
        self.assertIn("eval()", remarks[0] + definition["description"])
        self.assertEqual(workloads["file"]["inputs"]["norm_running_var"]["draw"], "uniform(0.5,1.5)")
        definition, workloads, remarks = imported(text.replace("self.drop(x)", "x"))
        self.assertEqual((remarks, definition["constraints"]), ([], ["N >= 2"]))
        self.assertNotIn("norm_running_var", definition["inputs"])

    def test_a_file_that_cannot_be_a_family_is_one_error(self):
        x = "torch.rand(N, C)"
        for what, text in (
            ("problem.py:9: NameError: name 'M' is not defined", problem("x): return x", "torch.rand(N, M)")),
            ("problem.py:7: SystemExit", problem("x): raise SystemExit", x)),
            ("No module named 'no_such_package'", "import no_such_package\n" + problem("x): return x", x)),
            ("forward() returns a float", problem("x): return x.sum().item()", x)),
            ("get_inputs() gives 'x' of type dict", problem("x): return x", "{}")),
            ("the output 0 is complex64", problem("x): return torch.fft.fft(x)", x)),
            ("shapes depend on the values", problem("x): return x[x > 0.5]", x)),
            ("other results on the same inputs", problem("x): return x + torch.randn_like(x)", x)),
            ("other results on the same inputs", problem("x): return x * self.w", x, "self.w = torch.randn(1)")),
            ("its weights have 4295032832 elements",
             problem("x): return self.l(x)", "torch.rand(N, 65536)", "self.l = nn.Linear(*own)", "65536, 65536")),
            ("neither an input nor a weight is of floating", problem("x): return x + 1", "torch.randint(0, C, (N, 3))")),
        ):  # fmt: skip
            with self.assertRaises(Mistake) as raised:
                imported(text)
            self.assertIn(what, str(raised.exception))


if __name__ == "__main__":
    unittest.main()

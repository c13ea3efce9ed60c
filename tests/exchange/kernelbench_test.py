"""kernelbench_test.py - how the sizes of a KernelBench file are found; no PyTorch is needed."""
import ast
import random
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "harness" / "exchange"))
from conversion import Mistake  # noqa: E402
from kernelbench import constraints, distribution, explore, parametrised  # noqa: E402

MODEL = "class Model: pass\n"
INPUTS = "def get_inputs(): return [(n, 1024, 4)]\n"


def sizes_of(text):
    return parametrised(text, "file.py")[1]


class Constants(unittest.TestCase):
    def test_of_the_module_and_large_literals_outside_of_the_model_are_sizes(self):
        for text, sizes in (
            ("n = 16\n", {"n": 16, "size_1024": 1024}),
            ("n = 1024 * 2\n", {"n": 2048, "size_1024": 1024}),
            ("n, m = 8, 9\n", {"n": 8, "m": 9, "size_1024": 1024}),
            ("n = m = 32\n", {"n": 32, "m": 32, "size_1024": 1024}),
            ("n = 1\n", {"size_1024": 1024}),
            ("m = 8\nn = m * 512\n", {"m": 8, "size_512": 512, "size_1024": 1024}),
            ("n = 8\nn = 9\n", {"size_1024": 1024}),
            ("n = 8\nclass Other: width = 4096\n", {"n": 8, "size_1024": 1024}),
        ):
            self.assertEqual(sizes_of(text + MODEL + INPUTS), sizes, text)

    def test_the_function_computes_with_other_sizes(self):
        text = "import math\nn = 8\nm = math.prod((n, 2))\n" + MODEL + INPUTS
        text += "def get_init_inputs(): return [m]\nif __name__: n()\n"
        module = {}
        exec(compile(parametrised(text, "file.py")[0], "file.py", "exec"), module)
        _, get_inputs, get_init_inputs = module["problem"](n=3, size_1024=5)
        self.assertEqual((get_inputs(), get_init_inputs()), ([(3, 5, 4)], [6]))
        self.assertIn("def problem(n=8, size_1024=1024)", ast.unparse(parametrised(text, "file.py")[0]))

    def test_a_file_without_model_or_inputs_is_refused(self):
        for text, what in ((INPUTS, "no 'Model'"), (MODEL, "no 'get_inputs'"), ("n = (\n", "file.py:1: ")):
            with self.assertRaisesRegex(Mistake, what):
                sizes_of(text)


def extents(**tensors):
    """{"input_x": [..]} in the form of the trials."""
    return {(*name.split("_"), place): extent for name, shape in tensors.items() for place, extent in enumerate(shape)}


def convolution(sizes):
    n, c, o, h, k, stride, groups = sizes.values()
    if min(sizes.values()) < 1 or c % groups or o % groups or h < k:
        return None
    return extents(input_x=[n, c, h], weight_w=[o, c // groups, k], output_y=[n, o, (h - k) // stride + 1])


def norm(sizes):
    """Of a batch, which needs two values a channel."""
    n, h = sizes.values()
    return extents(input_x=[n, 32, h, h], output_y=[n, 32, h, h]) if n * h > 1 else None


def masked(sizes):
    longest, length = sizes.values()
    return extents(input_x=[length], weight_mask=[longest, longest], output_y=[length]) if length <= longest else None


def joined(sizes):
    a, b = sizes.values()
    return extents(input_x=[a], input_y=[b], output_sum=[a + b], output_product=[2 * a * b], output_part=[min(a, 12)])


class Sizes(unittest.TestCase):
    def explored(self, attempt, **own):
        return explore(own, attempt, attempt(own))

    def test_of_a_filter_stay_and_the_others_are_axes_with_their_conditions(self):
        found = self.explored(convolution, n=16, c=64, o=128, h=224, k=3, stride=2, groups=4)
        self.assertEqual([axis.name for axis in found.axes], ["n", "c", "o", "h"])
        self.assertEqual(found.base, {"n": 16, "c": 16, "o": 16, "h": 14, "k": 3, "stride": 2, "groups": 4})
        self.assertEqual(constraints(found.axes), ["c >= 4", "o >= 4", "h >= 3", "c % 4 == 0", "o % 4 == 0"])
        self.assertEqual(found.expressions["weight", "w", 1], "c // 4")
        height = found.expressions["output", "y", 2]
        for h in range(3, 300):
            self.assertEqual(eval(height, {}, {"h": h}), (h - 3) // 2 + 1)
        self.assertIsNotNone(convolution(found.ragged))

    def test_that_fail_only_together_get_a_higher_minimum(self):
        found = self.explored(norm, n=64, h=512)
        for _ in range(50):
            self.assertIsNotNone(norm({axis.name: random.randint(axis.least, axis.own) for axis in found.axes}))
        self.assertEqual(constraints(found.axes), ["h >= 2"])

    def test_that_bound_another_stay_as_the_file_has_them(self):
        found = self.explored(masked, longest=1024, length=512)
        self.assertEqual([axis.name for axis in found.axes], ["length"])
        self.assertEqual(found.base, {"longest": 1024, "length": 16})

    def test_whose_extents_follow_in_no_known_way_stay_as_the_file_has_them(self):
        found = self.explored(joined, a=100, b=200)
        self.assertEqual([axis.name for axis in found.axes], ["b"])
        self.assertEqual(found.expressions["output", "sum", 0], "b + 100")
        self.assertEqual(found.expressions["output", "product", 0], "200 * b")

    def test_that_a_module_takes_only_as_they_are_give_no_axes(self):
        found = self.explored(lambda sizes: extents(input_x=[sizes["n"]]) if sizes["n"] == 1000 else None, n=1000)
        self.assertEqual((found.axes, found.base, found.expressions), ([], {"n": 1000}, {("input", "x", 0): "1000"}))
        self.assertIsNone(self.explored(lambda sizes: None, n=1000))


class Distributions(unittest.TestCase):
    def test_are_told_by_moments(self):
        for text, count, low, high, mean, deviation, kurtosis in (
            ("uniform(0,1)", 16384, 1e-5, 0.9999, 0.5, 0.2886, 1.8),
            ("uniform(-0.0156,0.0156)", 65536, -0.01562, 0.01561, 0, 0.00902, 1.8),
            ("normal", 16384, -4, 4.1, 0.01, 1.01, 3.02),
            ("normal(2,0.5)", 16384, 0, 4, 2, 0.5, 2.95),
            ("", 16384, 0, 1, 0.1, 0.2, 6),
            ("", 16384, 0, 1, 0.5, 0.5, 1),
            ("", 100, 1, 1, 1, 0, 0),
        ):
            self.assertEqual(distribution(count, low, high, mean, deviation, kurtosis), text)


if __name__ == "__main__":
    unittest.main()

"""tests/implement/python/trials_test.py - what of a file's top level runs where its function is called."""
import ast
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "harness" / "implement" / "python"))
from trials import trials  # noqa: E402

KERNEL = (
    "import torch, triton\n@triton.jit\ndef rows(x, y): pass\n"
    "def softmax(x):\n    y = x + 1\n    rows[(1,)](x, y)\n    return y\n"
)


def left_out(text, *names):
    body = ast.parse(text).body
    return [ast.unparse(one).split("\n")[0] for one in trials(body, names or ["softmax"])]


class Trials(unittest.TestCase):
    def test_a_tutorials_own_test_and_benchmark_are_left_out(self):
        text = KERNEL + (
            "torch.manual_seed(0)\nx = torch.rand(7)\ny = softmax(x)\nassert torch.allclose(y, x)\n"
            "if torch.allclose(y, x):\n    print('right')\nelse:\n    print('wrong')\nprint(f'{y}')\nshown = y + 1\n"
            "configs = []\nfor mode in ('a', 'b'):\n    configs.append(triton.testing.Benchmark(mode))\n"
            "@triton.testing.perf_report(configs)\ndef benchmark(n):\n    softmax(n)\n"
            "def test_softmax(n):\n    softmax(n)\ntest_softmax(8)\nbenchmark.run(print_data=True)\n"
        )
        self.assertEqual(
            left_out(text),
            ["y = softmax(x)", "assert torch.allclose(y, x)", "if torch.allclose(y, x):", "print(f'{y}')",
             "shown = y + 1", "test_softmax(8)", "benchmark.run(print_data=True)"])  # fmt: skip

    def test_what_the_function_needs_runs(self):
        for text in (
            "table = make()\ndef make(): return {}\ndef softmax(x): return table[x]\n",
            "table = None\ndef setup():\n    global table\n    table = 1\nsetup()\ndef softmax(x): return table\n",
            "def one(x): return x\nknown = {}\nknown['a'] = one\ndef softmax(x): return known['a'](x)\n",
            "def one(x): return x\nknown = []\nknown.append(one)\ndef softmax(x): return known[0](x)\n",
            "def one(x): return x\nsoftmax = torch.compile(one)\n",
            "def one(x): return x\ndef softmax(x): return torch.ops.a.b(x)\ntorch.library.impl('a::b', 'cuda', one)\n",
            "class F(torch.autograd.Function): pass\nsoftmax = F.apply\n",
            "def size(): return 7\nBLOCK = size()\nWIDE = 2 * BLOCK\ndef rest(x, n=WIDE): pass\ndef softmax(x): return x\n",
            "def configs(): return []\nEACH = configs()\n@triton.autotune(EACH, key=['n'])\n@triton.jit\ndef softmax(x): pass\n",
            "def base(): return object\nBASE = base()\nclass Other(BASE): pass\ndef softmax(x): return x\n",
        ):
            self.assertEqual(left_out("import torch, triton\n" + text), [], text)

    def test_what_runs_nothing_of_the_file_stays(self):
        self.assertEqual(left_out(KERNEL + "'a text'\nprint('begins')\nlimit = torch.cuda.device_count()\n"), [])

    def test_other_functions_make_other_statements_needed(self):
        text = "def make(): return 1\na = make()\nb = make()\ndef f(x): return a\ndef g(x): return b\n"
        self.assertEqual(left_out(text, "f"), ["b = make()"])
        self.assertEqual(left_out(text, "g"), ["a = make()"])


if __name__ == "__main__":
    unittest.main()

# tests/cli/bring/definition_test.py - a definition imported, and variants held against it; where PyTorch is.
import os
import subprocess
import unittest

from apo_test import CommandTest, main, read_file, replaced, source_path

PYTHON = "/usr/bin/python3"
HAS_TORCH = os.path.exists(PYTHON) and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

RIGHT = """// apo:variant rmsnorm_d96/rows
// apo:target host
#include <bit>
#include <cmath>
#include <cstdint>
static float wide(uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); }
static uint16_t narrow(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
void rmsnorm_d96(const uint16_t* x, const uint16_t* weight, uint16_t* y, float eps, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += width) {
    float sum = 0;
    for (int64_t c = 0; c < width; ++c) sum += wide(x[c]) * wide(x[c]);
    const float scale = 1 / std::sqrt(sum / width + eps);
    for (int64_t c = 0; c < width; ++c) y[c] = narrow(wide(x[c]) * scale * wide(weight[c]));
  }
}
"""

GEMM = """// apo:variant gemm_scale_residual/rows
// apo:target host
#include <cstdint>
void gemm_scale_residual(const float* x, const float* weight, const float* bias, float* y, int64_t rows, int64_t in,
                         int64_t out) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (int64_t i = 0; i < in; ++i) sum += x[r * in + i] * weight[o * in + i];
      y[r * out + o] = float(sum * 1.5);
    }
}
"""


def problem(name):
    return source_path("tests", "definitions", name)


class DefinitionTest(CommandTest):
    def imported(self, *words, **options):
        return self.apo("import", "definition", *words, **options)


class ImportDefinition(DefinitionTest):
    def test_without_pytorch_the_error_says_what_to_install_and_nothing_is_written(self):
        self.place.write("bare_python", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n")
        os.chmod(self.place.path("bare_python"), 0o700)
        ran = self.imported(problem("rmsnorm_d96"), "--python", self.place.path("bare_python"), code=1)
        self.said(ran.err, "install NumPy and PyTorch for /usr/bin/python3", "nothing was written or registered")
        self.assertFalse(self.place.exists("rmsnorm_d96.h") or self.place.exists(".apo/families"))

    def test_mistakes_of_the_command_are_one_error_each(self):
        absent = self.imported(problem("rmsnorm_d96"), "--python", "no_such_python", code=2)
        self.said(absent.err, "cannot find the program 'no_such_python'")
        for words in ([], ["no_such_folder"], ["a", "b", "c"]):
            self.imported(*words, code=1)


@unittest.skipUnless(HAS_TORCH, "needs PyTorch: apt-get install python3-torch")
class ImportWithPyTorch(DefinitionTest):
    def test_a_problem_is_a_family_that_tells_right_from_wrong(self):
        words = (problem("rmsnorm_d96"), "--python", PYTHON)
        self.said(self.imported(*words).out, "tolerance from the reference in float64 held against float32, against moved "
                  "inputs and against the declared dtypes", "family rmsnorm_d96 is registered, with 3 workloads")
        self.said(self.imported(*words, code=None).err, "'./rmsnorm_d96.h' is there already")
        self.said(self.imported(*words, "--output", "other", code=None).err,
                  "a family 'rmsnorm_d96' is registered already")
        self.assertFalse(self.place.exists("other"))
        self.place.write("rows.cpp", RIGHT)
        self.place.write("no_weight.cpp", replaced(RIGHT, "rmsnorm_d96/rows", "rmsnorm_d96/no_weight",
                                                   " * wide(weight[c])", ""))
        self.apo("register", "rows.cpp")
        self.said(self.apo("register", "no_weight.cpp", code=3).err, "gate correctness says incorrect")

    def test_a_file_of_kernelbench_is_a_family_that_tells_right_from_wrong(self):
        """Its weights are inputs, so that one that forgets the bias is wrong."""
        text = read_file(source_path("tests", "kernelbench", "gemm_scale_residual.py"))
        text = replaced(text, "= 16384", "= 64", "= 4096\nout", "= 96\nout", "= 4096", "= 80")
        self.place.write("gemm_scale_residual.py", text)
        ran = self.apo("import", "kernelbench", "gemm_scale_residual.py", "--python", PYTHON)
        self.said(ran.out, "the reference in float64", "family gemm_scale_residual is registered, with 3 workloads")
        self.place.write("rows.cpp", GEMM)
        self.place.write("no_bias.cpp", replaced(GEMM, "/rows", "/no_bias", "sum = bias[o]", "sum = 0"))
        self.apo("register", "rows.cpp")
        self.said(self.apo("register", "no_bias.cpp", code=3).err, "gate correctness says incorrect")
        self.place.write("submission.py", text + "class ModelNew(Model):\n    pass\n")
        ran = self.apo("try", "gemm_scale_residual", "submission.py", code=None)
        self.said(ran.out + ran.err, "calls ModelNew.forward(as Model)")

    def test_a_file_of_kernelbench_that_fails_is_one_error_and_nothing_is_written(self):
        rest = "class Model: pass\ndef get_inputs(): return []\n"
        for text, said in (("class Model: pass\n", "problem.py defines no 'get_inputs'"),
                           ("import os\nos.abort()\n" + rest, "was ended by SIGABRT"),
                           ("open('written', 'w')\n" + rest, "PermissionError"),
                           ("import socket\nsocket.socket()\n" + rest, "PermissionError")):
            self.place.write("problem.py", text)
            self.said(self.apo("import", "kernelbench", "problem.py", "--python", PYTHON, code=1).err, said)
        self.assertFalse(self.place.exists("written") or self.place.exists("problem.h"))

    def test_what_is_only_written_is_registered_after_an_edit(self):
        ran = self.imported(problem("embedding"), "--python", PYTHON, "--no-register", "--output", "mine", "--name",
                            "lookup", "--json")
        self.assertEqual(len(ran.document["files"]), 3)
        self.assertFalse(self.place.exists(".apo/families"))
        self.apo("register", "mine/lookup.h")

    def test_a_reference_that_fails_names_its_line(self):
        """It fails in the same way whatever it computes in."""
        self.place.write("workload.jsonl", read_file(problem("softmax_rows") + "/workload.jsonl"))
        definition = read_file(problem("softmax_rows") + "/definition.json")
        for old, new, said in (("def run(x)", "def walk(x)", "softmax_rows_definition.py defines no function 'run'"),
                               ("return shifted", "return shifted, shifted", "gives 2 of the 1 outputs y")):
            self.place.write("definition.json", replaced(definition, old, new))
            self.said(self.imported(".", "--python", PYTHON, code=1).err, said)
            self.assertFalse(self.place.exists("softmax_rows.h"))


main()

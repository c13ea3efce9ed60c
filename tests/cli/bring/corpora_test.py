# tests/cli/bring/corpora_test.py - experiments/corpora.py holds the executor's outcomes against the labels of a corpus.
import json
import sys
from pathlib import Path

from apo_test import PROGRAM, CommandTest, main, source_path

sys.path.insert(0, str(source_path("experiments")))
import corpora  # noqa: E402

FAMILY = ("// apo:family doubled\n// apo:axis n 1..65536\n// apo:input x f32[n] normal\n// apo:output y f32[n]\n"
          "// apo:workload small small n=64\n// apo:workload large production n=1000\ntemplate <class Real>\n"
          "void reference(int64_t n, const Real* x, Real* y) {\n"
          "  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n")
KERNEL = ("__global__ void twice(const float* x, float* y, int n) {\n"
          "  const int i = threadIdx.x + blockIdx.x * blockDim.x;\n  if (i GUARD n) y[i] = 2 * x[i];\n}\n"
          "int main() { return 0; }\n")
AS_IT_IS = "void doubled(const float* x, float* y, int n) { twice<<<n / 64 + 1, 64>>>(x, y, n); }\n"
CALL = "twice<<<a.n / 64 + 1, 64>>>(a.x, a.y, a.n)"


class LabelledCorpus(CommandTest):
    def judged(self, *lines):
        self.place.write("tables/table", "# label | family | file | call\n" + "\n".join(lines) + "\n")
        program = source_path("experiments", "corpora.py")
        return self.place.run([sys.executable, program, "tables/table", "corpus", "out"], {"APO": PROGRAM})

    def test_outcomes_are_held_against_labels(self):
        self.place.write("tables/doubled.h", FAMILY)
        self.place.write("corpus/right/kernel.cu", KERNEL.replace("GUARD", "<"))
        self.place.write("corpus/wrong/kernel.cu", KERNEL.replace("GUARD", "<="))
        self.place.write("corpus/right/whole.cu", '#include "kernel.cu"\n' + AS_IT_IS)
        self.place.write("corpus/cub/kernel.cu", "#include <cub/cub.cuh>\n" + KERNEL.replace("GUARD", "<"))
        ran = self.judged(f"right | doubled | right/kernel.cu | {CALL}",
                          "right | doubled | right/whole.cu | --function doubled",
                          f"wrong | doubled | wrong/kernel.cu | {CALL}", f"right | doubled | cub/kernel.cu | {CALL}")
        self.assertEqual(ran.code, 0, ran.both)
        results = self.place.read("out/results.md")
        self.said(results, "| right/kernel.cu | right | right | valid |",
                  "| right/whole.cu doubled | right | right | valid |",
                  "| wrong/kernel.cu | wrong | caught | incorrect: ", "out-of-bounds access in kernel twice",
                  "| cub/kernel.cu | right | not checked | ", "1 caught, 1 not checked, 2 right")
        ran = self.judged(f"wrong | doubled | right/kernel.cu | {CALL}", f"right | doubled | wrong/kernel.cu | {CALL}")
        self.assertEqual(ran.code, 1, ran.both)
        self.said(self.place.read("out/results.md"), "1 missed, 1 refused")

    def test_a_line_of_the_table_that_is_no_row_is_named(self):
        ran = self.judged("correct | doubled | right/kernel.cu")
        self.assertEqual(ran.code, 1)
        self.said(ran.err, "table:2: a line is 'LABEL | FAMILY | FILE | CALL', and LABEL one of right, wrong, attack")


class PythonOfACorpus(CommandTest):
    @property
    def folder(self):
        return Path(self.place.folder)

    def brought(self, name, text, call):
        """The text that is judged."""
        self.place.write(f"corpus/{name}", text)
        arguments = corpora.bring("doubled", self.folder / "corpus" / name, call, self.folder / "brought")
        self.assertEqual(arguments[0], "--file")
        return arguments[1].read_text(), arguments[2:]

    def test_the_call_stands_behind_the_text(self):
        call = "def run(x): return theirs(x)"
        text, options = self.brought("kernel.py", "import torch\n", call)
        self.assertEqual(text, f"import torch\n\n\n{call}\n")
        self.assertEqual(options, ["--no-sanitizers"])

    def test_a_file_as_it_is_gets_its_options(self):
        self.assertEqual(self.brought("kernel.txt", "def f(x): pass\n", "--function f"),
                         ("def f(x): pass\n", ["--no-sanitizers", "--function", "f"]))

    def test_a_solution_is_the_source_of_its_entry_point(self):
        solution = {"spec": {"entry_point": "kernel.py::run"},
                    "sources": [{"path": "other.py", "content": "no"}, {"path": "kernel.py", "content": "yes"}]}
        self.assertEqual(self.brought("solution.json", json.dumps(solution), "")[0], "yes")

    def test_a_refused_recording_is_a_refused_kernel(self):
        for label, outcome, on_cpu, word in (
                ("right", "valid", False, "right"), ("right", "refused", False, "refused"),
                ("right", "wrong_abi", False, "refused"), ("right", "wrong_abi", True, "not checked"),
                ("wrong", "incorrect", False, "caught"), ("wrong", "valid", False, "missed"),
                ("attack", "valid", False, "disarmed"), ("attack", "faulted", False, "caught"),
                ("attack", "not_judged", False, "not checked")):  # fmt: skip
            self.assertEqual(corpora.word_of(label, outcome, on_cpu), word, (label, outcome, on_cpu))

    def test_what_takes_too_long_is_ended_with_what_it_started(self):
        self.assertIsNone(corpora.run_for(0.1, ["sh", "-c", "sleep 1000 & sleep 1000"], self.folder))
        self.assertEqual(corpora.run_for(100, ["echo", "done"], self.folder), ("done\n", ""))


if __name__ == "__main__":
    main()

# tests/cli/bring/corpora_test.py - experiments/corpora.py holds the executor's outcomes against the labels of a corpus.
import sys

from apo_test import PROGRAM, CommandTest, main, source_path

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
        self.said(ran.err, "table:2: a line is 'right | FAMILY | FILE | CALL'")


if __name__ == "__main__":
    main()

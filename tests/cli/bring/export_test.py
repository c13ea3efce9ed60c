# tests/cli/bring/export_test.py - `apo export --dispatch` on recorded journals, and on journals that offer nothing.
import json
import os
import shutil

from apo_test import CommandTest, harm, main, source_path

EXPERIMENTS = source_path("experiments")
SCALED = ("// apo:family scaled\n// apo:axis n 1..65536\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
          "// apo:workload w small n=8\n// apo:workload p production n=4096\n"
          "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
          "  for (int64_t i = 0; i < n; ++i) y[i] = Real(2) * x[i];\n}\n")
FAST = "void scaled(long n, const float* x, float* y) { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n"
SLOW = FAST.replace("{ for", "{ for (int k = 0; k < 8; ++k) for").replace("y[i] =", "((volatile float*)y)[i] =")
ANOTHER_MACHINE = "UPDATE machine SET key = 'host-far', model = 'Another CPU', fingerprint = 'x'"


class Export(CommandTest):
    def recorded(self, name="nvidia-h200/b8_t128_h83_n32/journal.db"):
        """A copy, so that reading it leaves nothing beside the recorded one."""
        shutil.copy(os.path.join(EXPERIMENTS, name), self.place.path("recorded.db"))
        return "recorded.db"

    def export(self, *words, **options):
        return self.apo("export", "--dispatch", *words, **options)

    def output_of(self, code):
        self.place.write("main.cpp", code)
        built = self.place.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"])
        self.assertEqual(built.code, 0, built.err)
        return self.place.run([self.place.path("main")]).out

    def test_the_recorded_journal_becomes_a_header_that_compiles_and_answers(self):
        ran = self.export("--journal", self.recorded(), "--output", "table", "--fallback",
                          "e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]", "--with-sources")
        self.said(ran.out, "cuda_best[SEQUENCES=11]")
        folder = "e88_backward/cuda_best-c2cbe94b4830"
        self.assertEqual(self.output_of(r"""#include "table/e88_backward_dispatch.h"
#include "table/e88_forward_dispatch.h"
#include <cstdio>
int main() {
  using namespace apo_dispatch::e88_backward;
  const Axes axes{8, 128, 83, 32, 32, 1, 1};
  const Choice& choice = choose(axes);
  std::printf("%s %s %s\n", choice.variant.data(), choice.evidence.device.data(), choice.source_folder.data());
  const Plan plan = choice.plan(axes, kDevices[0]);
  std::printf("%d %d %d\n", static_cast<int>(plan.launches[0].grid[0]), static_cast<int>(plan.launches[0].block[0]),
              static_cast<int>(plan.launches[0].shared_bytes));
  std::puts(choose({1, 16, 3, 100, 100, 1, 1}).evidence.statement.data());
  std::puts(apo_dispatch::e88_forward::find({1, 16, 3, 100, 100, 1, 1}) == nullptr ? "none" : "?");
}
"""), f"e88_backward/cuda_best NVIDIA H200 {folder}\n61 352 226336\nunmeasured, correct by apo:requires\nnone\n")
        for name in ("cuda_best.cu", "e88_backward.args.h"):
            self.assertTrue(self.place.exists(f"table/{folder}/{name}"), name)

    def test_the_example_calls_the_kernel_that_the_dispatch_chose(self):
        self.export("binary_backward", "--journal", self.recorded("host-epyc/gradients/journal.db"), "--output",
                    "gradients", "--with-sources")
        example = self.place.run(["sh", source_path("examples", "weight_gradient", "run.sh"), "gradients"])
        self.assertEqual((example.code, example.out), (0, "binary_backward/vectorised: gradients are right\n"),
                         example.err)

    def test_json_is_one_document_and_the_same_as_the_file(self):
        ran = self.export("e88_backward", "--device", "NVIDIA H200", "--json", "--journal", self.recorded(), "--output",
                          "table")
        self.assertEqual(ran.out, self.place.read("table/e88_backward_dispatch.json"))
        [family] = ran.document["families"]
        row = family["devices"][0]["rows"][0]
        evidence = row["evidence"]
        self.assertEqual((row["class"], row["configuration"]["label"], evidence["experiment"]),
                         ("n32", "e88_backward/cuda_best[SEQUENCES=11]", 2))
        self.assertEqual(evidence["judgement"]["rule_version"], "apo-judge-1")
        self.assertEqual(len(evidence["certifications"]), 2)
        self.assertEqual(evidence["build"]["code_hash"][:8], "4756cd64")
        self.assertEqual(evidence["device"]["driver"], "580.159.04 (CUDA 13.0)")

    def test_a_recorded_class_with_two_answers_gives_each_size_the_kernel_of_its_nearest_workload(self):
        ran = self.export("--journal", self.recorded("nvidia-h200/agent/campaigns.db"), "--output", "table", "--json")
        best, proposal = ran.document["families"][0]["devices"][0]["rows"]
        self.assertEqual(best["evidence"]["statement"], "measured on NVIDIA H200 at b16_t512_h83_n32")
        self.assertEqual(best["evidence"]["stood_against"], proposal["configuration"])
        self.assertEqual(proposal["evidence"]["replaced"], best["configuration"])
        self.assertEqual(self.output_of("""#include "table/e88_backward_dispatch.h"
#include <cstdio>
int main() {
  for (const long long B : {4, 8, 12, 16}) {
    std::puts(apo_dispatch::e88_backward::choose({B, B < 16 ? 128 : 512, 83, 32, 32, 1, 1}).variant.data());
  }
}
"""), 2 * "e88_backward/proposal_27671155\n" + 2 * "e88_backward/cuda_best\n")  # the proposal was verified up to B = 8

    def test_a_judgement_that_was_recorded_again_on_another_gpu_decides_there(self):
        shutil.unpack_archive(os.path.join(EXPERIMENTS, "nvidia-h100", "replayed.tar.xz"), self.place.folder)
        self.export("--journal", "backward.db", "--output", "table", "--fallback", "e88_backward/cuda_simple")
        self.assertEqual(self.output_of(r"""#include "table/e88_backward_dispatch.h"
#include <cstdio>
int main() {
  using namespace apo_dispatch::e88_backward;
  for (const char* model : {"NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A100"}) {
    const Device device{"", model, model[7] == 'A' ? 80 : 90, 132, 232448, 1024};
    const Choice& choice = choose({16, 512, 83, 32, 32, 1, 1}, device);
    std::printf("%s: %s, %s\n", model, choice.variant.data(), choice.evidence.statement.data());
  }
}
"""), "NVIDIA H100 80GB HBM3: e88_backward/cuda_lane_tiling, measured on NVIDIA H100 80GB HBM3\n"
                         "NVIDIA H200: e88_backward/cuda_best, measured on NVIDIA H200\n"
                         "NVIDIA A100: e88_backward/cuda_simple, unmeasured, correct by apo:requires\n")

    def test_fallbacks_alone_need_no_journal(self):
        [family] = self.export("copy", "--fallback", "copy/simple", "--json").document["families"]
        self.assertEqual((family["devices"], len(family["fallbacks"])), ([], 1))
        self.mistake("export --dispatch copy --fallback copy/simple --output x --journal none.db".split(), "none.db")
        self.assertFalse(self.place.exists(".apo/journal.db"))

    def test_mistakes_say_what_is_needed(self):
        journal = self.recorded()
        self.apo("profile", "--journal", "empty.db", "--", "true")  # without campaigns and experiments
        for line, said in (("--json", "apo export --dispatch"),
                           ("--dispatch", "--output is missing"),
                           ("--dispatch --output -", "is not a folder"),
                           ("--dispatch e88_backwrd --json", "did you mean 'e88_backward'"),
                           ("--dispatch --device NVIDIA_H20 --json", "did you mean 'NVIDIA H200'"),
                           ("--dispatch copy --json", "'apo run copy "),
                           ("--dispatch e88_backward --json --fallback copy/simple", "fits no exported table"),
                           ("--torch e88_backward --json", "--output is missing"),
                           ("--torch e88_backwrd --output op", "did you mean 'e88_backward'"),
                           ("--torch copy --output op", "'apo run copy "),
                           ("--dispatch --json --journal none.db", "journal"),
                           ("--dispatch --json --journal empty.db", "'apo run --iterations")):
            with self.subTest(line):
                words = [word.replace("_H20", " H20") for word in line.split()]
                ran = self.apo("export", *words, *([] if "--journal" in words else ["--journal", journal]), code=1)
                self.said(ran.err, said)
        self.assertFalse(self.place.exists("op"))

    def test_a_folder_that_cannot_be_written_gets_nothing(self):
        journal = self.recorded()
        self.place.write("file", "not a folder")
        self.mistake(["export", "--dispatch", "--journal", journal, "--output", "file/table"], "file/table", code=2)
        # The last of the files cannot be written: none of them changes.
        self.place.write("table/e88_backward_dispatch.json", "old")
        os.mkdir(self.place.path("table/e88_forward_dispatch.h"))
        self.mistake(["export", "--dispatch", "--journal", journal, "--output", "table"], "e88_forward_dispatch.h",
                     code=2)
        self.assertEqual(self.place.read("table/e88_backward_dispatch.json"), "old")
        self.assertEqual(len(os.listdir(self.place.path("table"))), 2, "a temporary file was left")


class OnThisDevice(CommandTest):
    def export(self):
        ran = self.apo("export", "--dispatch", "scaled", "--on-this-device", "--output", "table")
        [family] = json.loads(self.place.read("table/scaled_dispatch.json"))["families"]
        return ran, [device["device"]["model"] for device in family["devices"]]

    def test_what_was_measured_elsewhere_is_judged_again_here_once(self):
        for name, text in (("scaled.h", SCALED), ("slow.cpp", SLOW), ("fast.cpp", FAST)):
            self.place.write(name, text)
        self.apo("register", "scaled.h")
        self.apo("try", "scaled", "slow.cpp")
        [tried] = self.json("try", "scaled", "fast.cpp", code=None)["verdicts"]
        if tried["verdict"] != "accepted":
            self.skipTest("this machine was too busy to tell one pass from eight")
        harm(self.place.path(".apo/journal.db"), ANOTHER_MACHINE)
        ran, models = self.export()
        self.said(ran.err, "again, as experiment 2")
        self.said(ran.out, "measured on Another CPU: experiment 1")
        is_decided = self.json("show", "2")["judgement"]["verdict"] == "accepted"
        self.assertEqual(len(models), 2 if is_decided else 1)
        ran, again = self.export()
        self.not_said(ran.err, "again")
        self.assertEqual(again, models)


main()

# tests/examples/e88_lm_program_test.py - the program of examples/e88_lm: its lines, its mistakes, its kernels on the CPU
# executor, and itself on a GPU.
import json
import os
import shutil
import time
import unittest

from apo_test import BINARY, CommandTest, binary, main, source_path

FOLDER = source_path("examples", "e88_lm")
ON_GPU = os.path.join(BINARY, "e88_lm", "e88_lm")


def lines_of(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


class E88LmProgram(CommandTest):
    def program(self, *flags, **environment):
        return self.place.run([binary("e88_lm_program"), *"--device host --dim 16 --depth 1 --heads 2 --state 8 --batch 2"
                               .split(), "--length", "16", *flags, source_path("harness")], environment)

    def test_prints_a_line_a_step_and_the_environment_wins(self):
        ran = self.program("--steps", "50", "--seed", "1", APO_STEPS="5", APO_WARMUP_STEPS="2", APO_SEED="7")
        self.assertEqual(ran.code, 0, ran.err)
        lines = lines_of(ran)
        self.assertEqual([line["apo_step"] for line in lines], [1, 2, 3, 4, 5])
        for line in lines:
            self.assertGreater(line["seconds"], 0)
            self.assertGreater(line["loss"], 1)
        same = lines_of(self.program("--steps", "5", "--seed", "7"))
        self.assertEqual([line["loss"] for line in same], [line["loss"] for line in lines])

    def test_the_speed_of_the_summary_leaves_the_warm_up_out(self):
        self.said(self.program("--steps", "5", "--warmup-steps", "2").err, "after the warm-up 3 steps")

    def test_a_time_in_place_of_steps_begins_no_step_after_it(self):
        begin = time.monotonic()
        ran = self.program("--steps", "1", APO_SECONDS="0.3")
        self.assertGreater(time.monotonic() - begin, 0.3)
        self.assertEqual(ran.code, 0, ran.err)
        seconds = [line["seconds"] for line in lines_of(ran)]
        self.assertLess(sum(seconds[:-1]), 0.3)

    def test_a_rate_that_diverges_shows_its_nan_and_ends_with_an_error(self):
        ran = self.program("--rate", "1e37", "--rate-steps", "0", "--steps", "20")
        self.assertEqual(ran.code, 2)
        self.said(ran.err, "is not finite")
        self.assertRegex(ran.out.splitlines()[-1], '"apo_step".*(nan|inf)')

    def test_mistakes_are_named_with_their_fix(self):
        for flags, said in (("--dimm 8", "unknown flag '--dimm'"), ("--dim 12", "multiple of 8"),
                            ("--dim many", "needed a whole number"), ("--steps 0", "at least 1"),
                            ("--steps -3", "at least 1"), ("--rate nan", "at least 0"), ("--rate inf", "at least 0"),
                            ("--seed 99999999999999999999", "whole number"), ("--device tpu", "needed cuda or host"),
                            ("--resume", "--checkpoint FILE"), ("--check", "--check needs --device cuda"),
                            ("--prepare", "--prepare needs --device cuda"), ("--device cuda", "without CUDA")):
            with self.subTest(flags):
                ran = self.program(*flags.split())
                self.assertEqual((ran.code, ran.out), (1, ""), ran.err)
                self.said(ran.err, said)
        ran = self.program(APO_STEPS="soon")
        self.assertEqual(ran.code, 1)
        self.said(ran.err, "APO_STEPS is 'soon'")


class E88LmKernels(CommandTest):
    """Thread by thread against the references of their families; races, barriers and bounds are checked."""

    def test_are_right_on_the_cpu_executor(self):
        for kernel, workload in (("activate", "r37_w160"), ("activate_backward", "r37_w160"), ("add_norm", "r5_d4104"),
                                 ("decay", "r37_h5"), ("decay_backward", "r300_h130"), ("embedding", "r37_d200"),
                                 ("loss", "r37"), ("norm_backward", "r5_d4104"), ("norm_backward", "r300_d8"),
                                 ("optimizer", "n5000")):
            with self.subTest(kernel=kernel, workload=workload):
                path = os.path.join(FOLDER, "kernels", kernel)
                self.apo("verify", "--file", path + ".cu", "--families", path + ".h", "--on", "cpu", "--no-sanitizers",
                         "--workload", workload)


class E88LmGpu(CommandTest):
    def setUp(self):
        super().setUp()
        smi = self.place.run(["nvidia-smi", "-L"]).out if shutil.which("nvidia-smi") else ""
        if "NVIDIA H200" not in smi:
            raise unittest.SkipTest("the recorded tables are for an NVIDIA H200")
        if not os.path.exists(ON_GPU):
            raise unittest.SkipTest("E88LmBuild.GpuPathCompilesAndLinks builds the program")
        for direction in ("forward", "backward"):
            self.apo("export", "--dispatch", "e88_" + direction, "--journal",
                     source_path("experiments/nvidia-h200/b16_t512_h83_n32", direction + ".db"), "--output", "tables",
                     "--with-sources")

    def program(self, *words):
        ran = self.place.run([ON_GPU, *words], {"APO_DISPATCH": self.place.path("tables"),
                                                "E88_LM_CACHE": self.place.path("cache")})
        self.assertEqual(ran.code, 0, ran.both)
        return ran

    def losses(self, steps, *flags):
        ran = self.program(*flags, *"--dim 64 --depth 2 --heads 3 --batch 2 --length 48 --steps".split(), str(steps),
                           source_path("harness"))
        return [line["loss"] for line in lines_of(ran)]

    def test_every_operation_and_gradient_is_that_of_the_host(self):
        self.program("--check")

    def test_a_run_of_a_seed_gives_the_same_bits_and_so_does_its_graph(self):
        once = self.losses(6)
        self.assertEqual(len(once), 6)
        self.assertEqual(self.losses(6), once)
        self.assertEqual(self.losses(6, "--graph"), once)
        self.assertAlmostEqual(self.losses(6, "--fused-projection")[0], once[0], delta=0.01)

    def test_a_resumed_training_continues_bit_for_bit(self):
        whole = self.losses(6)
        self.losses(3, "--checkpoint", "model.e88")
        self.assertEqual(self.losses(6, "--checkpoint", "model.e88", "--resume"), whole[3:])


main()

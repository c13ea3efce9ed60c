# tests/cli/trust/verify_test.py - the commands that run candidates without judging their speed: verify, bench, doctor.
import array
import unittest

from apo_test import (HAS_GPU, RIGHT_COPY, CommandTest, HeldTurn, main, read_file, source_path, variant)

ELEMENT_THREE = ("y[i] = x[i]", "y[i] = i == 3 ? 7 : x[i]")


def read_npy(path):
    """The shape as it is written, and the values."""
    with open(path, "rb") as file:
        data = file.read()
    end = 10 + int.from_bytes(data[8:10], "little")
    header = data[10:end].decode()
    return header[header.index("("):header.index(")") + 1], array.array("d" if "<f8" in header else "f", data[end:])


class Verify(CommandTest):
    def test_a_right_variant_passes_both_gates_and_says_where_their_time_goes(self):
        ran = self.apo("verify", "copy/simple", "--json", "--verbose")
        document = ran.document
        self.assertEqual(document["outcome"], "valid")
        gate, sanitizers = document["gates"]
        self.assertEqual(sanitizers["gate"], "sanitizers")
        parts = {step["what"].split()[0] for step in gate["steps"]}
        self.assertLessEqual({"build", "calls", "inputs", "worker"}, parts)
        for step in gate["steps"]:
            self.assertTrue(step["begin"] <= step["end"] <= gate["seconds"], step)
        self.assertLessEqual(gate["seconds"], document["seconds"])
        self.said(ran.err, "calls on n1001")

    def test_a_wrong_variant_fails_with_the_element(self):
        self.place.write(".apo/variants/copy/wrong.cpp", variant("wrong", *ELEMENT_THREE))
        self.said(self.apo("verify", "copy/wrong", code=3).out, "y[3]")

    def test_of_a_build_that_fails_only_its_error_is_shown(self):
        self.place.write("broken.cpp", variant("broken", "y[i] = x[i]", "y[i] = nowhere"))
        out = self.apo("verify", "--file", "broken.cpp", "--workload", "n1001", code=3).out
        self.assertTrue(out.startswith("copy/broken on n1001 (typical): build_failed, "), out)
        self.said(out, "'nowhere' was not declared")
        self.not_said(out, "seed")

    def test_a_file_is_checked_without_being_registered(self):
        self.place.write("mine.cpp", variant("mine", *ELEMENT_THREE))
        self.place.write("bare.cpp", RIGHT_COPY)
        self.said(self.apo("verify", "--file", "mine.cpp", code=3).out, "y[3]")
        right = self.json("verify", "--file", "bare.cpp", "--family", "copy", "--no-sanitizers")
        self.assertEqual(right["variant"]["variant"], "copy/bare")
        self.said(self.apo("verify", "copy/bare", code=1).err, "unknown variant")

    def test_needs_a_variant_or_a_file(self):
        for line, said in (("", "no variant was given"), ("copy/simple --file x.cpp", "both"),
                           ("--file x.cpp", "x.cpp")):
            self.said(self.apo("verify", *line.split(), code=1).err, said)

    def test_progress_is_lines_for_a_program_that_asks(self):
        words = ("verify", "copy/simple", "--no-sanitizers", "--json")
        self.assertEqual(self.apo(*words).err, "", "not without being asked")
        ran = self.apo(*words, environment={"APO_PROGRESS": "lines"})
        self.assertTrue(ran.err.startswith("progress: verify copy/simple on "), ran.err)
        self.assertIn("gates", ran.document)

    def test_a_variant_that_supports_nothing_has_not_passed(self):
        self.place.write(".apo/variants/copy/never.cpp",
                         variant("never", "// apo:target", "// apo:requires n < 0\n// apo:target"))
        self.said(self.apo("verify", "copy/never", code=1).err, "supports none of the checked workloads",
                  "requires n < 0")

    def test_dumped_inputs_come_back_as_the_same_call_and_those_of_another_workload_are_refused(self):
        self.apo(*"verify copy/simple --workload n1001 --dump first".split())
        self.apo(*"verify copy/memcpy --workload n1001 --inputs first --dump second".split())
        shape, values = read_npy(self.place.path("first/y.npy"))
        self.assertEqual((shape, len(values)), ("(1001,)", 1001))
        self.assertEqual(values, read_npy(self.place.path("second/y.npy"))[1])
        self.assertEqual(values, read_npy(self.place.path("first/y.reference.npy"))[1])
        self.said(self.apo(*"verify copy/simple --workload n4k --inputs first".split(), code=1).err, "another shape")


class VerifyOnCpu(CommandTest):
    """Device variants."""

    def zoo(self, name):
        self.place.write(f".apo/variants/copy/{name}.cu",
                         read_file(source_path("tests", "zoo", "executor", name + ".cu")))

    def test_a_right_device_variant_passes_both_gates(self):
        document = self.json("verify", "copy/cuda_vector4", "--on", "cpu")
        self.assertEqual((document["outcome"], len(document["gates"])), ("valid", 2))

    def test_a_race_is_named_with_its_line_and_comes_back_with_the_seed(self):
        self.zoo("race_of_neighbours")
        words = "verify copy/race_of_neighbours --on cpu --seed 5".split()
        out = self.apo(*words, code=3).out
        self.said(out, "shared-memory race", "race_of_neighbours.cu:15", "--seed 5 runs the same again")
        self.assertEqual(out.split("(during")[0], self.apo(*words, code=3).out.split("(during")[0])

    def test_what_the_cpu_cannot_check_does_not_pass(self):
        self.zoo("raw_ptx")
        self.said(self.apo("verify", "copy/raw_ptx", "--on", "cpu", code=3).out,
                  "not checkable on the CPU: PTX mov.u32")

    def test_mistakes_are_refused_with_the_way_out(self):
        for line, said in (("copy/cuda_simple --on tpu", "known: cpu"),
                           ("copy/simple --on cpu", "apo verify copy/simple"),
                           ("copy/cuda_simple --on cpu --workload n1001 --debug", "waits for Enter")):
            self.said(self.apo("verify", *line.split(), code=1).err, said)


SHORT = ("--workload", "n4k", "--benchmark_min_time=0.001")


class Bench(CommandTest):
    def test_measures_one_variant_as_one_json_document(self):
        for words in ((*SHORT, "--json"),
                      (*SHORT[:2], "--", "--benchmark_min_time=0.001", "--benchmark_format=json")):
            [one] = self.apo("bench", "copy/simple", *words).document["benchmarks"]
            self.assertEqual(one["name"], "copy/simple/n4k/manual_time")
            self.assertGreater(one["real_time"], 0)
            # 4096 floats are read and written: 32768 bytes a call.
            self.assertAlmostEqual(one["bytes_per_second"] * one["real_time"] * 1e-6, 32768, delta=1)
        self.assertFalse(self.place.exists(".apo/journal.db"), "bench needs no journal")

    def test_waits_for_who_measures_on_its_cpus(self):
        others = HeldTurn(self.place).end_when_waited_for()
        self.apo("bench", "copy/simple", *SHORT)
        self.assertTrue(others.waited_for, "it did not wait")

    def test_mistakes(self):
        for line, said in (("copy/simple --target cuda", "copy/simple is for target host, and --target says cuda"),
                           ("copy --target gpu", "gpu"),
                           ("copy --benchmark_filter=no_such_name", "--benchmark_list_tests")):
            self.said(self.apo("bench", *line.split(), code=1).err, said)

    def test_a_candidate_that_crashes_is_reported_next_to_the_others(self):
        self.place.write(".apo/variants/copy/crash.cpp", variant("crash", "y[i] = x[i]", "__builtin_trap()"))
        crashed, other = self.json("bench", "copy/crash", "copy/simple", *SHORT, code=3)["benchmarks"]
        self.assertTrue(crashed["error_occurred"])
        self.assertGreater(other["real_time"], 0)


@unittest.skipUnless(HAS_GPU, "no GPU here")
class BenchOnAGpu(CommandTest):
    def test_times_a_device_variant_by_events(self):
        for cache in ("cold", "warm"):
            device, _ = self.json("bench", "copy/cuda_simple", "copy/simple", "--workload", "n64m", "--cache", cache,
                                  "--benchmark_min_time=0.01")["benchmarks"]
            # 512 MiB moved: no GPU does it in 20 us, and one that takes 10 ms is no GPU.
            self.assertTrue(20 < device["real_time"] < 10e3, device)


class Doctor(CommandTest):
    def test_finds_the_host_working_and_leaves_nothing_behind(self):
        document = self.json("doctor")
        self.assertTrue(document["host_works"])
        for check in document["checks"]:
            self.assertTrue(check["state"] == "ok" or check["fix"] != "", check)
        self.assertLessEqual({"compiler", "isolated worker", "sanitizers", "journal", "cuda driver"},
                             {check["name"] for check in document["checks"]})
        self.assertFalse(self.place.exists(".apo"))

    def test_without_a_compiler_says_how_to_get_one(self):
        self.said(self.apo("doctor", code=2, environment={"PATH": "/nowhere"}).out, "apt-get install g++")


main()

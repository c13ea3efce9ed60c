# tests/cli/look/profile_test.py - `apo profile -- COMMAND`, `apo research`, and recorded profiles.
import array
import json
import os
import shutil
import struct

from apo_test import CommandTest, binary, main, read_file, source_path

GUEST = binary("guest_program")
FAKE_CUPTI = {"APO_CUPTI_LIBRARY": binary("libfake_cupti.so")}
OWN_OUTPUT = "the guest's own output\n"
DISTINCT = "SELECT name, category, calls, total_ns FROM application_work ORDER BY name"
RANGES = ("SELECT r.path, r.entered, r.calls, r.total_ns, r.own_ns, sum(c.calls) FROM application_range r"
          " JOIN application_range_category c ON c.profile = r.profile AND c.position = r.position"
          " GROUP BY r.position ORDER BY r.position")


class ProfileTest(CommandTest):
    def profile(self, *words, code=0):
        return self.apo("profile", *words, code=code, environment=FAKE_CUPTI)


class ProfileApplication(ProfileTest):
    def test_says_that_nothing_was_launched(self):
        self.said(self.apo("profile", "--", "/bin/true").out, "nothing was launched", "no process started CUDA")

    def test_shows_kernels_categories_and_gaps_and_keeps_them_in_the_journal(self):
        out = self.profile("--", GUEST, "exit", "10").out
        self.assertTrue(out.startswith(OWN_OUTPUT), "the command's output comes first")
        self.said(out, "scale(float*)", "sgemm", "GEMM", "50 %", "2.00x", "idle 89 %", "gaps, the longest of them")
        self.assertEqual(self.json("query", "--sql", DISTINCT)["rows"],
                         [["scale(float*)", "other", 5, 500], ["sgemm", "GEMM", 5, 500]])

    def test_json_is_one_document_and_the_commands_output_goes_to_stderr(self):
        ran = self.profile("--json", "--", GUEST, "fail", "10", code=1)
        self.assertTrue(ran.err.startswith(OWN_OUTPUT + "apo: the command failed with exit code 3\n"), ran.err)
        document = ran.document  # the profile is kept all the same
        self.assertEqual([document[key] for key in ("profile", "exit_code", "total_ns", "busy_ns")],
                         [1, 3, 1000, 1000])
        self.assertEqual(len(document["work"]), 2)
        self.assertEqual(sum(category["total_ns"] for category in document["categories"]), 1000)
        self.assertTrue(document["processes"][0]["complete"])

    def test_output_leaves_both_outputs_to_the_command(self):
        ran = self.profile("--json", "--output", "profile.json", "--", GUEST, "exit", "4")
        self.assertEqual((ran.out, ran.err), (OWN_OUTPUT, ""))
        self.assertEqual(len(json.loads(self.place.read("profile.json"))["work"]), 2)

    def test_the_commands_own_options_are_its_own(self):
        document = self.apo("profile", "--json", "--", "sh", "-c", "exit 9", "--json", "--", code=1).document
        self.assertEqual((document["exit_code"], document["command"]), (9, "sh -c exit 9 --json --"))

    def test_tells_which_signal_ended_the_command(self):
        command = ("--", "sh", "-c", "kill -SEGV $$")
        document = self.apo("profile", "--json", *command, code=1).document
        self.assertEqual((document["signal"], document["exit_code"]), (11, None))
        text = self.apo("profile", *command, code=1)
        self.said(text.out, "ended by SIGSEGV")
        self.said(text.err, "apo: the command was ended by SIGSEGV")

    def test_categories_come_from_a_file_and_a_wrong_one_is_told_before_the_command_runs(self):
        self.place.write("rules.json", '{"categories": [{"name": "mine", "pattern": "scale|gemm"}]}')
        words = ("--json", "--categories", "rules.json", "--")
        [category] = self.profile(*words, GUEST, "exit", "10").document["categories"]
        self.assertEqual((category["name"], category["ceiling"]), ("mine", None))  # all of the time: no bound
        self.place.write("rules.json", "{}")
        self.said(self.profile(*words, "touch", "ran", code=1).err, "rules.json")
        self.assertFalse(self.place.exists("ran"))

    def test_an_output_that_cannot_be_written_is_told_before_the_command_runs(self):
        for output in ("/dev/null", "/proc/absent", "."):
            self.said(self.profile("--output", output, "--", "touch", "ran", code=2).err, output)
        self.assertFalse(self.place.exists("ran"))
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_mistakes_are_named(self):
        for line, said in (("--", "no command after '--'"),
                           ("-- no-such-program", "there is no program 'no-such-program'"),
                           ("copy/simple -- true", "were given")):
            self.mistake(["profile", *line.split()], said)
        self.mistake(["profile", "--", "true"], "another profiler",
                     environment={"CUDA_INJECTION64_PATH": "/another/tool.so"})
        self.assertFalse(self.place.exists(".apo"), "a mistake must not make a journal")

    def test_a_journal_that_cannot_be_written_does_not_cost_the_result(self):
        self.place.write("journal.db", "my notes, not an SQLite file at all")
        self.said(self.profile("--journal", "journal.db", "--", GUEST, "exit", "10").out, "scale(float*)",
                  "not kept in the journal")


class RecordProgram(ProfileTest):
    def record(self, *words, code=1):
        return self.apo("record", *words, "--", GUEST, "exit", "10", code=code, environment=FAKE_CUPTI)

    def test_without_a_kernel_lists_them(self):
        self.said(self.record(code=0).out, "scale(float*)", "sgemm", "apo record --kernel NAME --nth K -- COMMAND")

    def test_a_launch_that_never_comes_is_named(self):
        self.said(self.record("--kernel", "softmax").err, "cannot be recorded: the program launched 'softmax' 0 times")
        self.said(self.record("--range", "step").err, "cannot be recorded: the program entered no NVTX range 'step'")
        self.said(self.record("--kernel", "void scale<float>(float*)", "--nth", "9").err,
                  "launched 'scale' 5 times, not 9")

    def test_without_a_driver_the_launch_is_no_call(self):
        self.said(self.record("--kernel", "scale", "--nth", "2").err, "cannot be recorded: ", "driver")
        self.assertEqual(os.listdir(self.place.folder), [])

    def drawn(self, recorded, draws):
        """What the reference of a recorded family gives for as many seeds."""
        os.makedirs(self.place.path("record"), exist_ok=True)
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".ljust(117) + "\n"
        with open(self.place.path("record", "x.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack("<3f", *recorded))
        folders = [self.place.path(f"draw{seed}") for seed in range(draws)]
        for seed, folder in enumerate(folders):
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "axes.json"), "w", encoding="utf-8") as file:
                json.dump({"fill": ["x"], "seed": seed, "tensors": {"x": {"dtype": "f32"}}}, file)
        said = self.place.apo("record", "--answer", self.place.path("record"), folders[0],
                              stdin="".join(folder + "\n" for folder in folders[1:])).out
        self.assertEqual(said, "apo:next\n" * draws)
        values = []
        for folder in folders:
            with open(os.path.join(folder, "x.npy"), "rb") as file:
                values.append(tuple(array.array("d", file.read()[-8 * 3:])))
        return values

    def test_every_draw_multiplies_the_recorded_values_by_a_half_to_three_halves(self):
        first, second = self.drawn((1, -2, 0), 2)
        self.assertNotEqual(first, second)
        for drawn in (first, second):
            for value, recorded in zip(drawn, (1, -2, 0)):
                self.assertAlmostEqual(value, recorded, delta=abs(recorded) / 2)

    def test_a_tensor_of_zeros_has_other_numbers_in_some_draws_and_stays_in_others(self):
        draws = self.drawn((0, 0, 0), 20)
        self.assertIn((0, 0, 0), draws)
        others = [drawn for drawn in draws if any(drawn)]
        self.assertEqual(len(others), len(set(others)))
        self.assertGreater(len(others), 5)
        self.assertTrue(all(0 <= value <= 1 for drawn in others for value in drawn))

    def test_mistakes_are_told_before_the_command_runs(self):
        self.said(self.apo("record", code=1).err, "there is no command after '--'")
        for words, said in [(("--kernel", "scale", "--range", "step"), "excludes"), (("--nth", "2"), "requires"),
                            (("--kernel", "scale", "--elements", "x"), "--elements 'x' is no NAME=NUMBER"),
                            (("--kernel", "scale", "--source", "nowhere.cu"), "nowhere.cu")]:
            ran = self.record(*words)
            self.said(ran.err, said)
            self.assertNotIn(OWN_OUTPUT, ran.out)


class ProfileRanges(ProfileTest):
    def test_of_nvtx_are_kept_too(self):
        if not self.profile("--json", "--", GUEST, "ranges", "10").document["ranges"]:
            self.skipTest("built without NVTX's header")
        self.assertEqual(self.json("query", "--sql", RANGES)["rows"],
                         [["step", 1, 5, 500, 300, 5], ["step / forward", 1, 2, 200, 200, 2]])


class RecordedProfiles(CommandTest):
    """Of a GPU's journal, read where there is no such GPU; it stays as it is."""

    @classmethod
    def setUpClass(cls):
        recorded = source_path("experiments/nvidia-h200/b4_t512_h32_n128/forward.db")
        cls.before = read_file(recorded)
        shutil.copy(recorded, cls.share_place().path("forward.db"))

    def recorded(self, *words, code=0, journal="forward.db"):
        ran = self.apo(*words, "--recorded", "--journal", journal, code=code)
        self.assertEqual(self.place.read("forward.db"), self.before)
        return ran

    def test_one_is_shown_with_the_machine_that_it_is_of(self):
        ran = self.recorded("profile", "e88_forward/cuda_simple")
        self.said(ran.err, "e88_forward/cuda_simple", "as profiled on NVIDIA H200 (GPU-")
        self.said(ran.out, "on b4_t512_h32_n128, cold caches, 132 SMs", "Hottest lines", "at most")
        document = self.recorded("profile", "e88_forward/cuda_simple", "--json").document
        self.assertEqual(document["machine"]["model"], "NVIDIA H200")

    def test_two_are_explained(self):
        ran = self.recorded("explain", "e88_forward/cuda_simple", "e88_forward/cuda_wide_tiling[BLOCKS=1,COLUMNS=4]")
        self.said(ran.out, "on b4_t512_h32_n128", "causes of the difference, largest first")

    def test_research_looks_from_the_last_campaign(self):
        self.said(self.recorded("research", "e88_forward").out,
                  "e88_forward/cuda_wide_tiling[BLOCKS=1,COLUMNS=4] on b4_t512_h32_n128 takes ",
                  "what its time goes to")

    def test_what_is_not_there_is_said_with_what_is(self):
        for line, *parts in [
                ("profile e88_forward/cuda_simple --cache warm", "has no such profile of e88_forward/cuda_simple",
                 "it has e88_forward/cuda_simple on ", "b4_t512_h32_n128 with cold caches", "on GPU-"),
                ("profile copy/simple", "no such profile of copy/simple", "the view profiles of 'apo query --sql'"),
                ("research copy --target cuda", "has no campaign of copy for target cuda")]:
            self.said(self.recorded(*line.split(), code=1).err, "forward.db'", *parts)
        self.said(self.recorded("profile", "e88_forward/cuda_simple", journal="none.db", code=1).err, "none.db")


class Research(CommandTest):
    def test_prints_the_brief_of_the_next_iteration_and_judges_nothing(self):
        words = "research copy --workload n4k --target host".split()
        self.said(self.apo(*words).out, "copy/simple on n4k takes ", "what its time goes to", "to try, in this order",
                  "copy/streaming", "% apo:predict", "left out: ")
        brief = self.json(*words)
        self.assertEqual(brief["incumbent"]["variant"], "copy/simple")
        self.assertTrue(brief["ranked"])
        self.not_said(self.apo("query").out, "copy/")  # nothing was judged

    def test_mistakes_are_named(self):
        self.said(self.apo("research", code=1).err, "no family was given")
        self.said(self.apo("research", "coppy", code=1).err, "did you mean 'copy'")


main()

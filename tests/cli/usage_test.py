# tests/cli/usage_test.py - help, and what a person who mistypes is told.
import os
import shlex
import unittest

from apo_test import HAS_GPU, PROGRAM, CommandTest, main, read_file, source_path

GROUPS = {
    "Improve a kernel": "run scan try compare",
    "Bring kernels in, take results out": "new family register import record export",
    "Look at kernels and results": "list show query research report profile explain bench",
    "Trust a result": "verify replay gate selftest doctor",
    "Work with agents": "evaluate mcp",
    "Use many devices": "worker",
}


class Usage(CommandTest):
    def test_help_lists_every_command_in_a_group(self):
        groups = {}
        for line in self.apo("--help").out.splitlines():
            if line.endswith(":") and line != "Options:":
                commands = groups.setdefault(line[:-1], [])
            elif groups and line.startswith("  ") and not line.startswith("   "):
                commands.append(line.split()[0])
        self.assertEqual({heading: " ".join(commands) for heading, commands in groups.items()}, GROUPS)
        self.assertEqual(list(groups), list(GROUPS))

    def test_every_command_has_help_that_names_what_an_option_excludes_only_where_that_is_short(self):
        for command in " ".join(GROUPS.values()).split():
            with self.subTest(command):
                ran = self.apo(command, "--help")
                self.said(ran.out, "Usage: apo " + command, "--journal",
                          "add the kernel family of this file, FILE.h")
                self.assertEqual(ran.err, "")
                self.not_said(ran.out, "Excludes:", " in [")
                for line in ran.out.split("\n\n\n")[0].splitlines():
                    self.assertLessEqual(len(line), 110, line)  # names may be longer than their column
        self.said(self.apo("compare", "--help").out, "\nOptions for two commands:\n  --command-a TEXT ",
                  "--runs INT (1 to 100)")
        self.said(self.apo("gate", "--help").out, "(default: 2%; of a suite none: any slowdown that is")
        self.said(self.apo("query", "--help").out, *[f"\n  {key} " for key in (
            "family", "verdict", "technique", "speedup", "since", "metric:NAME")])

    def test_help_and_version_leave_nothing_behind(self):
        self.assertTrue(self.apo("--version").out.startswith("apo "))
        self.apo("list")
        self.apo("query", "--help")
        self.apo("report", code=1)
        self.assertFalse(self.place.exists(".apo"))

    def test_a_comparison_inside_a_step_or_as_a_graph_names_what_it_lacks(self):
        self.place.write("other.step", "not ours")
        for words, said in (
                (["--launch", "warp"], "unknown launch form 'warp'"),
                (["--launch", "graph"], "--launch graph is of what a GPU is given"),
                (["--at", "axpy"], "--inside"),
                (["--inside", "absent.step"], "cannot read 'absent.step'"),
                (["--inside", "other.step"], "'other.step' is no recorded step, or a part of one")):
            with self.subTest(said):
                self.said(self.apo("compare", "copy/simple", "copy/memcpy", *words, code=1).err, said)

    def test_list_is_one_json_document(self):
        document = self.json("list", "copy")
        self.assertEqual(document["families"][0]["name"], "copy")
        self.assertIn("copy/simple", [variant["id"] for variant in document["families"][0]["variants"]])
        self.assertEqual(document["problems"], [])

    def test_list_shows_a_familys_contract(self):
        self.said(self.apo("list", "copy").out, "n4k", "ragged", "typical, wide", "KILOBYTES_PER_THREAD 256,64,1024",
                  "streaming-stores")

    def test_show_prints_the_source_of_a_variant(self):
        source = read_file(source_path("variants", "copy", "simple.cpp"))
        self.said(self.apo("show", "copy/simple", "--source").out, source)
        self.assertEqual(self.json("show", "copy/simple", "--source")["source"], source)


# Words, and what stderr must hold of place, name and hint.
UNKNOWN_NAMES = [
    ("", "no command given", "apo --help"),
    ("lits", "unknown command 'lits'", "did you mean 'list'"),
    ("list --jsn", "--jsn", "apo list --help"),
    ("--json list", "'--json' stands before the command"),
    ("--fast", "'--fast'", "apo --help"),
    ("list copi", "unknown family 'copi'", "did you mean 'copy'"),
    ("list copy/simple", "'copy/simple' is no family", "apo show copy/simple"),
    ("run e88_backwrd", "e88_backwrd", "did you mean 'e88_backward'"),
    ("bench copi", "unknown family 'copi'", "did you mean 'copy'"),
    ("show copy/simpel", "unknown variant 'copy/simpel'", "did you mean 'copy/simple'"),
    ("verify copy/simpel", "unknown variant", "did you mean 'copy/simple'"),
    ("compare copy/simple copy/memcp", "did you mean 'copy/memcpy'"),
    ("profile copy/simpel", "did you mean 'copy/simple'"),
    ("bench copy/simpel", "did you mean 'copy/simple'"),
    ("verify copy/simple --workload n4m", "unknown workload 'n4m'", "did you mean"),
    ("run copy --workload n4kk", "n4kk", "did you mean 'n4k'"),
    ("explain copy/simple copy/memcp", "did you mean 'copy/memcpy'"),
    ("explain copy/simple", "b is required", "Usage: apo explain [OPTIONS] a b", "'apo explain --help'"),
    ("explain copy/simple e88_backward/simple", "differ in family or target", "apo list copy"),
    ("explain copy/simple copy/memcpy --cache cool", "known: cold, warm"),
    ("explain copy/simple copy/memcpy --workload n4kk", "did you mean 'n4k'"),
    ("profile copy/simple --metrics dram__bytes_read.sum", "--metrics", "copy/simple is for target host"),
    ("profile", "no variant was given", "--roofs"),
    ("profile --roofs --target gpu", "unknown target 'gpu'", "known: auto, host, cuda"),
    ("profile copy/simple --workload n4kk", "did you mean 'n4k'"),
    ("bench copy --workload n4kk", "did you mean 'n4k'"),
    ("verify copy/simple --regime tipical", "did you mean 'typical'", "known:"),
    ("query fmily=copy", "unknown key 'fmily'", "did you mean 'family'"),
    ("query verdict=acepted", "did you mean 'accepted'"),
    ("query --sort -speedupp", "speedupp", "did you mean 'speedup'"),
    ("query --columns id,canditate", "did you mean 'candidate'"),
    ("lessons --family copy", "'lessons' is no longer a command", "apo query --lessons"),
    ("application compare a b --application c.json", "'application'", "apo compare A B --application FILE"),
    ("query --lessons verdict=revertd", "did you mean 'reverted'"),
    ("report --format htm", "unknown format 'htm'", "did you mean 'html'"),
    ("bench --benchmark_format=jsn", "unknown format 'jsn'", "did you mean 'json'"),
    ("profile copy/simple --cache cool", "unknown cache policy 'cool'", "cold, warm"),
    ("run copy --cache cool", "cool"),
    ("run copy --judge standart", "standart", "standard"),
    ("run copy --target hst", "unknown target 'hst'"),
]

BAD_VALUES = [
    ("verify copy/parallel[KILOBYTES_PER_THREAD=0]", "KILOBYTES_PER_THREAD", "256"),
    ("verify copy/parallel[KILOBYTES_PER_THREAD=-64]", "KILOBYTES_PER_THREAD", "256"),
    ("verify copy/parallel[KILOBYTES_PER_THREAD=many]", "NAME=VALUE"),
    ("verify copy/parallel[KILOBYTES=64]", "KILOBYTES"),
    ("profile copy/parallel[KILOBYTES_PER_THREAD=64", "NAME=VALUE"),
    ("verify copy/parallel[KILOBYTES_PER_THREAD=64,KILOBYTES_PER_THREAD=256]", "'KILOBYTES_PER_THREAD' is set twice"),
    ("bench copy/simple[A=1]", "A"),
    ("run copy --budget 0", "--budget '0'", "10m"),
    ("run copy --budget=-5m", "--budget '-5m'", "10m"),
    ("run copy --budget soon", "--budget 'soon'", "10m"),
    ("run copy --budget 10y", "--budget '10y'"),
    ("run copy --budget 10", "--budget '10' has no unit", "10s, 10m or 10h"),
    ("run copy --solo-run 1ms", "--solo-run is '1ms'", "10ms", "2s"),
    ("run copy --solo-run long", "--solo-run is 'long'"),
    ("run copy --iterations 0", "--iterations"),
    ("run copy --iterations -3", "--iterations"),
    ("run copy --iterations few", "--iterations", "few"),
    ("verify copy/simple --seed x", "--seed"),
    ("verify copy/simple --seed -1", "--seed", "'-1'"),
    ("verify copy/simple --seed 0", "--seed", "'0'", "from 1"),
    ("verify copy/simple --seed 18446744073709551616", "18446744073709551616"),
    ("run ''", "'family' has an empty value"),
    ("report --output ''", "'--output' has an empty value"),
    ("profile copy/simple --output x", "--output", "need a command after '--'"),
    ("query --limit -1", "'-1' is no limit"),
    ("query --limit some", "'some' is no limit"),
    ("query 'speedup>fast'", "'fast'", "not a number"),
    ("query speedup", "'speedup' is not a predicate"),
    ("query family=copy --sql 'SELECT 1'", "--sql", "family=copy"),
    ("query --csv --json", "--csv", "--json"),
    ("show simple", "'simple'", "apo query", "apo list"),
    ("show copy/simple --samples", "--samples"),
    ("show 1 --diff", "--diff needs a variant", "apo show"),
    ("show copy/simple --source --diff", "--diff", "--source"),
    ("query --lessons --csv", "--lessons", "--csv"),
    ("compare copy/simple copy/memcpy --target host", "--target is for two commands"),
    ("compare a b --application c.json --workload n4k", "--application", "--workload"),
    ("compare a b --pairs 5", "--pairs", "--application"),
    ("register x.cpp --retire copy/x", "--retire", "file"),
    ("new mine --agents", "--agents", "name"),
    ("new", "name is required", "apo new --agents"),
    ("compare copy/simple e88_forward/simple", "two families"),
    ("run copy --campaign x.json", "--campaign"),
    ("run --workload n4k cpoy", "unknown family 'cpoy'", "did you mean 'copy'?"),
    ("run --campaign none.json", "none.json"),
    ("run a.json", "is no family", "--campaign a.json"),
    ("verify copy/simple --inputs nowhere", "nowhere", "--dump"),
    ("bench copy --fast", "unknown option '--fast'"),
    ("bench copy --benchmark_fast=1", "--benchmark_fast=1", "--benchmark_help"),
    ("list --families nowhere.so", "nowhere.so"),
]


class Mistakes(CommandTest):
    def test_say_what_is_wrong_and_what_to_do(self):
        for line, *parts in UNKNOWN_NAMES + BAD_VALUES:
            with self.subTest(line):
                ran = self.apo(*shlex.split(line), code=1)
                if "--json" in line:
                    self.assertEqual(ran.document["exit_code"], 1)
                else:
                    self.assertEqual(ran.out, "")
                self.assertTrue(ran.err.startswith("apo: "), ran.err)
                self.said(ran.err, *parts)
                self.assertFalse(self.place.exists(".apo/journal.db"), "a mistake must not make a journal")

    def test_with_json_a_failure_is_a_document_on_stdout_too(self):
        for line, said in [("query", "there is no journal"), ("query nokey=1", "unknown key 'nokey'"),
                           ("register", "file is required"), ("lits", "unknown command 'lits'"),
                           ("export --output ''", "'--output' has an empty value")]:
            with self.subTest(line):
                ran = self.apo(*shlex.split(line), "--json", code=1)
                self.assertIn(said, ran.document["error"])
                self.assertTrue(ran.err.startswith("apo: " + ran.document["error"]), ran.err)
                self.assertEqual(ran.document["exit_code"], 1)
                self.assertNotEqual(ran.document["hint"], "")

    def test_no_journal_yet_names_the_command_that_writes_one(self):
        for line in ("query", "query --sql 'SELECT 1'", "show 1", "report", "query --lessons"):
            with self.subTest(line):
                self.said(self.apo(*shlex.split(line), code=1).err, "there is no journal", "apo run")

    def test_a_journal_in_a_loop_of_links_is_no_error_of_ours(self):
        os.symlink("loop.db", self.place.path("loop.db"))
        self.said(self.apo("list", "copy", "--journal", "loop.db").err, "leads nowhere")
        self.not_said(self.apo("show", "copy/nowhere", "--journal", "loop.db", code=1).err, "internal error")

    def test_a_baseline_of_another_target_is_a_mistake_and_not_dropped(self):
        self.place.write("campaign.json", '{"family": "copy", "target": "cuda", "baseline": "copy/simple"}')
        for words in (["run", "--campaign", "campaign.json"],
                      ["run", "copy", "--target", "cuda", "--baseline", "copy/simple"]):
            self.said(self.apo(*words, code=1).err, "'copy/simple' is for target host", "runs on cuda",
                      "--target host")
        host = self.apo("run", "copy", "--target", "host", "--baseline", "copy/cuda_simple", code=1)
        self.said(host.err, "--target cuda")

    def test_a_campaign_file_that_names_its_target_keeps_it_under_auto(self):
        self.place.write("campaign.json", '{"family": "copy", "target": "host", "baseline": "copy/cuda_simple"}')
        self.said(self.apo("run", "--campaign", "campaign.json", code=1).err,
                  "target host, as the campaign file says")


class TroubleOfTheEnvironment(CommandTest):
    def test_doctor_names_a_folder_that_cannot_be_written(self):
        self.place.write(".apo", "")
        self.said(self.apo("doctor", code=2).out,
                  "broken  folder: nothing can be written to '.apo': Not a directory\n"
                  "        -> move that file away", "target host does not work here", "', built in a checkout; variants and")
        # For root, too, /proc takes no new folder.
        self.said(self.apo("doctor", "--journal", "/proc/.apo/journal.db", code=2).out,
                  "broken  folder: '.apo' cannot be created in '/proc'")

    def test_a_folder_for_temporary_files_that_would_mislead_the_judge_is_refused(self):
        for name in ("two\nlines", b"latin\xff"):
            folder = os.path.join(os.fsencode(self.place.folder), os.fsencode(name))
            os.mkdir(folder)
            ran = self.apo("verify", "copy/simple", "--workload", "n1001", code=2,
                           environment={"TMPDIR": os.fsdecode(folder)})
            self.said(ran.err, "set TMPDIR to a folder with another name")

    def sh(self, command):
        ran = self.place.run(["sh", "-c", command])
        self.assertEqual(ran.code, 2, ran.both)
        return ran.err

    def test_benchmarks_that_could_not_be_printed(self):
        self.said(self.sh(PROGRAM + " bench copy/simple --workload n1001 --benchmark_min_time=0.001 >/dev/full"),
                  "cannot write to standard output")

    def test_a_limit_on_files_is_told_and_kills_nobody(self):
        self.said(self.sh(f"ulimit -f 1; exec {PROGRAM} gate --store b.json e88_backward/simple"),
                  "cannot write 'b.json': File too large")
        self.assertFalse(self.place.exists("b.json"))


@unittest.skipIf(HAS_GPU, "this machine has a GPU")
class TargetCudaWithoutAGpu(CommandTest):
    def test_is_the_environments_trouble(self):
        for line in ("run e88_backward --target cuda", "bench copy --target cuda", "bench copy/cuda_simple"):
            self.assertTrue(self.mistake(line.split(), code=2).startswith("apo: "))

    def test_is_taken_from_the_baseline_under_auto(self):
        self.said(self.apo("run", "copy", "--baseline", "copy/cuda_simple", code=2).err,
                  "target cuda, that of the baseline copy/cuda_simple")


main()

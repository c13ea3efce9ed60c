# tests/project/setup_test.py - ./apo, tests/run and cmake/setup.sh in a copy where apt-get, sudo and cmake are fakes.
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = ["apo", "tests/run", ".ci/run", "cmake/setup.sh", "tests/project/lint.sh", "tests/project/format.sh",
           "tests/project/changed.sh", "tests/project/packages.sh"]
# All the tools that the scripts may use besides the fakes. PATH holds nothing else.
TOOLS = ["awk", "bash", "cat", "chmod", "dirname", "env", "find", "flock", "grep", "mkdir", "nproc", "readlink", "seq", "sleep",
         "tail", "touch"]

# Each fake appends what it was asked to $FAKE_LOG.
FAKES = {
    "apt-get": r'''
echo "apt-get $*" >>"$FAKE_LOG"
case "$*" in
  update*) touch "$FAKE_LOG.updated" ;;
  *) [ "${FAKE_APT:-works}" = works ] || { [ "$FAKE_APT" = stale ] && [ -e "$FAKE_LOG.updated" ]; } ||
       { echo "E: Unable to locate package"; exit 100; } ;;
esac
''',
    "dpkg-query": r'''
for package; do :; done
[[ " ${FAKE_MISSING:-} " == *" $package "* ]] && exit 1
echo 'install ok installed'
''',
    "id": 'echo "${FAKE_UID:-0}"\n',
    "sudo": 'echo "sudo $*" >>"$FAKE_LOG"\nexec "$@"\n',
    "cmake": r'''
echo "cmake $*" >>"$FAKE_LOG"
[ "$1" = --build ] || exit 0
while [ -e "$FAKE_LOG.hold" ]; do sleep 0.01; done
printf '[1/2] Building CXX object\ncompiler warns\n[2/2] Linking\n'
[ "${FAKE_BUILD:-works}" = works ] || { seq -f 'compiler says %g' 100; exit 1; }
mkdir -p build/release/bin
cat >build/release/bin/apo <<'PROGRAM'
#!/usr/bin/env bash
printf 'program:'; printf ' <%s>' "$@"; echo
exit "${FAKE_EXIT:-0}"
PROGRAM
chmod +x build/release/bin/apo
echo "built" >>"$FAKE_LOG"
''',
    "ctest": r'''
echo "ctest $*" >>"$FAKE_LOG"
[ "$1" != -N ] || { echo '  Test #3: AllDocuments'; exit 0; }
mkdir -p Testing/Temporary
cat >Testing/Temporary/LastTest.log <<'LOG'
Command: "/b/core_test" "--gtest_filter=-"
[ RUN      ] Sums.Add
[  FAILED  ] Sums.Add (3 ms)
[ RUN      ] Gpu.Counts
gpu_test.cpp:12: Skipped
there is no GPU

[  SKIPPED ] Gpu.Counts (0 ms)
Test Failed.
end time: now
Command: "/b/core_test" "--gtest_filter=-"
[ RUN      ] All/Sums.Hang/2
end time: now
Command: "/usr/bin/python3" "gate_test.py"
skipped Gate.test_gpu: there is no GPU
LOG
exit "${FAKE_EXIT:-0}"
''',
}


class Scripts(unittest.TestCase):
    def test_are_valid_bash(self):
        for script in SCRIPTS:
            subprocess.run(["bash", "-n", os.path.join(CHECKOUT, script)], check=True)

    def test_the_container_recipe_is_instructions_with_valid_bash(self):
        with open(os.path.join(CHECKOUT, "examples", "container", "Dockerfile"), encoding="utf-8") as file:
            lines = file.read().replace("\\\n", "").splitlines()
        for word, _, rest in (line.partition(" ") for line in lines if line and not line.startswith("#")):
            self.assertIn(word, ("ARG", "FROM", "COPY", "WORKDIR", "RUN", "ENV", "ENTRYPOINT"))
            if word == "RUN":
                subprocess.run(["bash", "-n", "-c", rest], check=True)

    def test_the_citation_has_the_version(self):
        texts = []
        for name in ("CMakeLists.txt", "CITATION.cff"):
            with open(os.path.join(CHECKOUT, name), encoding="utf-8") as file:
                texts.append(file.read())
        self.assertIn("\nversion: " + re.search(r"VERSION ([0-9.]+)", texts[0][texts[0].index("project("):])[1], texts[1])

    def test_shellcheck_finds_nothing(self):
        if not shutil.which("shellcheck"):
            print("skipped Scripts.test_shellcheck_finds_nothing: shellcheck is not installed", flush=True)
            self.skipTest("shellcheck is not installed")
        subprocess.run(["shellcheck", "--shell=bash", "--exclude=SC1091", *SCRIPTS], cwd=CHECKOUT, check=True)


class Setup(unittest.TestCase):
    """A checkout with the real scripts, no sources to speak of, and a PATH of our own."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="apo-setup"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for folder in ["tests", "cmake", "harness", "kernels", "journal", "reports", "bin", "elsewhere"]:
            os.mkdir(self.path(folder))
        for file in ["apo", "tests/run", "tests/summary.awk", "cmake/setup.sh", "CMakeLists.txt", "CMakePresets.json"]:
            shutil.copy(os.path.join(CHECKOUT, file), self.path(file))
        self.write("harness/main.cpp", "int main() {}\n")
        for tool in TOOLS:
            os.symlink(shutil.which(tool), self.path("bin", tool))
        for name, text in FAKES.items():
            self.write("bin/" + name, "#!/usr/bin/env bash\n" + text)
            os.chmod(self.path("bin", name), 0o755)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def call(self, script, *words, code=0, command=None, **environment):
        """Runs a script of the checkout from elsewhere: it finds its checkout by itself."""
        ran = subprocess.run(command or [self.path(script), *words], cwd="/", capture_output=True, check=False,
                             env={"PATH": self.path("bin"), "FAKE_LOG": self.path("log"), **environment})
        ran.stdout, ran.stderr = ran.stdout.decode(), ran.stderr.decode()
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def log(self):
        """What the fakes were asked so far, a line each."""
        return self.read("log").splitlines() if os.path.exists(self.path("log")) else []

    def change_a_source(self):
        later = time.time() + 3600
        os.utime(self.path("harness/main.cpp"), (later, later))

    def test_first_use_builds_and_becomes_the_program(self):
        ran = self.call("apo", "list", "two words", "", code=3, FAKE_EXIT="3")
        self.assertEqual(ran.stdout, "program: <list> <two words> <>\n")  # stdout belongs to the program alone
        self.assertEqual(self.log(), ["cmake --preset release", "cmake --build --preset release --target apo", "built"])

    def test_the_program_is_built_in_the_configuration_that_the_tests_left(self):
        presets = {one["name"]: one for one in json.loads(self.read("CMakePresets.json"))["configurePresets"]}
        self.assertEqual(presets["release"]["binaryDir"], presets["test"]["binaryDir"])
        self.assertNotIn("BUILD_TESTING", presets["release"]["cacheVariables"])

    def test_a_terminal_shows_how_far_the_build_is_on_one_line(self):
        ran = self.call("", command=[shutil.which("script"), "-qec", self.path("apo"), "/dev/null"], SHELL="/bin/sh")
        self.assertIn("\rapo: building [1/2] \rapo: building [2/2] \r\n", ran.stdout)
        self.assertNotIn("Linking", ran.stdout)
        self.assertIn("compiler warns\n[2/2] Linking\n", self.read("build/build.log"))

    def test_elsewhere_the_steps_of_a_build_are_in_its_log_alone(self):
        self.assertNotIn("[1/2]", self.call("apo").stderr)
        self.assertIn("[2/2] Linking", self.read("build/build.log"))

    def test_a_built_program_starts_at_once(self):
        self.call("apo")
        before = self.log()
        ran = self.call("apo", "list")
        self.assertEqual((ran.stdout, ran.stderr), ("program: <list>\n", ""))
        self.assertEqual(self.log(), before)

    def test_a_changed_source_is_built_once(self):
        self.call("apo")
        now = time.time()
        os.utime(self.path("build/release/bin/apo"), (now - 100, now - 100))
        os.utime(self.path("harness/main.cpp"), (now - 50, now - 50))
        before = len(self.log())
        for _ in range(2):
            self.call("apo")
            self.assertEqual(len(self.log()), before + 3)

    def test_a_server_of_agents_is_never_built_while_its_client_waits(self):
        unbuilt = self.call("apo", "mcp", code=2)
        self.assertEqual(unbuilt.stdout, "")
        self.assertIn("apo doctor' once", unbuilt.stderr)
        self.assertEqual(self.log(), [])
        self.call("apo")
        before = self.log()
        self.change_a_source()
        self.assertEqual(self.call("apo", "mcp", "--json").stdout, "program: <mcp> <--json>\n")
        self.assertEqual(self.log(), before)

    def test_through_a_symbolic_link_it_finds_its_checkout(self):
        os.symlink(self.path("apo"), self.path("elsewhere/apo"))
        self.assertEqual(self.call("elsewhere/apo", "list").stdout, "program: <list>\n")

    def test_only_missing_packages_are_installed(self):
        ran = self.call("apo", FAKE_MISSING="libspdlog-dev libssl-dev libgtest-dev clang-tidy")
        self.assertEqual(self.log()[0], "apt-get install -y -q --no-install-recommends libspdlog-dev libssl-dev")
        self.assertIn("installing libspdlog-dev libssl-dev", ran.stderr)

    def test_tests_install_their_packages_build_all_and_pass_arguments_on(self):
        self.call("tests/run", "-R", "Journal", FAKE_MISSING="libgtest-dev")
        lines = self.log()
        self.assertEqual(lines[0], "apt-get install -y -q --no-install-recommends libgtest-dev")
        self.assertEqual(lines[2], "cmake --build --preset test --target all")
        self.assertRegex(lines[4], r"^ctest .* -LE \^all\$ -R Journal$")

    def test_all_tests_leave_nothing_out(self):
        self.assertNotIn("Left", self.call("tests/run", "--all", "-R", "x").stdout)
        self.assertRegex(self.log()[-1], r"^ctest [^L]* -R x$")

    def test_tests_end_with_what_was_left_out_what_was_skipped_and_how_to_run_one_that_failed(self):
        out = self.call("tests/run", code=8, FAKE_EXIT="8").stdout
        self.assertIn("2 tests were skipped:\n    2  there is no GPU\n", out)
        self.assertIn("/b/core_test --gtest_filter='Sums.Add'\n"
                      "  /b/core_test --gtest_filter='All/Sums.Hang/2'  # did not end\nLeft", out)
        self.assertIn("Left to tests/run --all: 1 tests (AllDocuments).\n", out)

    def test_a_stale_package_list_is_updated_and_tried_again(self):
        self.call("apo", FAKE_MISSING="g++", FAKE_APT="stale")
        self.assertEqual([line.split()[1] for line in self.log()[:3]], ["install", "update", "install"])

    def test_a_failed_installation_shows_its_log_and_builds_nothing(self):
        ran = self.call("apo", code=2, FAKE_MISSING="g++", FAKE_APT="broken")
        self.assertIn("E: Unable to locate package", ran.stderr)
        self.assertIn("could not install g++", ran.stderr)
        self.assertFalse([line for line in self.log() if line.startswith("cmake")])

    def test_users_install_through_sudo(self):
        self.call("apo", FAKE_MISSING="g++", FAKE_UID="1000")
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get install", self.read("log"))

    def test_without_root_and_sudo_it_says_what_to_run(self):
        os.remove(self.path("bin/sudo"))
        ran = self.call("apo", code=2, FAKE_MISSING="g++ libssl-dev", FAKE_UID="1000")
        self.assertIn("as root run: apt-get install g++ libssl-dev", ran.stderr)
        self.assertEqual(self.log(), [])
        self.call("apo", FAKE_UID="1000")  # nothing missing needs no root

    def test_other_systems_are_told_what_is_needed_and_the_build_is_tried(self):
        os.remove(self.path("bin/dpkg-query"))
        ran = self.call("apo", "list")
        self.assertRegex(ran.stderr, "not a Debian system.*libsqlite3-dev")
        self.assertEqual(ran.stdout, "program: <list>\n")

    def test_a_failing_build_shows_the_end_of_its_log(self):
        ran = self.call("apo", "list", code=2, FAKE_BUILD="breaks")
        self.assertEqual(ran.stdout, "")
        self.assertIn("compiler says 100\n", ran.stderr)
        self.assertNotIn("compiler says 10\n", ran.stderr)
        self.assertIn("the whole log is " + self.path("build/build.log"), ran.stderr)
        self.call("apo")  # and the next try works

    def test_a_checkout_that_cannot_be_written_is_said_so(self):
        self.write("build", "a file where the folder has to be\n")
        self.assertIn("apo: cannot write to " + self.path("build"), self.call("apo", code=2).stderr)

    def test_a_second_set_up_waits_for_the_first(self):
        self.write("log.hold", "")  # the first build ends when this is gone
        ends = []
        first = threading.Thread(target=lambda: ends.append(self.call("apo", "first").stdout))
        first.start()
        while not any(line.startswith("cmake --build") for line in self.log()):
            self.assertTrue(first.is_alive())
            time.sleep(0.005)
        second = subprocess.Popen([self.path("apo"), "second"], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, env={"PATH": self.path("bin"), "FAKE_LOG": self.path("log")})
        self.assertIn("another set-up is running", second.stderr.readline())
        os.remove(self.path("log.hold"))
        first.join()
        self.assertEqual(ends, ["program: <first>\n"])
        self.assertEqual(second.communicate()[0], "program: <second>\n")
        # Not one step of the second came between the first one's build and its end.
        self.assertEqual(self.log()[2], "built")


if __name__ == "__main__":
    unittest.main(verbosity=2)

// tests/project/setup_test.cpp - ./apo, tests/run and cmake/setup.sh in a copy where apt-get, sudo and cmake are fakes.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const fs::path kRoot = APO_SOURCE_FOLDER;

// All the tools that the scripts may use besides the fakes. PATH holds nothing else.
const Words kTools = {"bash",  "cat",      "dirname", "env",  "find",  "flock", "grep", "mkdir",
                      "nproc", "readlink", "sleep",   "tail", "touch", "seq",   "chmod"};

// Each fake appends what it was asked to $FAKE_LOG.
const char* const kFakeAptGet = R"(#!/usr/bin/env bash
echo "apt-get $*" >>"$FAKE_LOG"
case "$*" in
  update*) touch "$FAKE_LOG.updated" ;;
  *) [ "${FAKE_APT:-works}" = works ] || { [ "$FAKE_APT" = stale ] && [ -e "$FAKE_LOG.updated" ]; } ||
       { echo "E: Unable to locate package"; exit 100; } ;;
esac
)";
const char* const kFakeDpkgQuery = R"(#!/usr/bin/env bash
for package; do :; done
[[ " ${FAKE_MISSING:-} " == *" $package "* ]] && exit 1
echo 'install ok installed'
)";
const char* const kFakeId = R"(#!/usr/bin/env bash
echo "${FAKE_UID:-0}"
)";
const char* const kFakeSudo = R"(#!/usr/bin/env bash
echo "sudo $*" >>"$FAKE_LOG"
exec "$@"
)";
const char* const kFakeCmake = R"(#!/usr/bin/env bash
echo "cmake $*" >>"$FAKE_LOG"
[ "$1" = --build ] || exit 0
sleep "${FAKE_BUILD_SECONDS:-0}"
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
)";
const char* const kFakeCtest = R"(#!/usr/bin/env bash
echo "ctest $*" >>"$FAKE_LOG"
)";

void write_program(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all);
}

// A checkout with the real scripts, no sources to speak of, and a PATH of our own.
class Setup : public ::testing::Test {
 protected:
  Setup() {
    for (const char* folder : {"tests", "cmake", "harness", "kernels", "journal", "reports", "bin"}) {
      fs::create_directories(checkout() / folder);
    }
    for (const char* file : {"apo", "tests/run", "cmake/setup.sh", "CMakeLists.txt", "CMakePresets.json"}) {
      fs::copy_file(kRoot / file, checkout() / file);
    }
    std::ofstream(checkout() / "harness" / "main.cpp") << "int main() {}\n";
    for (const std::string& tool : kTools) {
      const auto found = find_program(tool);
      if (!found) {
        throw std::runtime_error("this test needs " + tool);
      }
      fs::create_symlink(*found, bin() / tool);
    }
    write_program(bin() / "apt-get", kFakeAptGet);
    write_program(bin() / "dpkg-query", kFakeDpkgQuery);
    write_program(bin() / "id", kFakeId);
    write_program(bin() / "sudo", kFakeSudo);
    write_program(bin() / "cmake", kFakeCmake);
    write_program(bin() / "ctest", kFakeCtest);
  }

  fs::path checkout() const { return folder_.path(); }
  fs::path bin() const { return checkout() / "bin"; }

  ProcessResult call(const std::string& script, const Words& arguments = {}, const Words& environment = {}) const {
    Words argv = {(checkout() / script).string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    ProcessOptions options;
    options.working_folder = "/";  // the scripts find their checkout by themselves
    options.environment = {"PATH=" + bin().string(), "FAKE_LOG=" + log_path().string()};
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    return run_process(argv, options);
  }

  fs::path log_path() const { return checkout() / "log"; }

  // What the fakes were asked so far, a line each.
  Words log() const {
    Words lines = fs::exists(log_path()) ? split(read_file(log_path()), '\n') : Words();
    std::erase(lines, "");
    return lines;
  }

 private:
  TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool any_starts_with(const Words& lines, const std::string& start) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(start); });
}

TEST(Scripts, AreValidBash) {
  for (const char* script :
       {"apo", "tests/run", ".ci/run", "cmake/setup.sh", "tests/project/lint.sh", "tests/project/format.sh"}) {
    const ProcessResult result = run_process({"bash", "-n", (kRoot / script).string()});
    EXPECT_TRUE(result.ok()) << script << ": " << result.error;
  }
}

TEST(Scripts, ShellcheckFindsNothing) {
  if (!find_program("shellcheck")) {
    GTEST_SKIP() << "shellcheck is not installed";
  }
  const ProcessResult result =
      run_process({"shellcheck", "--shell=bash", "--exclude=SC1091", "apo", "tests/run", ".ci/run", "cmake/setup.sh",
                   "tests/project/lint.sh", "tests/project/format.sh"},
                  {.working_folder = kRoot.string()});
  EXPECT_TRUE(result.ok()) << result.output;
}

TEST_F(Setup, FirstUseBuildsAndBecomesTheProgram) {
  const ProcessResult result = call("apo", {"list", "two words", ""}, {"FAKE_EXIT=3"});
  EXPECT_EQ(result.exit_code, 3) << result.error;
  EXPECT_EQ(result.output, "program: <list> <two words> <>\n");  // stdout belongs to the program alone
  EXPECT_EQ(log(), (Words{"cmake --preset release", "cmake --build --preset release --target apo", "built"}));
}

TEST_F(Setup, ATerminalShowsHowFarTheBuildIsOnOneLine) {
  ProcessOptions options;
  options.environment = {"PATH=" + bin().string(), "FAKE_LOG=" + log_path().string(), "SHELL=/bin/sh"};
  const ProcessResult result =
      run_process({require_program("script"), "-qec", (checkout() / "apo").string(), "/dev/null"}, options);
  EXPECT_TRUE(contains(result.output, "\rapo: building [1/2] \rapo: building [2/2] \r\n")) << result.output;
  EXPECT_FALSE(contains(result.output, "Linking")) << result.output;
  EXPECT_TRUE(contains(read_file(checkout() / "build" / "build.log"), "compiler warns\n[2/2] Linking\n"));
}

TEST_F(Setup, ElsewhereTheStepsOfABuildAreInItsLogAlone) {
  EXPECT_FALSE(contains(call("apo").error, "[1/2]"));
  EXPECT_TRUE(contains(read_file(checkout() / "build" / "build.log"), "[2/2] Linking"));
}

TEST_F(Setup, BuiltProgramStartsAtOnce) {
  ASSERT_TRUE(call("apo").ok());
  const std::size_t before = log().size();
  const ProcessResult result = call("apo", {"list"});
  EXPECT_EQ(result.output, "program: <list>\n");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(log().size(), before);
}

TEST_F(Setup, ChangedSourceIsBuiltOnce) {
  ASSERT_TRUE(call("apo").ok());
  const std::size_t before = log().size();
  const auto later = fs::file_time_type::clock::now() + std::chrono::milliseconds(20);
  fs::last_write_time(checkout() / "harness" / "main.cpp", later);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  ASSERT_TRUE(call("apo").ok());
  EXPECT_EQ(log().size(), before + 3);
  ASSERT_TRUE(call("apo").ok());
  EXPECT_EQ(log().size(), before + 3);
}

TEST_F(Setup, AServerOfAgentsIsNeverBuiltWhileItsClientWaits) {
  const ProcessResult unbuilt = call("apo", {"mcp"});
  EXPECT_EQ(unbuilt.exit_code, 2);
  EXPECT_EQ(unbuilt.output, "");
  EXPECT_TRUE(contains(unbuilt.error, "apo doctor' once")) << unbuilt.error;
  EXPECT_EQ(log(), Words());
  ASSERT_TRUE(call("apo").ok());
  const std::size_t before = log().size();
  const auto later = fs::file_time_type::clock::now() + std::chrono::hours(1);
  fs::last_write_time(checkout() / "harness" / "main.cpp", later);
  EXPECT_EQ(call("apo", {"mcp", "--json"}).output, "program: <mcp> <--json>\n");
  EXPECT_EQ(log().size(), before);
}

TEST_F(Setup, ThroughASymbolicLinkItFindsItsCheckout) {
  fs::create_directories(checkout() / "elsewhere");
  fs::create_symlink(checkout() / "apo", checkout() / "elsewhere" / "apo");
  const ProcessResult result = call("elsewhere/apo", {"list"});
  EXPECT_EQ(result.output, "program: <list>\n") << result.error;
}

TEST_F(Setup, OnlyMissingPackagesAreInstalled) {
  const ProcessResult result = call("apo", {}, {"FAKE_MISSING=libspdlog-dev libssl-dev"});
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(log().front(), "apt-get install -y -q --no-install-recommends libspdlog-dev libssl-dev");
  EXPECT_TRUE(contains(result.error, "installing libspdlog-dev libssl-dev")) << result.error;
}

TEST_F(Setup, ProgramDoesNotAskForThePackagesOfTheTests) {
  EXPECT_TRUE(call("apo", {}, {"FAKE_MISSING=libgtest-dev clang-tidy"}).ok());
  EXPECT_FALSE(any_starts_with(log(), "apt-get"));
}

TEST_F(Setup, TestsInstallTheirPackagesBuildAllAndPassArgumentsOn) {
  const ProcessResult result = call("tests/run", {"-R", "Journal"}, {"FAKE_MISSING=libgtest-dev"});
  EXPECT_TRUE(result.ok()) << result.error;
  const Words lines = log();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "apt-get install -y -q --no-install-recommends libgtest-dev");
  EXPECT_EQ(lines[2], "cmake --build --preset test --target all");
  EXPECT_TRUE(lines[4].starts_with("ctest ") && lines[4].ends_with(" -R Journal")) << lines[4];
}

TEST_F(Setup, StalePackageListIsUpdatedAndTriedAgain) {
  const ProcessResult result = call("apo", {}, {"FAKE_MISSING=g++", "FAKE_APT=stale"});
  EXPECT_TRUE(result.ok()) << result.error;
  const Words lines = log();
  ASSERT_GE(lines.size(), 3U);
  EXPECT_TRUE(lines[0].starts_with("apt-get install"));
  EXPECT_TRUE(lines[1].starts_with("apt-get update"));
  EXPECT_TRUE(lines[2].starts_with("apt-get install"));
}

TEST_F(Setup, FailedInstallationShowsItsLogAndBuildsNothing) {
  const ProcessResult result = call("apo", {}, {"FAKE_MISSING=g++", "FAKE_APT=broken"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.error, "E: Unable to locate package")) << result.error;
  EXPECT_TRUE(contains(result.error, "could not install g++")) << result.error;
  EXPECT_FALSE(any_starts_with(log(), "cmake"));
}

TEST_F(Setup, UsersInstallThroughSudo) {
  EXPECT_TRUE(call("apo", {}, {"FAKE_MISSING=g++", "FAKE_UID=1000"}).ok());
  EXPECT_TRUE(any_starts_with(log(), "sudo env DEBIAN_FRONTEND=noninteractive apt-get install"));
}

TEST_F(Setup, WithoutRootAndSudoItSaysWhatToRun) {
  fs::remove(bin() / "sudo");
  const ProcessResult result = call("apo", {}, {"FAKE_MISSING=g++ libssl-dev", "FAKE_UID=1000"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.error, "as root run: apt-get install g++ libssl-dev")) << result.error;
  EXPECT_EQ(log(), Words());
}

TEST_F(Setup, NothingMissingNeedsNoRoot) {
  fs::remove(bin() / "sudo");
  EXPECT_TRUE(call("apo", {}, {"FAKE_UID=1000"}).ok());
}

TEST_F(Setup, OtherSystemsAreToldWhatIsNeededAndTheBuildIsTried) {
  fs::remove(bin() / "dpkg-query");
  const ProcessResult result = call("apo", {"list"});
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(contains(result.error, "not a Debian system")) << result.error;
  EXPECT_TRUE(contains(result.error, "libsqlite3-dev")) << result.error;
  EXPECT_EQ(result.output, "program: <list>\n");
}

TEST_F(Setup, FailingBuildShowsTheEndOfItsLog) {
  const ProcessResult result = call("apo", {"list"}, {"FAKE_BUILD=breaks"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_TRUE(contains(result.error, "compiler says 100\n")) << result.error;
  EXPECT_FALSE(contains(result.error, "compiler says 10\n")) << result.error;
  EXPECT_TRUE(contains(result.error, "the whole log is " + (checkout() / "build" / "build.log").string()));
  EXPECT_TRUE(call("apo").ok());  // and the next try works
}

TEST_F(Setup, CheckoutThatCannotBeWrittenIsSaidSo) {
  std::ofstream(checkout() / "build") << "a file where the folder has to be\n";
  const ProcessResult result = call("apo");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.error, "apo: cannot write to " + (checkout() / "build").string())) << result.error;
}

TEST_F(Setup, SecondSetUpWaitsForTheFirst) {
  auto first = std::async(std::launch::async, [&] { return call("apo", {"first"}, {"FAKE_BUILD_SECONDS=2"}); });
  while (!any_starts_with(log(), "cmake --build")) {
    ASSERT_EQ(first.wait_for(std::chrono::milliseconds(5)), std::future_status::timeout) << first.get().error;
  }
  const ProcessResult second = call("apo", {"second"});
  EXPECT_EQ(first.get().output, "program: <first>\n");
  EXPECT_EQ(second.output, "program: <second>\n");
  EXPECT_TRUE(contains(second.error, "another set-up is running")) << second.error;
  // Not one step of the second came between the first one's build and its end.
  const Words lines = log();
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[2], "built");
}

}  // namespace
}  // namespace apo

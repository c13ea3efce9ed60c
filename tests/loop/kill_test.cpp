// tests/loop/kill_test.cpp - a campaign that is killed loses at most the experiment under way, and goes on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/loop/workspace/recover.h"
#include "journal/journal.h"
#include "tests/processes.h"
#include "tests/text.h"

namespace apo {
namespace {

const std::vector<std::string> kRun = {APO_PROGRAM,  "run",          "copy",    "--workload", "n4k",
                                       "--baseline", "copy/simple",  "--judge", "standard",   "--iterations",
                                       "2",          "--candidates", "1",       "--cache",    "warm"};

// Tests that run beside this one are not waited for: no verdict here needs quiet.
std::string own_turns(const std::filesystem::path& folder) {
  const std::filesystem::path turns = folder / "turns";
  std::filesystem::create_directory(turns);
  return turns.string();
}

// What it says goes to the file "said".
pid_t start(const std::filesystem::path& folder, const std::vector<std::string>& words) {
  const std::string turns = own_turns(folder);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    setenv("APO_HOME", APO_SOURCE_FOLDER, 1);
    setenv("APO_CACHE", APO_BINARY_FOLDER "/test-cache", 1);
    setenv("TMPDIR", folder.c_str(), 1);
    setenv("XDG_RUNTIME_DIR", turns.c_str(), 1);
    const int null = open("/dev/null", O_RDWR);
    const int said = open((folder / "said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (null < 0 || said < 0 || dup2(null, 1) < 0 || dup2(said, 2) < 0 || chdir(folder.c_str()) != 0) {
      _exit(126);
    }
    execv(APO_PROGRAM, arguments.data());
    _exit(127);
  }
  return child;
}

// The A/A sentinel stops a campaign on a machine that is too restless to judge on.
bool too_restless(const ProcessResult& ran) {
  return ran.exit_code == 2 && ran.error.find("A/A sentinel") != std::string::npos;
}

std::size_t finished_experiments(Journal& journal) {
  std::size_t finished = 0;
  for (const Campaign& campaign : journal.campaigns()) {
    for (const Experiment& experiment : journal.experiments(campaign.id)) {
      finished += experiment.judgement ? 1U : 0U;
    }
  }
  return finished;
}

std::size_t temporary_folders(const std::filesystem::path& folder) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found += entry.path().filename().string().starts_with("apo") ? 1U : 0U;
  }
  return found;
}

TEST(Kill, AKilledCampaignKeepsWhatWasFinishedAndIsResumed) {
  const TemporaryFolder folder;
  const auto journal_path = folder.path() / ".apo" / "journal.db";
  std::size_t finished = 0;
  for (const int milliseconds : {700, 2500, 4500}) {
    const pid_t child = start(folder.path(), kRun);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    if (!std::filesystem::exists(journal_path)) {
      continue;  // killed before its first row
    }
    Journal journal = Journal::open(journal_path, Access::read_write);
    EXPECT_EQ(journal.check_integrity(), std::vector<std::string>());
    EXPECT_GE(finished_experiments(journal), finished) << "a finished experiment is gone";
    finished = finished_experiments(journal);
    std::size_t open_experiments = 0;
    for (const Unfinished& one : journal.unfinished()) {
      open_experiments += one.kind == Unfinished::Kind::experiment ? 1U : 0U;
    }
    EXPECT_LE(open_experiments, 1U);
  }
  const std::string temporary = "TMPDIR=" + folder.path().string();
  const ProcessResult last =
      run_process(kRun, {.timeout_s = 100000,
                         .working_folder = folder.path(),
                         .environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_CACHE=" APO_BINARY_FOLDER "/test-cache",
                                         temporary, "XDG_RUNTIME_DIR=" + own_turns(folder.path())}});
  if (too_restless(last)) {
    GTEST_SKIP() << last.error;
  }
  EXPECT_EQ(last.exit_code, 0) << last.error;
  EXPECT_EQ(temporary_folders(folder.path()), 0U) << "the next program removes them";
  Journal journal = Journal::open(journal_path, Access::read_write);
  EXPECT_TRUE(journal.unfinished().empty());
  EXPECT_EQ(journal.check_integrity(), std::vector<std::string>());
  EXPECT_GE(finished_experiments(journal), finished);
}

// The iterations of the only campaign, as of now; none while there is no journal.
std::vector<IterationRow> iterations(const std::filesystem::path& journal) {
  if (!std::filesystem::exists(journal)) {
    return {};
  }
  try {
    return Journal::open(journal, Access::read_only).iterations(1);
  } catch (const UserError&) {
    return {};  // it is being made
  }
}

TEST(Kill, AnInterruptedCampaignGoesOnForTheIterationsThatWereTypedAndFromItsOwnBaseline) {
  const TemporaryFolder folder;
  const auto journal = folder.path() / ".apo" / "journal.db";
  std::vector<std::string> words = {APO_PROGRAM, "run",        "copy",        "--workload",   "n4k",
                                    "--judge",   "standard",   "--cache",     "warm",         "--candidates",
                                    "1",         "--baseline", "copy/simple", "--iterations", "6"};
  const pid_t child = start(folder.path(), words);
  ASSERT_TRUE(testing::comes_about([&] { return !iterations(journal).empty(); }));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const ProcessOptions options{
      .timeout_s = 100000,
      .working_folder = folder.path(),
      .environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_CACHE=" APO_BINARY_FOLDER "/test-cache",
                      "XDG_RUNTIME_DIR=" + own_turns(folder.path())}};
  words.at(12) = "copy/parallel";
  const ProcessResult another = run_process(words, options);
  EXPECT_EQ(another.exit_code, 1) << another.error;
  expect_contains(another.error, "cannot go on with another --baseline");
  expect_contains(another.error, "--baseline copy/parallel --iterations 6 --new");
  words.at(12) = "copy/simple";
  words.back() = "1";
  const ProcessResult again = run_process(words, options);
  if (too_restless(again)) {
    GTEST_SKIP() << again.error;
  }
  EXPECT_EQ(again.exit_code, 0) << again.error;
  expect_contains(again.error, "resuming campaign 1 at iteration 2 of 2");
  const std::vector<IterationRow> rows = iterations(journal);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.front().ended_at, "");
  EXPECT_NE(rows.back().ended_at, "");
}

// The numbers of interrupted experiments, or of all that are open.
std::size_t open_experiments(const std::filesystem::path& journal, bool interrupted) {
  if (!std::filesystem::exists(journal)) {
    return 0;
  }
  try {
    Journal reader = Journal::open(journal, Access::read_only);
    const std::vector<Unfinished> open = interrupted ? reader.interrupted_experiments() : reader.unfinished();
    return static_cast<std::size_t>(
        std::ranges::count(open, Unfinished::Kind::experiment, [](const Unfinished& one) { return one.kind; }));
  } catch (const UserError&) {
    return 0;  // it is being made
  }
}

TEST(Kill, AfterCtrlCATrialSaysWhatIsKeptAndReadersThatItsExperimentWasInterrupted) {
  const TemporaryFolder folder;
  const auto journal = folder.path() / ".apo" / "journal.db";
  write_file_atomically(folder.path() / "hangs.cpp",
                        "#include <unistd.h>\nvoid copy(const float* x, float* y, long n) {\n"
                        "  for (;;) sleep(1);\n  for (long i = 0; i < n; ++i) y[i] = x[i];\n}\n");
  const pid_t child = start(folder.path(), {APO_PROGRAM, "try", "copy", "hangs.cpp", "--workload", "n4k"});
  ASSERT_TRUE(testing::comes_about([&] { return open_experiments(journal, false) > 0; }));
  EXPECT_EQ(open_experiments(journal, true), 0U) << "it runs";
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  const std::string said = read_file(folder.path() / "said");
  expect_contains(said, "apo: interrupted; the journal keeps every finished experiment");
  expect_contains(said, "try again with: apo try copy hangs.cpp --workload n4k");
  ASSERT_EQ(open_experiments(journal, true), 1U);
  const ProcessOptions options{
      .timeout_s = 100000, .working_folder = folder.path(), .environment = {"APO_HOME=" APO_SOURCE_FOLDER}};
  const ProcessResult shown = run_process({APO_PROGRAM, "show", "1"}, options);
  expect_contains(shown.output, "never: the run that measured it was interrupted");
  const ProcessResult found = run_process({APO_PROGRAM, "query"}, options);
  expect_contains(found.error, "running no longer, but interrupted: 1;");
}

// Whether a reference runs that a program in this folder has started.
bool runs_a_reference(const std::filesystem::path& folder) {
  return std::ranges::any_of(testing::all_processes(), [&](int pid) {
    const std::string words = testing::process_file(pid, "cmdline");
    return words.substr(0, words.find('\0')).ends_with("/oracle") &&
           testing::process_file(pid, "environ").find(folder.string()) != std::string::npos;
  });
}

TEST(Kill, AfterCtrlCAReferenceThatNeverEndsIsNotRegistered) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "endless.h",
                        "// apo:family endless\n// apo:axis n 1..64\n// apo:input x f32[n] normal\n"
                        "// apo:output y f32[n]\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
                        "void reference(int64_t n, const Real* x, Real* y) {\n"
                        "  for (volatile int go = 1; go != 0;) y[n - 1] = x[0];\n}\n");
  const pid_t child = start(folder.path(), {APO_PROGRAM, "register", "endless.h"});
  ASSERT_TRUE(testing::comes_about([&] { return runs_a_reference(folder.path()); }));
  kill(child, SIGINT);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const std::string said = read_file(folder.path() / "said");
  expect_contains(said, "apo: interrupted; nothing is registered\n     register it with: apo register endless.h\n");
}

TEST(Kill, NobodyResumesAnInterruptedTrial) {
  const TemporaryFolder folder;
  const auto journal_path = folder.path() / ".apo" / "journal.db";
  write_file_atomically(folder.path() / "mine.cpp",
                        "void copy(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i]; }\n");
  const pid_t child = start(folder.path(), {APO_PROGRAM, "try", "copy", "mine.cpp", "--workload", "n4k"});
  ASSERT_TRUE(testing::comes_about([&] { return !iterations(journal_path).empty(); }));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  Journal journal = Journal::open(journal_path, Access::read_write);
  ASSERT_EQ(journal.open_campaigns().size(), 1U);
  SilentObserver observer;
  recover(journal, observer);
  EXPECT_TRUE(journal.open_campaigns().empty()) << "'apo run' would go on with it";
  expect_contains(journal.campaign_end(1)->note, "interrupted");
}

}  // namespace
}  // namespace apo

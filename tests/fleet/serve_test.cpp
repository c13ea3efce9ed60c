// tests/fleet/serve_test.cpp - a worker that serves: what it judges, what it asks for, and how it ends.
#include "harness/fleet/serve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/subprocess.h"
#include "harness/fleet/answer_journal.h"
#include "harness/implement/variant/metadata.h"
#include "harness/loop/workspace/workspace.h"
#include "tests/held_compiler.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

TaskSide shipped(const std::string& name) {
  const Variant variant = load_variant(APO_SOURCE_FOLDER "/variants/copy/" + name + ".cpp",
                                       {std::filesystem::path(APO_SOURCE_FOLDER) / "variants"});
  return {{variant.id(), default_settings(variant)}, variant.source_hash};
}

// The command of a worker on this CPU, whose numbers nobody needs: it waits for no other test's turn. A compiler in the
// folder is its compiler.
std::string worker_command(const TemporaryFolder& folder) {
  const std::string path = folder.path().string();
  return "PATH=" + path +
         ":$PATH APO_HOME=" APO_SOURCE_FOLDER " APO_CACHE=" APO_BINARY_FOLDER "/test-cache TMPDIR=" + path +
         " XDG_RUNTIME_DIR=" + path + " exec " APO_PROGRAM " worker --serve --target host";
}

// Of a copy of 4096 numbers; sources are those that this program ships, or `candidate`.
Task copy_task(std::int64_t id, const std::string& candidate) {
  return {.id = id,
          .campaign = 1,
          .policy = {.family = "copy",
                     .workload_class = "small",
                     .workloads = {"n4k"},
                     .cache_policy = CachePolicy::warm,
                     .judge_preset = "standard",
                     .seed = 42},
          .candidate = shipped(candidate),
          .incumbent = shipped("simple"),
          .prediction = {},
          .index = 3,
          .judged = 99,
          .floor = {}};
}

Task copy_task(std::int64_t id, const Variant& candidate) {
  Task task = copy_task(id, "simple");
  task.candidate = {{candidate.id(), {}}, candidate.source_hash};
  return task;
}

// A right candidate that no catalogue has.
Variant new_variant(const std::string& idea = "The last element first.") {
  const std::string text = "// apo:idea  " + idea +
                           "\n"
                           "#include \"copy.args.h\"\n"
                           "void copy(const float* x, float* y, int64_t n) {\n"
                           "  for (int64_t i = n; i-- > 0;) y[i] = x[i];\n"
                           "}\n";
  return parse_variant(text, "backwards.cpp", {}, {.family = "copy", .name = "backwards"});
}

Message task_with_source(std::int64_t id, const Variant& candidate) {
  Message task = to_message(copy_task(id, candidate));
  task["sources"] = Message::array({source_document(candidate)});
  return task;
}

// A real `apo worker --serve`, spoken to line by line.
class ServedWorker {
 public:
  explicit ServedWorker(const std::string& command)
      : process_("/bin/sh", {"/bin/sh", "-c", command}, {.working_folder = "", .environment = {}, .guarded = false}) {}
  void send(const Message& message) { process_.send(message.dump() + "\n"); }
  // The next message of one of these types; nullopt when there was none in time, or there is no more.
  std::optional<Message> next(const std::vector<std::string>& types,
                              std::chrono::duration<double> patience = testing::kPatience);
  bool ends();
  bool is_over() { return !process_.out(); }
  Subprocess& process() { return process_; }

 private:
  Subprocess process_;
  std::vector<Message> heard_;
};

std::optional<Message> ServedWorker::next(const std::vector<std::string>& types,
                                          std::chrono::duration<double> patience) {
  const auto start = std::chrono::steady_clock::now();
  do {
    const auto found = std::ranges::find_if(heard_, [&](const Message& message) {
      return std::ranges::find(types, message.at("type").get<std::string>()) != types.end();
    });
    if (found != heard_.end()) {
      const Message message = *found;
      heard_.erase(heard_.begin(), found + 1);
      return message;
    }
    heard_.clear();
    process_.move_within(0.1);
    for (const std::string& line : take_lines(process_.output)) {
      heard_.push_back(Message::parse(line));
    }
  } while ((!is_over() || !heard_.empty()) && std::chrono::steady_clock::now() - start < patience);
  return std::nullopt;
}

bool ServedWorker::ends() {
  next({"nothing"});
  return is_over();
}

class Serve : public ::testing::Test {
 protected:
  TemporaryFolder folder_{"apo-serve-test"};
  ServedWorker worker_{worker_command(folder_)};

  Hello hello() {
    const auto message = worker_.next({"hello"});
    return message ? hello_of(*message) : Hello();
  }

  // Returns the compiler that the task waits for, and with it for good.
  pid_t begin(const Message& task, const testing::HeldCompiler& compiler) {
    worker_.send(task);
    return compiler.pid();
  }

  // The answer; nullopt where the sentinel failed again and again, as other programs took their time.
  std::optional<Message> judged(const Message& task) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      worker_.send(task);
      auto message = worker_.next({"answer", "failed"});
      EXPECT_TRUE(message);
      if (!message || message->at("type") == "answer") {
        return message;
      }
      EXPECT_EQ(message->at("reason"), "sentinel") << *message;
    }
    return std::nullopt;
  }
};

TEST_F(Serve, SaysItsDeviceAndSendsHeartbeats) {
  const Hello hello = this->hello();
  EXPECT_EQ(hello.program.protocol, kFleetProtocol);
  EXPECT_EQ(hello.machine.target, Target::host);
  expect_contains(hello.device, " cpus ");
  EXPECT_TRUE(worker_.next({"heartbeat"}));
  EXPECT_TRUE(worker_.next({"heartbeat"}));
}

TEST_F(Serve, AnswersWithAWholeExperimentAndItsSentinel) {
  const Hello hello = this->hello();
  const Task task = copy_task(7, "memcpy");
  const auto answer = judged(to_message(task));
  if (!answer) {
    GTEST_SKIP() << "this machine is too restless to judge on";
  }
  EXPECT_EQ(answer->at("id"), 7);
  const std::string bytes = journal_of(*answer);
  const JudgedTask judged = judged_task(bytes);
  EXPECT_EQ(judged.machine.id, hello.machine.id);
  EXPECT_EQ(judged.experiment.candidate, task.candidate.configuration);
  EXPECT_EQ(judged.experiment.incumbent, task.incumbent.configuration);
  EXPECT_EQ(judged.experiment.index, task.index);
  EXPECT_DOUBLE_EQ(judged.experiment.judgement->alpha, 0.01 / 2) << "candidate 100 of the driver's journal";
  ASSERT_FALSE(judged.experiment.rounds.empty());
  EXPECT_FALSE(judged.experiment.rounds.front().workloads.front().blocks.empty()) << "samples come along";
  EXPECT_FALSE(judged.experiment.candidate_build.code_hash.empty());
  EXPECT_EQ(judged.sentinels.size(), 1U);
  EXPECT_FALSE(judged.roofs.empty());
  EXPECT_LT(bytes.size(), std::size_t{1} << 20);
  EXPECT_THROW(judged_task(bytes.substr(0, bytes.size() / 2)), UserError);
  EXPECT_THROW(judged_task("no journal"), UserError);
}

TEST_F(Serve, TakesTheSourceThatComesWithATask) {
  hello();
  const testing::HeldCompiler compiler(folder_.path(), "--version");
  const Variant candidate = new_variant();
  begin(task_with_source(1, candidate), compiler);
  worker_.send({{"type", "cancel"}, {"id", 1}});
  ASSERT_TRUE(worker_.next({"cancelled"}));
  compiler.let_go();
  judged(to_message(copy_task(2, candidate)));
}

// Whose machine code is another one's here, it has no measurement for.
TEST_F(Serve, MeasuresWhatAScanAsksForBesideItsReference) {
  hello();
  const Task judged = copy_task(0, "memcpy");
  ScanTask scan{.id = -1,
                .campaign = judged.campaign,
                .policy = judged.policy,
                .reference = judged.incumbent,
                .reference_key = "another",
                .candidates = {judged.candidate, shipped("streaming")}};
  worker_.send(to_message(scan));
  ASSERT_EQ(worker_.next({"done", "scanned", "failed"})->at("type"), "done");
  Workspace workspace(make_paths((folder_.path() / "journal.db").string()));
  const Family& copy = workspace.family("copy");
  const Runtime runtime = workspace.runtime(copy);
  scan.reference_key = runtime.build(scan.reference.configuration, workspace.workload(copy, "n4k").axes, false).key;
  worker_.send(to_message(scan));
  std::vector<Configuration> measured;
  for (auto message = worker_.next({"done", "scanned", "failed"}); message && message->at("type") == "scanned";
       message = worker_.next({"done", "scanned", "failed"})) {
    const Scanned row = measurement_of(*message).row;
    EXPECT_EQ(row.incumbent, scan.reference.configuration);
    EXPECT_EQ(row.times.outcome, Outcome::valid) << row.times.evidence;
    EXPECT_GT(row.times.time_ns, 0);
    measured.push_back(row.configuration);
  }
  std::ranges::sort(measured, {}, &Configuration::variant);
  EXPECT_EQ(measured, (std::vector{scan.candidates[0].configuration, scan.candidates[1].configuration}));
}

TEST_F(Serve, SaysThatASourceIsNotTheOneThatWasNamed) {
  hello();
  Variant candidate = new_variant();
  Message task = to_message(copy_task(1, candidate));
  candidate.source += "// changed\n";
  task["sources"] = Message::array({source_document(candidate)});
  worker_.send(task);
  const auto failed = worker_.next({"failed", "answer"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->at("type"), "failed");
  EXPECT_EQ(failed->at("reason"), "cannot_judge");
}

TEST_F(Serve, StopsATaskAndTheCompilerThatItWaitsForAndTakesTheNext) {
  hello();
  int id = 0;
  for (const char* answered : {"--version", "--version | *' -E '*", testing::kQuestions}) {
    const testing::HeldCompiler compiler(folder_.path(), answered);
    const pid_t compiling = begin(task_with_source(++id, new_variant(folder_.path().string())), compiler);
    worker_.send({{"type", "cancel"}, {"id", id}});
    const auto cancelled = worker_.next({"cancelled", "answer", "failed"});
    ASSERT_TRUE(cancelled);
    EXPECT_EQ(cancelled->at("type"), "cancelled") << answered;
    EXPECT_FALSE(testing::is_running(compiling)) << answered;
    compiler.let_go();
  }
  worker_.send(to_message(copy_task(++id, "simple")));  // judged without timing: it is the incumbent's own code
  EXPECT_TRUE(worker_.next({"answer"}));
}

TEST_F(Serve, JudgesOnAfterATaskThatIsNone) {
  hello();
  worker_.send({{"type", "task"}, {"id", 2}});
  const auto failed = worker_.next({"failed"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->at("reason"), "cannot_judge");
  worker_.send(to_message(copy_task(3, "simple")));
  EXPECT_TRUE(worker_.next({"answer"}));
}

TEST_F(Serve, EndsWithItsInput) {
  hello();
  begin(to_message(copy_task(1, "memcpy")), testing::HeldCompiler(folder_.path(), "--version"));
  worker_.process().in().reset();
  EXPECT_TRUE(worker_.ends());
}

TEST_F(Serve, GivesItsTaskBackWhenItIsAskedToEnd) {
  hello();
  begin(to_message(copy_task(9, "memcpy")), testing::HeldCompiler(folder_.path(), "--version"));
  kill(worker_.process().pid(), SIGTERM);
  EXPECT_TRUE(worker_.next({"given_back"}));
  EXPECT_TRUE(worker_.ends());
}

// A batch system asks every process of a job to end.
TEST_F(Serve, HoldsNothingAgainstACandidateWhoseCompilerWasAskedToEndWithIt) {
  hello();
  const pid_t compiling = begin(task_with_source(4, new_variant(folder_.path().string())),
                                testing::HeldCompiler(folder_.path(), testing::kQuestions));
  // Stopped until both signals are there: the worker finds out in either order, and however late they come.
  const pid_t process = worker_.process().pid();
  kill(process, SIGSTOP);
  kill(compiling, SIGTERM);
  EXPECT_TRUE(testing::comes_about([&] { return !testing::is_running(compiling); }));
  kill(process, SIGTERM);
  kill(process, SIGCONT);
  const auto last = worker_.next({"answer", "failed", "given_back"});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->at("type"), "given_back") << *last;
}

}  // namespace
}  // namespace apo

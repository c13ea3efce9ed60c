// tests/worker/parent/worker_test.cpp - blocks, pauses, deadlines, limits and the end of the process.
#include "harness/worker/parent/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <span>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/worker/candidates.h"

namespace apo::testing {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::filesystem::path copy_object() {
  return compile_launch("for (int64_t i = 0; i < args->n; ++i) args->y[i] = args->x[i]; return 0;").object;
}

// A candidate whose first output element tells something about itself; the rest is 0.
std::filesystem::path telling(const std::string& expression, const std::string& before = "",
                              const std::string& statements = "") {
  const Compiled compiled =
      compile_launch(statements + "args->y[0] = static_cast<float>(" + expression + "); return 0;", before);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  return compiled.object;
}

float first_output(const SharedTensors& shared_tensors) {
  float value = 0;
  std::memcpy(&value, shared_tensors.read_output("y").data(), sizeof value);
  return value;
}

TEST(Worker, NamesTheCallThatWasRefusedLast) {
  WorkerOptions options = worker_options();
  options.name_refused = true;
  const auto opening = telling("open(\"/etc/passwd\", O_RDONLY) < 0", "#include <fcntl.h>");
  const auto socket = telling("socket(AF_INET, SOCK_STREAM, 0) < 0", "#include <sys/socket.h>");
  for (const auto& [object, call] : {std::pair(opening, "open(\"/etc/passwd\")"), std::pair(socket, "socket")}) {
    Worker worker(options);
    SharedTensors shared_tensors(copy_tensors(3));
    ASSERT_TRUE(worker.load(0, object));
    if (worker.confinement().find("seccomp") == std::string::npos) {
      GTEST_SKIP() << "this kernel has no seccomp";
    }
    ASSERT_TRUE(worker.attach(shared_tensors));
    ASSERT_TRUE(worker.call(0));
    EXPECT_EQ(first_output(shared_tensors), 1);
    EXPECT_EQ(worker.refused_call(), call);
  }
}

TEST(Worker, IsToldOfARecordWithoutItsLaunchesAndRefusesTooManyOthers) {
  LaunchPlan plan{.launches = std::vector<KernelLaunch>(100'000, {.kernel = "softmax"}), .recorded = true};
  Worker worker(worker_options());
  EXPECT_TRUE(worker.load(0, copy_object(), plan));
  plan.recorded = false;
  const auto loaded = worker.load(0, copy_object(), plan);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().outcome, Outcome::refused);
  EXPECT_NE(loaded.failure().evidence.find("launch fewer kernels a call"), std::string::npos);
  EXPECT_TRUE(worker.load(0, copy_object())) << "it lives on";
}

// A worker with the same object in both slots and shared tensors.
struct Bench {
  explicit Bench(const std::filesystem::path& object, WorkerOptions options = worker_options())
      : worker(std::move(options)), shared_tensors(copy_tensors(3, 4)) {
    for (const int slot : {0, 1}) {
      const auto loaded = worker.load(slot, object);
      EXPECT_TRUE(loaded) << loaded.failure().evidence;
    }
    const auto attached = worker.attach(shared_tensors);
    EXPECT_TRUE(attached) << attached.failure().evidence;
    for (int set = 0; set < 4; ++set) {
      inputs.push_back(fill_inputs(shared_tensors, set, static_cast<std::uint64_t>(set)));
    }
  }
  // What a call of a candidate that is telling() tells.
  float told(int slot = 0) {
    const auto sample = worker.call(slot);
    EXPECT_TRUE(sample) << sample.failure().evidence;
    return first_output(shared_tensors);
  }
  Worker worker;
  SharedTensors shared_tensors;
  std::vector<std::vector<float>> inputs;
};

bool holds(const SharedTensors& shared_tensors, const std::vector<float>& expected) {
  return std::memcmp(shared_tensors.read_output("y").data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

TEST(Worker, BlockReturnsFourSamplesInOrder) {
  Bench bench(copy_object());
  const auto samples = bench.worker.run({.order = {0, 1, 1, 0}, .sets = {0, 1, 2, 3}, .repetitions = 5});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  ASSERT_EQ(samples->size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const RawSample& sample = (*samples)[i];
    EXPECT_EQ(sample.slot, i == 1 || i == 2 ? 1 : 0);
    EXPECT_EQ(sample.set, static_cast<int>(i));
    EXPECT_GT(sample.end_ns, sample.begin_ns);
  }
  EXPECT_TRUE(holds(bench.shared_tensors, bench.inputs[3]));
}

TEST(Worker, EverySampleBeginsWithWhatACallReadsAndWritesAsItWas) {
  SharedTensorsSpec spec = copy_tensors(3, 2);
  spec.buffers.at(1).in_place = 1;
  spec.buffers.push_back(spec.buffers.at(1));
  spec.buffers.back().role = BufferRole::input;
  SharedTensors shared_tensors(spec);
  std::vector<std::vector<float>> sums;
  for (const int set : {0, 1}) {
    const std::vector<float> x = fill_inputs(shared_tensors, set, 7);
    const std::vector<float> y(x.size(), static_cast<float>(set + 1));
    write_input(shared_tensors, set, "y", std::as_bytes(std::span(y)));
    sums.emplace_back();
    std::ranges::transform(x, y, std::back_inserter(sums.back()), std::plus<>());
  }
  Worker worker(worker_options());
  const auto object =
      compile_launch("for (int64_t i = 0; i < args->n; ++i) args->y[i] += args->x[i]; return 0;").object;
  ASSERT_TRUE(worker.load(0, object));
  ASSERT_TRUE(worker.attach(shared_tensors));
  for (const CachePolicy cache : {CachePolicy::warm, CachePolicy::cold}) {
    for (const int set : {0, 1}) {
      const auto samples =
          worker.run({.order = {0, 0, 0}, .sets = {set, 1 - set, set}, .repetitions = 2, .cache = cache});
      ASSERT_TRUE(samples) << samples.failure().evidence;
      EXPECT_TRUE(holds(shared_tensors, sums[static_cast<std::size_t>(set)]));
      EXPECT_FALSE(shared_tensors.check_inputs());
    }
  }
}

TEST(Worker, ColdCallsComputeTheSame) {
  Bench bench(copy_object());
  ASSERT_TRUE(bench.worker.run({.order = {0, 0}, .sets = {1, 1}, .cache = CachePolicy::cold}));
  EXPECT_TRUE(holds(bench.shared_tensors, bench.inputs[1]));
}

TEST(Worker, PausesAfterTheChosenSample) {
  Bench bench(copy_object());
  for (int chosen = 0; chosen < 4; ++chosen) {
    int seen = -1;
    const auto samples =
        bench.worker.run({.order = {0, 1, 1, 0}, .sets = {3, 2, 1, 0}, .verify_after = chosen},
                         [&](int sample) -> std::optional<Failure> {
                           seen = sample;
                           EXPECT_TRUE(holds(bench.shared_tensors, bench.inputs[static_cast<std::size_t>(3 - chosen)]));
                           return std::nullopt;
                         });
    ASSERT_TRUE(samples) << samples.failure().evidence;
    EXPECT_EQ(seen, chosen);
    EXPECT_EQ(samples->size(), 4u);
  }
}

TEST(Worker, AFailedInspectionEndsTheRun) {
  Bench bench(copy_object());
  const auto samples = bench.worker.run({.order = {0, 1}, .verify_after = 0}, [](int) {
    return Failure{Outcome::incorrect, "wrong in the middle of a block", 1};
  });
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.failure().outcome, Outcome::incorrect);
  EXPECT_EQ(samples.failure().evidence, "wrong in the middle of a block");
  EXPECT_EQ(samples.failure().slot, 1);
  EXPECT_FALSE(bench.worker.alive());
}

TEST(Worker, NothingRunsWhileItIsFrozen) {
  Bench bench(compile_launch(R"(
  static bool started = false;
  if (!started) {
    started = true;
    float* y = args->y;
    std::thread([y] { for (float i = 0;; i += 1) { y[0] = i; } }).detach();
  }
  return 0;)",
                             "#include <thread>\n")
                  .object);
  ASSERT_TRUE(bench.worker.call(0));
  ASSERT_TRUE(comes_about([&] { return first_output(bench.shared_tensors) > 0; }));
  bench.worker.freeze();
  const float before = first_output(bench.shared_tensors);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(first_output(bench.shared_tensors), before);
  EXPECT_TRUE(bench.worker.call(0)) << "a frozen worker goes on with the next request";
}

TEST(Worker, AttachesOtherSharedTensors) {
  Bench bench(copy_object());
  ASSERT_TRUE(bench.worker.call(0, 0));
  SharedTensors other(copy_tensors(99, 1));
  const std::vector<float> x = fill_inputs(other, 0, 1234);
  ASSERT_TRUE(bench.worker.attach(other));
  ASSERT_TRUE(bench.worker.call(1, 0));
  EXPECT_TRUE(holds(other, x));
}

TEST(Worker, RefusalLeavesTheWorkerAlive) {
  Bench bench(copy_object());
  ASSERT_TRUE(bench.worker.load(1, compile(zoo_source("refuses")).object));
  const auto refused = bench.worker.call(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().outcome, Outcome::refused);
  EXPECT_EQ(refused.failure().slot, 1);
  EXPECT_TRUE(bench.worker.call(0));
}

TEST(Worker, FailureNamesTheSlotThatRan) {
  Bench bench(copy_object());
  ASSERT_TRUE(bench.worker.load(1, compile(zoo_source("segfault")).object));
  const auto samples = bench.worker.run({.order = {0, 1, 1, 0}});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.failure().slot, 1);
  EXPECT_FALSE(bench.worker.call(0)) << "it has ended";
}

TEST(Worker, SeesOnlyNeutralNames) {
  Bench bench(telling("std::strcmp(end, \"/slot0.so\") == 0 ? 10 : std::strcmp(end, \"/slot1.so\") == 0 ? 11 : 0",
                      "#include <dlfcn.h>\n#include <cstring>\n",
                      "Dl_info info{}; dladdr(reinterpret_cast<void*>(&apo_abi), &info);"
                      "const char* end = std::strrchr(info.dli_fname, '/');"));
  EXPECT_EQ(bench.told(0), 10.0f);
  EXPECT_EQ(bench.told(1), 11.0f);
}

TEST(Worker, GetsThreadsPinningAndOpenMpSettings) {
  WorkerOptions options = worker_options();
  options.cpus = {usable_cpus().front()};
  options.environment = {"APO_TEST_VALUE=42"};
  Bench bench(
      telling("CPU_COUNT(&set) * 1000000 + call->threads * 100000 +"
              " std::atoi(std::getenv(\"OMP_NUM_THREADS\")) * 10000 +"
              " std::atoi(std::getenv(\"APO_TEST_VALUE\")) * 10 + (std::getenv(\"APO_PADDING\") != nullptr)",
              "#include <sched.h>\n#include <cstdlib>\n", "cpu_set_t set; sched_getaffinity(0, sizeof set, &set);"),
      options);
  EXPECT_EQ(bench.told(), 1110421.0f);
}

TEST(Worker, DoesNotInheritOurEnvironment) {
  setenv("APO_TEST_SECRET", "hidden", 1);
  Bench bench(telling("std::getenv(\"APO_TEST_SECRET\") == nullptr", "#include <cstdlib>\n"));
  unsetenv("APO_TEST_SECRET");
  EXPECT_EQ(bench.told(), 1.0f);
}

TEST(Worker, HasNoDescriptorOfOurs) {
  const auto object = telling("open", "#include <fcntl.h>\n",
                              "int open = 0; for (int fd = 0; fd < 1024; ++fd) { open += fcntl(fd, F_GETFD) >= 0; }");
  const int ours = dup(0);  // without close-on-exec
  Bench bench(object);
  close(ours);
  EXPECT_EQ(bench.told(), 5.0f) << "stdin, stdout, stderr, the connection and the account of its own memory";
}

TEST(Worker, PaddingMovesTheStackWithTheSeed) {
  std::vector<float> paddings;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    WorkerOptions options = worker_options();
    options.layout_seed = seed;
    Bench bench(telling("std::strlen(std::getenv(\"APO_PADDING\"))", "#include <cstdlib>\n#include <cstring>\n"),
                options);
    paddings.push_back(bench.told());
    EXPECT_LE(paddings.back(), 4096.0f);
  }
  std::sort(paddings.begin(), paddings.end());
  EXPECT_EQ(std::unique(paddings.begin(), paddings.end()), paddings.end());
}

TEST(Worker, InfiniteLoopIsGoneSoonAfterItsDeadline) {
  Bench bench(compile(zoo_source("infinite_loop")).object);
  const int pid = bench.worker.pid();
  const auto begin = Clock::now();
  const auto sample = bench.worker.call(0, 0, milliseconds(300));
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.failure().outcome, Outcome::timed_out);
  EXPECT_EQ(sample.failure().evidence, "no answer in 300 ms during the call");
  EXPECT_EQ(sample.failure().slot, 0);
  EXPECT_GE(Clock::now() - begin, milliseconds(300));
  EXPECT_FALSE(is_running(pid));
}

TEST(Worker, AKilledParentLeavesNoWorker) {
  const std::string object = compile(zoo_source("infinite_loop")).object.string();
  const TemporaryFolder leftovers;  // a killed harness cannot remove its own
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    setenv("TMPDIR", leftovers.path().c_str(), 1);
    dup2(ends[1], STDOUT_FILENO);
    execl(APO_PARENT_PROGRAM, APO_PARENT_PROGRAM, APO_WORKER_PROGRAM, object.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::array<char, 16> line{};
  ASSERT_GT(read(ends[0], line.data(), line.size() - 1), 0);
  close(ends[0]);
  const int worker = std::atoi(line.data());
  ASSERT_TRUE(is_running(worker));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(comes_about([&] { return !is_running(worker) && group_members(worker).empty(); }));
}

TEST(Worker, AProgramThatIsMissingOrNoWorkerIsTheEnvironmentsError) {
  WorkerOptions options = worker_options();
  for (const char* program : {"/nonexistent/apo", "/bin/true"}) {
    options.program = program;
    EXPECT_THROW(Worker{options}, EnvironmentError) << program;
  }
}

TEST(Worker, MissingObjectIsTheEnvironmentsError) {
  Worker worker(worker_options());
  EXPECT_THROW((void)worker.load(0, "/nonexistent/object.so"), EnvironmentError);
}

TEST(Worker, AFileThatIsNoObjectIsWrongAbi) {
  Worker worker(worker_options());
  const auto loaded = worker.load(0, zoo_source("nan"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().outcome, Outcome::wrong_abi);
  EXPECT_TRUE(worker.alive());
}

TEST(Worker, TheProgramRefusesToBeStartedByHand) {
  EXPECT_NE(run_process({"/bin/sh", "-c", std::string("exec 3>&-; ") + APO_WORKER_PROGRAM + " worker"}).exit_code, 0);
}

// A copy with one mistake, built with AddressSanitizer and UndefinedBehaviorSanitizer.
Result<RawSample> call_sanitized(const std::string& name, const std::string& body) {
  const std::filesystem::path source = std::filesystem::path(APO_BINARY_FOLDER) / "test_candidates" / (name + ".cpp");
  write_file_atomically(source,
                        "#include \"copy.args.h\"\n"
                        "APO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }\n"
                        "APO_EXPORT int apo_launch(const apo_call* call) {\n"
                        "  const auto* args = static_cast<const copy_args*>(call->arguments);\n" +
                            body + "\n  return 0;\n}\n");
  const Compiled compiled = compile(source, {"-fsanitize=address,undefined", "-fno-omit-frame-pointer"});
  EXPECT_TRUE(compiled.ok) << compiled.log;
  WorkerOptions options = worker_options();
  options.preload = trim(run_process({"g++", "-print-file-name=libasan.so"}).output);
  Bench bench(compiled.object, options);
  return bench.worker.call(0);
}

TEST(Sanitized, CorrectCandidateIsValid) {
  const auto sample = call_sanitized("clean", "for (int64_t i = 0; i < args->n; ++i) args->y[i] = args->x[i];");
  EXPECT_TRUE(sample) << sample.failure().evidence;
}

TEST(Sanitized, MistakesAreNamedWithTheirLine) {
  struct Case {
    const char* name;
    const char* body;
    const char* evidence;
  };
  for (const Case& one : {Case{"outside", "args->y[args->n + 1] = 1;",
                               "use-after-poison (outside every buffer) WRITE of size 4 in apo_launch outside.cpp:5"},
                          {"reader", "args->y[0] = args->x[-2];",
                           "use-after-poison (outside every buffer) READ of size 4 in apo_launch reader.cpp:5"},
                          {"heap", "volatile char* own = new char[args->n]; own[args->n] = 1;",
                           "heap-buffer-overflow WRITE of size 1 in apo_launch heap.cpp:5"},
                          {"undefined", "volatile int big = 2147483647; args->y[0] = static_cast<float>(big + 1);",
                           "undefined behaviour in undefined.cpp:5: signed integer overflow"}}) {
    const auto sample = call_sanitized(one.name, one.body);
    ASSERT_FALSE(sample) << one.name;
    EXPECT_EQ(sample.failure().outcome, Outcome::faulted);
    EXPECT_TRUE(sample.failure().evidence.starts_with(one.evidence)) << sample.failure().evidence;
  }
}

TEST(Worker, ReloadsASlot) {
  Bench bench(telling("1"));
  ASSERT_TRUE(bench.worker.load(0, telling("2")));
  EXPECT_EQ(bench.told(0), 2.0f);
  EXPECT_EQ(bench.told(1), 1.0f);
}

}  // namespace
}  // namespace apo::testing

// tests/injection/injection_test.cpp - the injected library in applications that end in all ways, without a GPU.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/applications/run_application.h"
#include "harness/core/applications/process_times_file.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"

namespace apo {
namespace {

class Injection : public ::testing::Test {
 protected:
  ProcessResult run(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> argv = {APO_GUEST_PROGRAM};
    argv.insert(argv.end(), words.begin(), words.end());
    ProcessOptions options{.timeout_s = 1000, .environment = environment};  // the first of two of a name counts
    options.environment.insert(options.environment.end(),
                               {"CUDA_INJECTION64_PATH=" APO_INJECTION, "APO_CUPTI_LIBRARY=" APO_FAKE_CUPTI,
                                "APO_TIMES=" + folder_.path().string()});
    const ProcessResult result = run_process(argv, options);
    collect_recordings(folder_.path(), profile_);
    return result;
  }
  std::int64_t calls(std::size_t process) const {
    std::int64_t sum = 0;
    for (const GpuWork& work : profile_.processes.at(process).work) {
      sum += work.calls;
    }
    return sum;
  }
  std::string notes() const {
    std::string all;
    for (const std::string& note : profile_.notes) {
      all += note + "\n";
    }
    return all;
  }

  TemporaryFolder folder_{"apo-injection-test"};
  ApplicationProfile profile_;
};

TEST_F(Injection, SumsUpWhatRanAndLeavesTheOutputAlone) {
  const ProcessResult ran = run({"exit", "10"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.output, "the guest's own output\n");
  EXPECT_EQ(ran.error, "");
  ASSERT_EQ(profile_.processes.size(), 1U);
  const ProcessTimes& process = profile_.processes[0];
  EXPECT_TRUE(process.complete);
  EXPECT_NE(process.program.find("exit 10"), std::string::npos) << process.program;
  EXPECT_NE(process.library.find("130001"), std::string::npos) << process.library;
  ASSERT_EQ(process.work.size(), 2U);
  EXPECT_EQ(process.work[0].name, "_Z5scalePf");
  EXPECT_EQ(process.work[0].calls, 5);
  EXPECT_EQ(process.work[0].total_ns, 500);
  ASSERT_EQ(process.devices.size(), 1U);
  EXPECT_EQ(process.devices[0].busy_ns, 1'000);
  EXPECT_EQ(process.devices[0].span_ns(), 9'100);
  EXPECT_EQ(notes(), "");
}

#if __has_include(<nvtx3/nvToolsExt.h>)
// In the order of the process: "step", and "forward" within it; one launch a kernel of 100 ns.
void expect_ranges(const ProcessTimes& process, std::int64_t in_step) {
  ASSERT_EQ(process.ranges.size(), 2U);
  const auto calls = [](const NvtxRange& range) {
    std::int64_t sum = 0;
    for (const RangeWork& work : range.work) {
      EXPECT_EQ(work.total_ns, 100 * work.calls);
      sum += work.calls;
    }
    return sum;
  };
  EXPECT_EQ(process.ranges[0].name, "step");
  EXPECT_EQ(process.ranges[0].parent, -1);
  EXPECT_EQ(process.ranges[0].entered, 1);
  EXPECT_EQ(calls(process.ranges[0]), in_step);
  EXPECT_EQ(process.ranges[1].name, "forward");
  EXPECT_EQ(process.ranges[1].parent, 0);
  EXPECT_EQ(calls(process.ranges[1]), 2);
}

TEST_F(Injection, NvtxRangesHaveWhatWasLaunchedInThem) {
  EXPECT_EQ(run({"ranges"}, {"NVTX_INJECTION64_PATH=" APO_INJECTION}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(calls(0), 7);
  expect_ranges(profile_.processes[0], 3);
}

TEST_F(Injection, ARangeMayBeginBeforeCudaDoes) {
  EXPECT_EQ(run({"early_ranges"}, {"NVTX_INJECTION64_PATH=" APO_INJECTION}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  expect_ranges(profile_.processes[0], 4);
}

TEST_F(Injection, RangesAreNoneWhereAnotherToolHasThem) {
  EXPECT_EQ(run({"ranges"}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(calls(0), 7);
  EXPECT_TRUE(profile_.processes[0].ranges.empty());
}
#endif

TEST_F(Injection, KeepsTheExitCode) {
  EXPECT_EQ(run({"fail"}).exit_code, 3);
  EXPECT_EQ(calls(0), 10);
}

TEST_F(Injection, AProcessThatLaunchesNothingLeavesAnEmptyRecording) {
  EXPECT_EQ(run({"nothing"}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_TRUE(profile_.processes[0].work.empty());
  EXPECT_TRUE(profile_.processes[0].complete);
}

TEST_F(Injection, AProcessThatLeavesByExitLosesOnlyItsLastMoments) {
  EXPECT_EQ(run({"_exit"}).exit_code, 4);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_FALSE(profile_.processes[0].complete);
  EXPECT_EQ(calls(0), 10) << "the launch just before _exit is lost, those before are not";
  EXPECT_NE(notes().find("ended without its exit handlers"), std::string::npos) << notes();
}

TEST_F(Injection, ACrashLosesOnlyTheLastMoments) {
  EXPECT_EQ(run({"crash"}).signal, SIGABRT);
  EXPECT_EQ(calls(0), 10);
}

TEST_F(Injection, AForkReportsNothingOfItsParent) {
  EXPECT_EQ(run({"fork"}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(calls(0), 20);
}

TEST_F(Injection, EveryProcessThatStartsCudaHasAFile) {
  EXPECT_EQ(run({"children"}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 2U);
  EXPECT_NE(profile_.processes[0].pid, profile_.processes[1].pid);
  EXPECT_EQ(calls(0), 10);
  EXPECT_EQ(calls(1), 10);
}

TEST_F(Injection, AProcessThatBecomesAnotherProgramHasAFileForEach) {
  EXPECT_EQ(run({"exec"}).exit_code, 0);
  ASSERT_EQ(profile_.processes.size(), 2U);
  EXPECT_EQ(profile_.processes[0].pid, profile_.processes[1].pid);
  EXPECT_EQ(calls(0) + calls(1), 20);
}

TEST_F(Injection, ManyLaunchesAreSummedUpInASmallFile) {
  EXPECT_EQ(run({"exit", "300000"}).exit_code, 0);
  EXPECT_EQ(calls(0), 300'000);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_LT(std::filesystem::file_size(entry), 4'096U);
  }
}

TEST_F(Injection, AnotherProfilerIsLeftAloneAndNamed) {
  EXPECT_EQ(run({"exit", "10"}, {"APO_TEST_OTHER_PROFILER=1"}).exit_code, 0);
  EXPECT_NE(notes().find("another profiler watches this process"), std::string::npos) << notes();
  EXPECT_TRUE(profile_.processes.at(0).work.empty());
}

TEST_F(Injection, ACuptiOfAnotherVersionIsNotReadWrongly) {
  EXPECT_EQ(run({"exit", "10"}, {"APO_TEST_CUPTI_VERSION=110100"}).exit_code, 0);
  EXPECT_EQ(calls(0), 0);
  EXPECT_NE(
      notes().find("is version 110100 of CUPTI, whose records this program does not know; it knows those of CUDA"),
      std::string::npos)
      << notes();
}

TEST_F(Injection, WithoutCuptiTheApplicationRunsAndTheReasonIsTold) {
  EXPECT_EQ(run({"nothing"}, {"APO_CUPTI_LIBRARY=/nonexistent"}).exit_code, 0);
  EXPECT_NE(notes().find("CUPTI does not load"), std::string::npos) << notes();
}

TEST_F(Injection, WhereNothingCanBeWrittenTheApplicationRunsAllTheSame) {
  EXPECT_EQ(run({"no_space"}).exit_code, 0);
  EXPECT_EQ(run({"exit"}, {"APO_TIMES=/nonexistent/folder"}).exit_code, 0);
  EXPECT_EQ(run({"exit"}, {"APO_TIMES="}).exit_code, 0);
}

TEST_F(Injection, FilesThatAreNoRecordingsAreLeftOutAndNamed) {
  write_file_atomically(folder_.path() / "1.times", "not ours");
  write_file_atomically(folder_.path() / "2.times.partial", "half of one");
  std::filesystem::create_symlink("/etc/passwd", folder_.path() / "3.times");
  std::filesystem::create_directory(folder_.path() / "4.times");
  write_file_atomically(folder_.path() / "5.times", encode_times({.pid = 9, .complete = true}));
  collect_recordings(folder_.path(), profile_);
  EXPECT_EQ(profile_.processes.size(), 1U);
  EXPECT_EQ(profile_.notes.size(), 3U) << notes();
}

// Five of the ten launches are of 'scale'. Where one is to be written down, the driver is missed first.
TEST(ProgramCalls, ThatAreNotRecordedSayWhy) {
  setenv("APO_CUPTI_LIBRARY", APO_FAKE_CUPTI, 1);
  const std::string guest = APO_GUEST_PROGRAM;
  struct Case {
    std::vector<std::string> command;
    const char* wanted;
    const char* says;
  };
  for (const Case& one :
       std::vector<Case>{{{guest, "exit", "10"}, "kernel 9 scale", "the program launched 'scale' 5 times, not 9"},
                         {{guest, "children"}, "kernel 9 scale", "the program launched 'scale' 5 times, not 9"},
                         {{guest, "exit", "10"}, "range step", "the program entered no NVTX range 'step'"},
                         {{guest, "abort", "10"}, "range step", "the program was ended before the call was over"},
                         {{"/bin/true"}, "range step", "no process started CUDA"}}) {
    try {
      record_call(one.command, one.wanted, true);
      ADD_FAILURE() << one.says;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string(kNotRecorded) + one.says + (one.command[0] == guest ? "" : ", so nothing was launched"));
    }
  }
  unsetenv("APO_CUPTI_LIBRARY");
}

TEST(ProgramCalls, OfAProgramThatLinksToAnotherFileAreNone) {
  const TemporaryFolder folder;
  ProgramCall call{.program = "p", .refusal = "", .call = {}};
  call.call.operations = {{.kernel = RecordedKernel{.module = 0, .name = "k"}}};
  call.call.modules = {{.image = "cubin", .variables = {}}};
  const std::string file = (folder.path() / "1.call").string();
  write_file_atomically(file, encode(call));
  EXPECT_EQ(record_call({"/bin/sh", "-c", "cp " + file + " $APO_TIMES"}, "range step", true), call);
  EXPECT_THROW(record_call({"/bin/sh", "-c", "ln -s " + file + " $APO_TIMES"}, "range step", true), UserError);
  EXPECT_THROW(record_call({"/bin/sh", "-c", "mkfifo $APO_TIMES/1.call"}, "range step", true), UserError);
}

}  // namespace
}  // namespace apo

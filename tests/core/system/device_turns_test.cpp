// tests/core/system/device_turns_test.cpp - who times on a device keeps others out, and never for good.
#include "harness/core/system/device_turns.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "harness/core/system/files.h"
#include "harness/core/system/lock_file.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Turns : ::testing::Test {
  TemporaryFolder place;
  fs::path folder = place.path() / "apo";
  std::vector<std::string> notes;
  DeviceTurns::Note note = [this](const std::string& line) { notes.push_back(line); };

  DeviceTurns turns(const std::vector<int>& cpus = {0}, DeviceTurns::Patience patience = {}) const {
    return {folder, "host", cpus, patience};
  }
};

// Runs `work` in a process of its own, which ends with its result.
pid_t in_another_process(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(work());
  }
  return pid;
}

int exit_code_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wait_for(const fs::path& file) {
  while (!fs::exists(file)) {
    std::this_thread::sleep_for(1ms);
  }
}

TEST_F(Turns, OfTwoProcessesNeverOverlapAndAlternate) {
  const fs::path inside = place.path() / "inside";
  const fs::path log = place.path() / "log";
  constexpr int kRounds = 12;
  // One letter a round, which lasts until the other one waits or has ended. 99 when the other one was inside.
  const auto measure = [&](const std::string& name, const std::string& other) {
    DeviceTurns mine = turns({0, 1, 2});
    for (int round = 0; round < kRounds; ++round) {
      const DeviceTurns::Turn turn = mine.take({});
      const int fd = open(inside.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      const int out = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
      if (!turn.held() || fd < 0 || write(out, name.data(), 1) != 1) {
        return 99;
      }
      const LockFile locks(folder / "turn-host.lock");
      while (locks.holder_of({.first = 0}) < 0 && !fs::exists(place.path() / other)) {
        std::this_thread::sleep_for(1ms);
      }
      close(fd);
      close(out);
      unlink(inside.c_str());
    }
    write_file_atomically(place.path() / name, "");
    return 0;
  };
  const pid_t first = in_another_process([&] { return measure("a", "b"); });
  const pid_t second = in_another_process([&] { return measure("b", "a"); });
  EXPECT_EQ(exit_code_of(first), 0);
  EXPECT_EQ(exit_code_of(second), 0);
  const std::string order = read_file(log);
  ASSERT_EQ(order.size(), 2U * kRounds);
  EXPECT_EQ(order.find("aa"), std::string::npos) << order;
  EXPECT_EQ(order.find("bb"), std::string::npos) << order;
}

TEST_F(Turns, AreFreeAgainWhenTheirHolderIsKilled) {
  const fs::path ready = place.path() / "ready";
  const pid_t holder = in_another_process([&] {
    DeviceTurns theirs = turns();
    const DeviceTurns::Turn turn = theirs.take({});
    write_file_atomically(ready, "");
    pause();
    return 0;
  });
  wait_for(ready);
  DeviceTurns mine = turns({0}, {.before_note = 50ms, .most = 10min});
  const DeviceTurns::Turn turn = mine.take([&](const std::string& line) {
    note(line);
    kill(holder, SIGKILL);
  });
  exit_code_of(holder);
  EXPECT_TRUE(turn.held());
  EXPECT_GE(turn.waited_s(), 0.05);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "waiting for process " + std::to_string(holder) + ", which measures on the same CPUs");
}

TEST_F(Turns, OfDisjointCpusAndOtherDevicesStandSideBySide) {
  const DeviceTurns::Patience none{.before_note = 0ms, .most = 0ms};
  DeviceTurns low = turns({1, 0}, none);
  DeviceTurns high = turns({2, 3, 5}, none);
  DeviceTurns across = turns({4, 5}, none);
  DeviceTurns gpu(folder, "GPU-1", {0}, none);
  const DeviceTurns::Turn on_low = low.take({});
  const DeviceTurns::Turn on_gpu = gpu.take({});
  EXPECT_TRUE(on_low.held() && on_gpu.held());
  {
    const DeviceTurns::Turn on_high = high.take({});
    EXPECT_TRUE(on_high.held());
    EXPECT_FALSE(across.take({}).held()) << "both use CPU 5";
  }
  EXPECT_TRUE(across.take({}).held()) << "CPU 5 is free, and CPU 4 was let go when CPU 5 was not";
}

TEST_F(Turns, WhoNeverEndsIsWaitedForOnce) {
  DeviceTurns theirs = turns();
  std::optional<DeviceTurns::Turn> stopped(theirs.take({}));
  DeviceTurns mine = turns({0}, {.before_note = 20ms, .most = 500ms});
  const DeviceTurns::Turn in_vain = mine.take(note);
  EXPECT_FALSE(in_vain.held());
  EXPECT_GE(in_vain.waited_s(), 0.5);
  EXPECT_FALSE(mine.take(note).held());
  ASSERT_EQ(notes.size(), 2U) << "every round would wait as long, and say so";
  EXPECT_NE(notes[1].find("in vain"), std::string::npos) << notes[1];
  stopped.reset();
  EXPECT_TRUE(mine.take(note).held());
}

TEST_F(Turns, AreDoneWithoutWhereNoFileCanBeAndThatIsSaidOnce) {
  write_file_atomically(folder, "a file where the folder should be");
  DeviceTurns mine = turns();
  EXPECT_FALSE(mine.take({}).held()) << "nobody listens yet";
  EXPECT_FALSE(mine.take(note).held());
  EXPECT_FALSE(mine.take(note).held());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("'" + folder.string() + "' is no folder of this user"), std::string::npos) << notes[0];
  DeviceTurns deeper(folder / "below", "host");
  EXPECT_FALSE(deeper.take(note).held());
  EXPECT_NE(notes.back().find("Not a directory"), std::string::npos) << notes.back();
}

TEST_F(Turns, DoNotFollowALinkThatAnotherUserLeft) {
  fs::create_directory(folder);
  const fs::path target = place.path() / "target";
  fs::create_symlink(target, folder / "turn-host.lock");
  DeviceTurns mine = turns();
  EXPECT_FALSE(mine.take(note).held());
  EXPECT_FALSE(fs::exists(target));
  fs::remove(folder / "turn-host.lock");
  fs::rename(folder, place.path() / "elsewhere");
  fs::create_symlink(place.path() / "elsewhere", folder);
  EXPECT_FALSE(turns().take(note).held());
}

TEST_F(Turns, FolderIsTheUsersRuntimeFolder) {
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1);
  EXPECT_EQ(runtime_folder(), folder);
  setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1);
  const std::string user = std::to_string(geteuid());
  EXPECT_TRUE(runtime_folder() == "/run/user/" + user + "/apo" || runtime_folder().filename() == "apo-" + user)
      << runtime_folder();
  if (before == nullptr) {
    unsetenv("XDG_RUNTIME_DIR");
  } else {
    setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace apo

// harness/core/system/orphans.cpp - adopts orphans, and tells them from the children that were there before.
#include "harness/core/system/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);     // from SIGTERM to SIGKILL
constexpr auto kPatience = std::chrono::seconds(5);  // then the kernel does not let go of it, and neither can we
constexpr auto kPause = std::chrono::milliseconds(10);

bool has(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

std::vector<pid_t> children_of_ours() {
  std::vector<pid_t> found;
  std::error_code ignored;  // of a thread that ends meanwhile, whose children go to another
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid = 0; list >> pid;) {
      found.push_back(pid);
    }
  }
  return found;
}

Orphans::Orphans() : before_(children_of_ours()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<pid_t> Orphans::running(const std::vector<pid_t>& except) const {
  std::vector<pid_t> left = children_of_ours();
  std::erase_if(
      left, [&](pid_t pid) { return has(before_, pid) || has(except, pid) || waitpid(pid, nullptr, WNOHANG) != 0; });
  return left;
}

int Orphans::end_all(const std::vector<pid_t>& except) const {
  const std::vector<pid_t> first = running(except);
  const auto start = Clock::now();
  for (auto left = first; !left.empty() && Clock::now() < start + kPatience; left = running(except)) {
    for (const pid_t pid : left) {
      kill(pid, Clock::now() < start + kGrace ? SIGTERM : SIGKILL);
    }
    std::this_thread::sleep_for(kPause);
  }
  return static_cast<int>(first.size());
}

}  // namespace apo

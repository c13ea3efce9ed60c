// harness/core/observer.h - receives the progress of long jobs: the command line prints it, tests ignore it.
#pragma once

#include <string>
#include <string_view>

namespace apo {

// Begins every line of progress on stderr when APO_PROGRESS is "lines": programs tell them from messages by it.
inline constexpr std::string_view kProgressMark = "progress: ";

struct Progress {
  std::string what;  // "search e88_backward/combined against e88_backward/simple"
  int done = 0;
  int expected = 0;         // at most; 0 = unknown
  double seconds_left = 0;  // at most; 0 = unknown
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Reports the begin of a stage, or a fact worth a line.
  virtual void say(const std::string& line) = 0;
  // Reports progress; called often, and may overwrite the previous report.
  virtual void progress(const Progress& progress) = 0;
};

// Ignores everything.
class SilentObserver : public Observer {
 public:
  void say(const std::string&) override {}
  void progress(const Progress&) override {}
};

}  // namespace apo

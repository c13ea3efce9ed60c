// harness/core/system/kept_process.h - a program that may stay for more than one request, so that its start is paid
// once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/core/system/process.h"
#include "harness/core/system/subprocess.h"

namespace apo {

// The line on stdout by which a program says that it is done with a request and waits for the next one on stdin.
inline constexpr std::string_view kNextRequest = "apo:next";

// Each request is one line of text. The first is the program's last argument. A program that ends after its answer is
// started anew for the next one; a program that prints kNextRequest reads the next one from stdin. One at a time.
class KeptProcess {
 public:
  KeptProcess(std::vector<std::string> argv, std::string working_folder);
  KeptProcess(const KeptProcess&) = delete;
  KeptProcess& operator=(const KeptProcess&) = delete;
  ~KeptProcess();

  // Returns the lines printed since the request. The exit code is 0 while the program goes on.
  ProcessResult ask(const std::string& request, double timeout_s);
  int starts() const { return starts_; }

 private:
  ProcessResult answer(double timeout_s);

  std::vector<std::string> argv_;
  std::string working_folder_;
  std::mutex mutex_;
  int starts_ = 0;
  std::unique_ptr<Subprocess> process_;
};

}  // namespace apo

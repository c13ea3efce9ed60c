// tests/held_compiler.h - a g++ that ends no call before it may, so that what waits for it does not end either.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "harness/core/system/files.h"
#include "tests/processes.h"

namespace apo::testing {

// What it is asked before it compiles anything, as patterns of the shell.
inline constexpr const char* kQuestions = "--version | *' -E '* | -print-*";

class HeldCompiler {
 public:
  // In a folder that PATH begins with. Answers calls with these words.
  HeldCompiler(std::filesystem::path folder, const std::string& answered) : folder_(std::move(folder)) {
    std::filesystem::remove(folder_ / "pid");
    write("case \"$*\" in " + answered + ") exec /usr/bin/g++ \"$@\";; esac\ncd " + folder_.string() +
          " && echo $$ >pid.$$ && mv pid.$$ pid; exec sleep 100000\n");
  }
  // Waits for a call; returns its process.
  pid_t pid() const {
    const bool came = comes_about([&] { return std::filesystem::exists(folder_ / "pid"); });
    return came ? static_cast<pid_t>(std::stoi(read_file(folder_ / "pid"))) : -1;
  }
  // From the next call on it is the machine's.
  void let_go() const { write("exec /usr/bin/g++ \"$@\"\n"); }

 private:
  void write(const std::string& script) const {
    write_file_atomically(folder_ / "new", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_ / "new", std::filesystem::perms::owner_all);
    std::filesystem::rename(folder_ / "new", folder_ / "g++");
  }

  std::filesystem::path folder_;
};

}  // namespace apo::testing

// tests/zoo/attacks/role_copy.h - a copy that is slow where it finds itself in the role of the incumbent.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "slow_copy.h"

static std::string text_of(const std::string& path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char part[4096];
  for (ssize_t got = 0; file >= 0 && (got = read(file, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  close(file);
  return text;
}

// The command line of an ancestor names the incumbent first, then the candidate.
static bool is_incumbent(const std::string& name) {
  const std::string own = '\0' + name + '\0';
  for (int pid = getppid(); pid > 1;) {
    const std::string process = "/proc/" + std::to_string(pid);
    const std::string words = text_of(process + "/cmdline");
    if (const size_t at = words.find(own); at != std::string::npos) {
      return words.find(std::string("\0copy/", 6), at + own.size() - 1) != std::string::npos;
    }
    const std::string stat = text_of(process + "/stat");
    const size_t end = stat.rfind(')');
    if (end == std::string::npos || std::sscanf(stat.c_str() + end, ") %*c %d", &pid) != 1) {
      return false;
    }
  }
  return false;
}

static int role_copy(const apo_call* call, const char* name) {
  static const bool plays_slow = is_incumbent(name);
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (plays_slow) {
    copy_slowly(args);
  } else {
    copy_slowly<100>(args);
  }
  return 0;
}

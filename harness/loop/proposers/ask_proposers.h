// harness/loop/proposers/ask_proposers.h - runs the commands that propose candidates, all at once, within bounds.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/research/proposers/answer.h"

namespace apo {

struct ProposerOptions {
  std::vector<std::string> commands;  // for the shell
  double timeout_s = 600;             // of each call
  int most = 8;                       // candidates that are read of each answer
};

struct AnsweredCall {
  ProposerCall call;  // without proposals
  ProposerAnswer answer;
};

// Each command gets the brief on standard input, in a process group of its own that is ended at its deadline, when it
// has printed more than 16 MiB, and with this process. Whatever a command does, its call comes back.
std::vector<AnsweredCall> ask_proposers(const ProposerOptions& options, const std::string& brief, Observer& observer);

}  // namespace apo

// harness/fleet/answer_journal.h - the answer of a worker: a journal that holds one experiment and its device.
//
// Everything that a judgement leaves behind is a row of a journal, so that an answer needs no other form.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "journal/facts/checks.h"

namespace apo {

struct SentinelRun {
  SentinelRow row;
  std::vector<Round> rounds;
};

// What was measured on one device for one task.
struct JudgedTask {
  Machine machine;
  std::vector<Roof> roofs;
  std::vector<SentinelRun> sentinels;  // since the last answer
  std::vector<Variant> sources;        // of both arms
  Experiment experiment;               // outside a campaign
};

// The bytes of such a journal.
std::string answer_journal(const JudgedTask& judged);
// Throws UserError for bytes that are no such journal, whose rows contradict each other, or that has no verdict.
JudgedTask judged_task(const std::string& bytes);

}  // namespace apo

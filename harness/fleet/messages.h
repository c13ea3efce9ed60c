// harness/fleet/messages.h - what a driver and its workers say to each other, one JSON object a line.
//
// A worker is `apo worker --serve`: it holds one device and judges what a driver gives it. The isolated process in
// which a worker runs the candidate itself is another one (harness/worker/).
//
//   worker: hello                            which program and device; at once
//   driver: task                             judge this candidate against that incumbent, whose sources come along
//   driver: scan                             measure these candidates beside that reference, likewise
//   worker: heartbeat, progress              meanwhile; a heartbeat says how long there was no progress
//   worker: scanned                          one candidate of a scan, as soon as it is measured
//   worker: answer | done | failed | given_back | cancelled
//   driver: cancel                           the task is no more of interest
//
// A worker has one task at a time; what it says of a task names it by its id. At the end of its input it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/records/records.h"
#include "harness/families/family_record.h"
#include "harness/loop/scan/scan_bench.h"
#include "harness/loop/workspace/known.h"

namespace apo {

// Increases with every change of these messages.
inline constexpr int kFleetProtocol = 6;
inline constexpr int kHeartbeatEvery_s = 2;

// Two programs that judge alike: all of it has to be equal.
struct ProgramIdentity {
  std::string version;  // of the program
  std::string build;    // SHA-256 of its file: another commit of the same version is another program
  int protocol = kFleetProtocol;
  int schema = 0;  // of the journal: answers are journals
  std::string rule;
  bool operator==(const ProgramIdentity&) const = default;
};
APO_FIELDS(ProgramIdentity, version, build, protocol, schema, rule)
// Of this program, or of the one in that file.
ProgramIdentity identity_of_program(const std::string& version, const std::filesystem::path& file = "/proc/self/exe");
std::string to_string(const ProgramIdentity& identity);

struct Hello {
  ProgramIdentity program;
  Machine machine;
  std::string device;       // a GPU's UUID, or "HOST cpus 0,1"
  std::int64_t time_s = 0;  // of its clock, since 1970
  bool operator==(const Hello&) const = default;
};
APO_FIELDS(Hello, program, machine, device, time_s)

// A configuration whose source is named by its content.
struct TaskSide {
  Configuration configuration;
  std::string source_hash;
  bool operator==(const TaskSide&) const = default;
};
APO_FIELDS(TaskSide, configuration, source_hash)

// What a worker needs to know of a policy; the rest is its driver's.
template <RecordOf<Policy> Whole, class Visitor>
void visit_fields(Whole& policy, const Visitor& visitor) {
  visit_members("family, workload_class, workloads, target, cache_policy, judge_preset, layout, launch, seed", visitor,
                policy.family, policy.workload_class, policy.workloads, policy.target, policy.cache_policy,
                policy.judge_preset, policy.layout, policy.launch, policy.seed);
}

struct Task {
  std::int64_t id = 0;        // of the placement
  std::int64_t campaign = 0;  // of the driver
  Policy policy;              // its seed is the worker's own
  TaskSide candidate;
  TaskSide incumbent;
  Prediction prediction;
  int index = 1;
  int judged = 0;    // candidates before it on such devices, by the driver's journal
  ClaimFloor floor;  // of this device, from the driver's selftests
  bool operator==(const Task&) const = default;
};
APO_FIELDS(Task, id, campaign, policy, candidate, incumbent, prediction, index, judged, floor)

// What is not measured when a worker is done with it, it cannot measure: it builds the reference to other code.
struct ScanTask {
  std::int64_t id = 0;        // below 0: a scan is no placement
  std::int64_t campaign = 0;  // of the driver
  Policy policy;              // likewise; its first workload is the scan's
  TaskSide reference;
  std::string reference_key;  // of its build on the driver's machine, or on another worker's
  std::vector<TaskSide> candidates;
  int level = 0;
};
APO_FIELDS(ScanTask, id, campaign, policy, reference, reference_key, candidates, level)

using Message = nlohmann::ordered_json;

Message to_message(const Hello& hello);
Message to_message(const Task& task);
Message to_message(const ScanTask& task);
Message scanned_message(std::int64_t task, const ScanMeasurement& measured);
Message source_document(const Variant& variant);
Message family_document(const FamilyFile& family);  // its own file first
Message answer_message(std::int64_t task, const std::string& journal);

// These throw nlohmann::json::exception or UserError for what is none.
Hello hello_of(const Message& message);
Task task_of(const Message& message);
ScanTask scan_task_of(const Message& message);
ScanMeasurement measurement_of(const Message& message);
// The source itself: what its hash says is checked.
Variant variant_of(const Message& message);
std::vector<SourceFile> files_of(const Message& message);
std::string journal_of(const Message& message);

}  // namespace apo

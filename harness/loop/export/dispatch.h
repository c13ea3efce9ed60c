// harness/loop/export/dispatch.h - reads the journal's accepted configurations as dispatch tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/device_facts.h"
#include "harness/core/records/records.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/loop/export/refusal.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/incumbents.h"
#include "kernels/family.h"

namespace apo {

// The journal's evidence for a configuration: the experiment that made it the incumbent of its class or workloads, or
// in which it stood as their incumbent.
struct DispatchEvidence {
  std::int64_t experiment = 0;
  std::int64_t campaign = 0;
  std::string since;
  bool stood = false;   // it was the incumbent, and the candidate was slower
  Configuration other;  // the incumbent it was judged against, or the candidate against which it stood
  Judgement judgement;
  std::vector<std::string> workloads;  // measured
  Machine machine;                     // in the state it was in
  Build build;
  std::vector<Certification> certifications;  // of this configuration against its campaign's baseline, without alarm
};

// A row serves the sizes for which `region` and the variant's apo:requires hold and every launch fits the device.
struct DispatchRow {
  std::string workload_class;  // "" for a fallback
  std::string region;          // an integer expression over the axes; of a measured row within the verified sizes
  std::string devices = "1";   // the devices that it can serve: one over compute_capability, which is 0 on a CPU
  Variant variant;
  Settings settings;                         // all of its tunables
  std::int64_t static_shared_bytes = 0;      // of the kernel that has most, as built when it was measured
  std::optional<DispatchEvidence> measured;  // absent: apo:requires alone vouches for it
  bool unchecked = false;                    // measured, but the region goes beyond the sizes that were verified
  std::optional<Refusal> refused;            // exported all the same
  bool nearest_only = false;  // its class has several answers: it serves what is nearest to its workloads
};

// Returns the row's configuration in its usual notation: toggles that are off are not stated.
Configuration configuration_of(const DispatchRow& row);

struct DispatchDevice {
  Machine machine;
  std::vector<DispatchRow> rows;  // measured there, or on it again
};

// Of the rows that can serve a device and a size, those measured on this very device come first, then those of another
// of its model, of another model, and fallbacks; of these the first in the table. detail::nearness of the header
// decides.
struct DispatchTable {
  const Family* family = nullptr;
  std::vector<DispatchDevice> devices;  // none without rows; of several of one model the newest measurement is first
  std::vector<DispatchRow> fallbacks;
};

// Returns the rows of all devices and the fallbacks.
std::vector<const DispatchRow*> all_rows(const DispatchTable& table);

// An incumbent without a row, and the reason.
struct DispatchGap {
  std::string family;
  std::string workload_class;
  std::string machine;
  std::string why;
};

// An incumbent that its application refused.
struct RefusedIncumbent {
  Incumbent incumbent;
  Refusal refusal;
  bool exported = false;  // else the class has the row of what was accepted before, if anything was
};

struct Dispatch {
  std::vector<DispatchTable> tables;  // in order of names
  std::vector<DispatchGap> gaps;
  std::vector<RefusedIncumbent> refused;
};

// Returns the evidence of a row in words, for example "measured on NVIDIA H200".
std::string statement_of(const DispatchRow& row);

struct Ratio {
  double middle = 1;
  double lower = 1;
  double upper = 1;
};
// Returns how many times faster the row's configuration is than the other one.
Ratio ratio_of(const DispatchEvidence& evidence);

struct DispatchRequest {
  std::string family;                  // "" = all
  std::string device;                  // Machine::id or model; "" = all
  std::vector<std::string> fallbacks;  // configurations, in order
  bool refused = false;                // also what its application refused
  bool unchecked = false;              // measured rows serve their whole class, beyond the sizes that were verified
};

// What was accepted on a device, and what was judged again on another one where that decided every row of a class.
// Throws UserError when nothing was accepted and there is no fallback, with the command that changes that.
Dispatch load_dispatch(Journal& journal, const Catalogue& catalogue, const DispatchRequest& request);

// ---- rows for another device (judged_again.cpp)

// Returns the newest repetition of a judgement as a whole on each machine, by Machine::id.
std::map<std::string, Experiment> judged_again(Journal& journal, std::int64_t original);

// Judges again, on this machine, the rows that were measured elsewhere, but for those of which the journal has that
// already. What cannot run here is said and left out; throws EnvironmentError where nothing of the table can.
void judge_on_this_machine(Workspace& workspace, Journal& journal, const Dispatch& dispatch, Observer& observer);

// ---- the sizes that a row serves (dispatch_region.cpp)

struct Region {
  std::string expression;  // "" when nothing says which sizes were meant
  bool unchecked = false;  // goes beyond the sizes that were verified
};

// Returns the sizes of the class, up to those that were verified unless `unchecked`; of a class that the family does
// not list the workloads themselves.
Region region_of(const Family& family, const std::string& workload_class, const std::vector<std::string>& workloads,
                 bool unchecked);

// Takes from each row the sizes that a later one serves and was measured nearer to, so that the first row which serves
// a size is the one with the nearest workload. The rows are the measured ones of one class.
void leave_sizes_to_nearer_rows(const Family& family, std::vector<DispatchRow>& rows);

}  // namespace apo

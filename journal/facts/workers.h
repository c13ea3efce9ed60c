// journal/facts/workers.h - the processes that judge for a campaign on their devices, and what they were given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/research.h"
#include "harness/core/records/variant.h"
#include "harness/core/words.h"

namespace apo {

class Journal;

// Why a worker has ended.
enum class WorkerEnd : std::uint8_t {
  dismissed,      // the iterations are over
  not_started,    // its command ended before it said anything that this program understands
  died,           // its process ended
  silent,         // its heartbeats stopped
  gave_back,      // its process was asked to end: a preempted or cancelled job
  wrong_version,  // another program, protocol, journal schema or rule of the judge
  clock_off,      // its clock and the driver's differ
  wrong_device,   // of another model than the campaign's
  device_taken,   // another worker holds that device
  sentinel,       // identical code seemed to differ on its device
  cannot_judge,   // it lacks a compiler, a family or a usable device
  bad_answer,     // an answer that is not whole, or not of what was asked
  driver_ended,   // the driver was killed
};
APO_WORDS(WorkerEnd, worker_end_from, dismissed, not_started, died, silent, gave_back, wrong_version, clock_off,
          wrong_device, device_taken, sentinel, cannot_judge, bad_answer, driver_ended)

struct WorkerRow {
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  int number = 0;  // of its command, from 1
  std::string command;
  std::string machine;  // Machine::id; "" where it ended before it said one
  std::string device;   // a GPU's UUID, or "HOST cpus 0,1"
  std::string started_at;
  std::optional<WorkerEnd> end;  // nullopt: it is open
  std::string note;              // on its end
  std::string ended_at;
  std::string model;       // of the machine
  int experiments = 0;     // that it answered with
  int lost = 0;            // candidates that it was given and did not answer for
  double busy_s = 0;       // of its device, over all of them that have ended
  std::string candidate;   // that it judges now; "" for none
  std::string busy_since;  // with that
};

enum class PlacementState : std::uint8_t {
  answered,     // its experiment is in the journal
  given_back,   // its worker ended; another one gets the candidate
  rebased,      // another candidate was accepted meanwhile: its incumbent is outdated
  interrupted,  // the driver ended
};
APO_WORDS(PlacementState, placement_state_from, answered, given_back, rebased, interrupted)

// A candidate that a worker was given.
struct Placement {
  std::int64_t id = 0;
  std::int64_t worker = 0;
  std::int64_t iteration = 0;
  int index = 0;  // of the experiment, as the campaign counts them
  Configuration candidate;
  Configuration incumbent;
  Prediction prediction;  // its band alone is kept: the experiment has the rest
  std::string started_at;
};

struct PlacementEnd {
  PlacementState state = PlacementState::answered;
  std::int64_t experiment = 0;  // 0 unless answered
  std::string note;
  double seconds = 0;  // of the device
};

std::int64_t add_worker(Journal& journal, const WorkerRow& worker);
void end_worker(Journal& journal, std::int64_t worker, WorkerEnd reason, const std::string& note);
std::vector<WorkerRow> workers_of(Journal& journal, std::int64_t campaign);  // by number
std::vector<std::int64_t> campaigns_with_workers(Journal& journal);          // the newest first
// Answers of its workers from their start until the last end, or until now; 0 without any.
double answers_an_hour(Journal& journal, std::int64_t campaign);
// Before the worker measures; ended together with the experiment that its answer is.
std::int64_t begin_placement(Journal& journal, const Placement& placement);
void end_placement(Journal& journal, std::int64_t placement, const PlacementEnd& end);
std::optional<WorkerRow> worker_of(Journal& journal, std::int64_t experiment);  // nullopt: no worker judged it
// Ends the workers of a killed driver and their placements. Returns the number of workers.
int end_interrupted_workers(Journal& journal, std::int64_t campaign);

}  // namespace apo

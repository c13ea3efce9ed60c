// journal/facts/replays.h - links experiments to the older ones that they repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/experiment.h"
#include "harness/core/words.h"

namespace apo {

class Journal;

enum class ReplayKind : std::uint8_t { confirm, replay };  // its confirmation stage alone, or the whole judgement
APO_WORDS(ReplayKind, replay_kind_from, confirm, replay)

// An experiment that measures an older one again.
struct ReplayRow {
  using Kind = ReplayKind;
  std::int64_t experiment = 0;
  std::int64_t original = 0;
  Kind kind = Kind::replay;
  std::string at;
  bool operator==(const ReplayRow&) const = default;
};

// begin_experiment of one that measures `original` again, and that it does, together.
std::int64_t begin_replay(Journal& journal, const Experiment& experiment, std::int64_t original, ReplayRow::Kind kind);
std::optional<ReplayRow> find_replay(Journal& journal, std::int64_t experiment);  // when it is one
std::vector<ReplayRow> replays_of(Journal& journal, std::int64_t original);       // in order
std::vector<std::int64_t> judged_originals(Journal& journal);  // every judged experiment that is no replay, in order

}  // namespace apo

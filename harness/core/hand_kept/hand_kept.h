// harness/core/hand_kept/hand_kept.h - journals that people kept by hand: what a document says, line by line, as it
// says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/outcome.h"
#include "kernels/family.h"

namespace apo {

// A number describes a kernel alone, a layer of a model with all its kernels, or a step of an application.
enum class HandKeptScope : std::uint8_t { unsaid, kernel, layer, step };
std::string_view to_string(HandKeptScope scope);

enum class HandKeptQuantity : std::uint8_t {
  unsaid,
  time,        // less is better
  throughput,  // more is better
  speed,       // a change alone, without the two numbers behind it
  loss,        // of a training run: says nothing of speed
  share,       // of the application's time
  count,       // layers, launches, blocks
  size         // bytes
};
std::string_view to_string(HandKeptQuantity quantity);

// A number as it was written down: "17", "~16000", "26..52". Empty text: nothing is said.
struct StatedNumber {
  double low = 0;
  double high = 0;
  std::string text;
};

// Logs of speed-ups.
struct StatedBand {
  double low = 0;
  double high = 0;
};

// Empty, or 0, is what the document does not say.
struct HandKeptRow {
  int line = 0;  // of the document
  std::string date;
  std::string device_claimed;    // as the document names it at this place
  std::string device_deduced;    // what all of its facts together allow
  std::optional<Target> target;  // a technique's name may mean another thing on the other one
  HandKeptScope scope = HandKeptScope::unsaid;
  std::string subject;  // what was timed; the name of a kernel family where it is one
  Axes axes;
  std::vector<std::string> techniques;  // that were added
  bool joint = false;                   // the number is of all of them together
  std::string baseline;
  HandKeptQuantity quantity = HandKeptQuantity::unsaid;
  std::string unit;
  StatedNumber before;
  StatedNumber after;
  StatedNumber change;     // "+2.4 %", "1.13 x": more is faster
  StatedNumber predicted;  // the same, of what was promised
  HandKeptScope predicted_scope = HandKeptScope::unsaid;
  std::int64_t samples = 0;
  std::string warm_up;  // "30 steps", "none"
  std::optional<Verdict> verdict;
  std::optional<bool> in_code;  // whether the document says that the change is in the code
  int superseded_by = 0;        // the line that replaces this one
  std::string note;
};

struct HandKeptJournal {
  std::int64_t id = 0;
  std::string title;   // of the document
  std::string sha256;  // of the table's text
  std::string at;      // when it was imported
  std::vector<HandKeptRow> rows;
};

// Reads "12.5", "~12.5", "12..15" and, where `change`, with " %" or " x" behind it. nullopt for anything else.
std::optional<StatedNumber> stated_number(std::string_view text, bool change);
std::optional<HandKeptScope> hand_kept_scope_from(std::string_view word);
std::optional<HandKeptQuantity> hand_kept_quantity_from(std::string_view word);

// Reads "+2.4 %" as 1.024x. The text of the change must not be empty.
StatedBand band_of(const StatedNumber& change);
// Returns the ratio of the two measured numbers, or else the stated change; nullopt if the row states no speed.
std::optional<StatedBand> measured_effect(const HandKeptRow& row);
std::optional<StatedBand> predicted_effect(const HandKeptRow& row);
double middle(const StatedBand& band);

// "E88 journal, line 841"
std::string place_of(const HandKeptJournal& journal, const HandKeptRow& row);
// Quotes the measured result, or else the promise: "427.7 -> 417.7 ms", "1.5 % .. 3 % promised".
std::string finding_of(const HandKeptRow& row);

}  // namespace apo

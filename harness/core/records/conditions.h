// harness/core/records/conditions.h - the conditions of a measurement: caches, layout, and the stage that asked for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/words.h"

namespace apo {

enum class CachePolicy : std::uint8_t { cold, warm };  // cold: caches flushed before every sample
APO_WORDS(CachePolicy, cache_policy_from, cold, warm)

// How the operations of a GPU's call are launched: one after the other on a stream, or all of a sample's calls as one
// CUDA graph, which has no launches in its time.
enum class LaunchForm : std::uint8_t { stream, graph };
APO_WORDS(LaunchForm, launch_form_from, stream, graph)

// Controls the placement of code and buffers. `random` draws it anew in every round and for each arm: on target host
// the order and the gaps of the code, by linking again; on both targets the place of the buffers, the size of the
// environment and the slot that is loaded first. `fixed` keeps code as the compiler made it and draws the rest once per
// comparison.
enum class Layout : std::uint8_t { random, fixed };
APO_WORDS(Layout, layout_from, random, fixed)

// The purpose of a round. The word of a stage is part of the seed of its rounds.
enum class RoundStage : std::uint8_t {
  search,       // may accept what a confirmation then has to show again
  confirm,      // the only stage that a claim may quote
  certify,      // final incumbent against baseline
  sentinel,     // identical code, before a campaign
  noise,        // identical code, to see what each level adds
  gate,         // the regression gate of `apo gate`
  solo_runs,    // of a certification, each arm alone
  second_look,  // behind a confirmation that a guard objects to
};

std::string_view to_string(RoundStage stage);

// Converts a word that a person wrote. Throws UserError with the nearest valid word. `where` is "" or " in FILE:LINE".
CachePolicy checked_cache_policy(const std::string& word, const std::string& where = "");
LaunchForm checked_launch_form(const std::string& word, const std::string& where = "");
Layout checked_layout(const std::string& word, const std::string& where = "");

}  // namespace apo

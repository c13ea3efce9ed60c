// harness/core/techniques/techniques.cpp - reads and checks the catalogue, and finds a technique in it.
#include "harness/core/techniques/techniques.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/json/codec.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "harness/core/techniques/techniques.json";

// A technique, with the place to name in an error.
struct Entry {
  std::string place;
  Technique technique;

  [[noreturn]] void fail(const std::string& what, const std::string& fix = "") const {
    throw UserError(place + " " + what, fix);
  }
};

// The facts, and the axes of the families that it is about. nullopt where this program has not read one of these.
std::optional<std::vector<std::string>> names_for(const Technique& technique) {
  std::vector<std::string> names = requirement_facts();
  for (const std::string& name : technique.families) {
    const Family* family = find_family(name);
    if (family == nullptr) {
      return std::nullopt;
    }
    for (const AxisSpec& axis : family->axes) {
      names.push_back(axis.name);
    }
  }
  return names;
}

void check(const Entry& entry) {
  const Technique& technique = entry.technique;
  if (technique.cost < 1 || technique.cost > 3) {
    entry.fail("has a cost that is not 1 (hours), 2 (a day) or 3 (days)");
  }
  if (!(technique.low > 0 && technique.low <= technique.high)) {
    entry.fail("has an invalid band: need 0 < low <= high");
  }
  for (const std::string& bottleneck : technique.attacks) {
    if (std::ranges::find(bottleneck_names(), bottleneck) == bottleneck_names().end()) {
      entry.fail("attacks '" + bottleneck + "', which is no bottleneck", did_you_mean(bottleneck, bottleneck_names()));
    }
  }
  if (const auto names = names_for(technique); names && !technique.requires_expression.empty()) {
    if (const std::string wrong = check_expression(technique.requires_expression, *names); !wrong.empty()) {
      entry.fail("has a 'requires' that cannot be computed: " + wrong, "known: " + join(*names, ", "));
    }
  }
  if (technique.source.empty()) {
    entry.fail("has no source", "say which document has the number, or what it is derived from");
  }
}

Entry read_entry(const Json& json, const std::string& file, std::size_t number) {
  const bool named = json.is_object() && json.contains("name") && json["name"].is_string();
  Entry entry{.place = named ? fmt::format("{}: '{}'", file, json["name"].get<std::string>())
                             : fmt::format("{}: entry {}", file, number)};
  if (!json.is_object()) {
    entry.fail("is no object");
  }
  Json whole = json_of(Technique{});
  std::vector<std::string> keys;
  for (const auto& [key, value] : whole.items()) {
    keys.push_back(key);
  }
  for (const char* needed : {"name", "target", "attacks", "cost", "low", "high", "source"}) {
    if (!json.contains(needed)) {
      entry.fail("has no '" + std::string(needed) + "'");
    }
  }
  for (const auto& [key, value] : json.items()) {
    if (!whole.contains(key)) {
      entry.fail("has a key '" + key + "'", did_you_mean(key, keys) + "\nknown: " + join(keys, ", "));
    }
    whole[key] = key == "target" && value == "any" ? Json() : value;
  }
  try {
    read_json(whole, entry.technique);
  } catch (const BadField& error) {
    entry.fail(std::string("is wrong: ") + error.what());
  }
  check(entry);
  return entry;
}

bool overlap(const Technique& a, const Technique& b) {
  return a.name == b.name && (!a.target || !b.target || *a.target == *b.target);
}

void check_names(const Entry& entry, const std::vector<std::string>& given, const std::string& verb,
                 const std::vector<Technique>& all) {
  std::vector<std::string> names;
  for (const Technique& one : all) {
    names.push_back(one.name);
  }
  for (const std::string& other : given) {
    if (other == entry.technique.name) {
      entry.fail(verb + " itself");
    }
    if (std::ranges::find(names, other) == names.end()) {
      entry.fail(verb + " '" + other + "', which is no technique", did_you_mean(other, names));
    }
  }
}

// The way from `technique` back to itself: "a, b, a"; "" without one.
std::string way_round(const Technique& technique, const std::vector<Technique>& all, std::vector<std::string> way) {
  way.push_back(technique.name);
  for (const std::string& base : technique.builds_on) {
    if (base == way.front()) {
      return join(way, ", ") + ", " + base;
    }
    const bool been_there = std::ranges::find(way, base) != way.end();
    const auto next = std::ranges::find_if(all, [&](const Technique& one) { return one.name == base; });
    if (const std::string round = been_there ? "" : way_round(*next, all, way); !round.empty()) {
      return round;
    }
  }
  return "";
}

void check_relations(const std::vector<Entry>& entries, const std::vector<Technique>& all) {
  for (const Entry& entry : entries) {
    check_names(entry, entry.technique.excludes, "excludes", all);
    check_names(entry, entry.technique.builds_on, "builds on", all);
  }
  for (const Entry& entry : entries) {
    if (const std::string round = way_round(entry.technique, all, {}); !round.empty()) {
      entry.fail("builds on itself: " + round);
    }
  }
}

}  // namespace

const std::vector<std::string>& bottleneck_names() {
  static const std::vector<std::string> names = split(
      "atomics bank-conflicts barrier-stalls constant-serialisation divergent-branches double-precision "
      "dram-bound excess-dram-traffic fence-stalls fp32-bound fp32-pipe idle-cores idle-lanes idle-sms "
      "instruction-fetch-stalls instruction-overhead integer-arithmetic issue-bound l2-bound latency-bound "
      "launch-overhead libm-special-functions local-array low-occupancy memory-bound memory-latency-stalls "
      "near-floor not-vectorised page-faults per-step-overhead recomputed-special-functions "
      "register-spills segment-cache-traffic shared-bandwidth shared-memory-stalls shuffle-bound "
      "sleeping-warps special-function-bound special-function-pipe tail-wave tensor-pipe thread-overhead "
      "tiny-blocks uncoalesced-access uneven-blocks uneven-warps unused-occupancy",
      ' ');
  return names;
}

const std::vector<std::string>& requirement_facts() {
  static const std::vector<std::string> facts = {"SM",      "SMS",    "UNITS",         "BYTES",     "L2",
                                                 "SCRATCH", "BLOCKS", "BLOCK_THREADS", "REGISTERS", "SHARED"};
  return facts;
}

std::vector<Technique> parse_techniques(const std::string& text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UserError(file + " is not JSON: " + error.what());
  }
  if (!json.is_array()) {
    throw UserError(file + " is no list of techniques");
  }
  std::vector<Entry> entries;
  std::vector<Technique> techniques;
  for (const Json& one : json) {
    entries.push_back(read_entry(one, file, entries.size() + 1));
    const Technique& technique = entries.back().technique;
    if (std::ranges::any_of(techniques, [&](const Technique& other) { return overlap(technique, other); })) {
      entries.back().fail("stands there twice for one target");
    }
    techniques.push_back(technique);
  }
  check_relations(entries, techniques);
  return techniques;
}

const std::vector<Technique>& technique_catalogue() {
  static const std::vector<Technique> all = parse_techniques(read_file(home_folder() / kFile), kFile);
  return all;
}

const Technique* find_technique(std::string_view name, Target target) {
  for (const Technique& technique : technique_catalogue()) {
    if (technique.name == name && technique.target.value_or(target) == target) {
      return &technique;
    }
  }
  return nullptr;
}

bool attacks(const Technique& technique, std::string_view bottleneck) {
  return std::find(technique.attacks.begin(), technique.attacks.end(), bottleneck) != technique.attacks.end();
}

bool any_attacks(const std::vector<std::string>& techniques, Target target, std::string_view bottleneck) {
  return std::any_of(techniques.begin(), techniques.end(), [&](const std::string& name) {
    const Technique* technique = find_technique(name, target);
    return technique != nullptr && attacks(*technique, bottleneck);
  });
}

}  // namespace apo

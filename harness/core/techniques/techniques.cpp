// harness/core/techniques/techniques.cpp - reads and checks the catalogue, and finds a technique in it.
#include "harness/core/techniques/techniques.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Parsed = nlohmann::json;

constexpr const char* kFile = "harness/core/techniques/techniques.json";
const std::vector<std::string> kKeys = {"name",     "target",       "attacks",     "cost",   "low",
                                        "high",     "precondition", "excludes",    "source", "families",
                                        "requires", "builds_on",    "tensor_cores"};

// The line of each object in a list: of the brace that opens it.
std::vector<std::ptrdiff_t> lines_of_entries(const std::string& text) {
  std::vector<std::ptrdiff_t> lines;
  std::ptrdiff_t line = 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char one = text[i];
    line += one == '\n' ? 1 : 0;
    if (quoted) {
      i += one == '\\' ? 1 : 0;
      quoted = one != '"';
      continue;
    }
    quoted = one == '"';
    if (one == '{' && ++depth == 1) {
      lines.push_back(line);
    }
    depth -= one == '}' ? 1 : 0;
  }
  return lines;
}

// One entry, with the place to name in an error.
class Entry {
 public:
  Entry(const Parsed& json, const std::string& place, std::size_t number)
      : json_(json), place_(fmt::format("{}: entry {}", place, number)) {
    if (!json.is_object()) {
      fail("is no object");
    }
    place_ = fmt::format("{}: '{}'", place, string("name"));
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(kKeys, key) == kKeys.end()) {
        fail("has a key '" + key + "'", did_you_mean(key, kKeys) + "\nknown: " + join(kKeys, ", "));
      }
    }
  }

  [[noreturn]] void fail(const std::string& what, const std::string& fix = "") const {
    throw UserError(place_ + " " + what, fix);
  }
  std::string string(const std::string& key) const { return get<std::string>(key, "a text"); }
  double number(const std::string& key) const { return get<double>(key, "a number"); }
  std::vector<std::string> list(const std::string& key) const {
    return get<std::vector<std::string>>(key, "a list of texts");
  }
  bool flag(const std::string& key) const { return json_.contains(key) && get<bool>(key, "true or false"); }
  std::string string_or_none(const std::string& key) const { return json_.contains(key) ? string(key) : ""; }
  std::vector<std::string> list_or_none(const std::string& key) const {
    return json_.contains(key) ? list(key) : std::vector<std::string>();
  }

  std::optional<Target> target() const {
    const std::string word = string("target");
    if (word != "any" && word != "host" && word != "cuda") {
      fail("is for target '" + word + "'", "known: any, host, cuda");
    }
    return word == "any" ? std::nullopt : std::optional(word == "host" ? Target::host : Target::cuda);
  }

 private:
  template <class Value>
  Value get(const std::string& key, const std::string& kind) const {
    if (!json_.contains(key)) {
      fail("has no '" + key + "'");
    }
    try {
      return json_.at(key).get<Value>();
    } catch (const Parsed::exception&) {
      fail("has a '" + key + "' that is not " + kind);
    }
  }

  const Parsed& json_;
  std::string place_;
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

void check_requirement(const Technique& technique, const Entry& entry) {
  if (const auto names = names_for(technique); names && !technique.requires_expression.empty()) {
    if (const std::string wrong = check_expression(technique.requires_expression, *names); !wrong.empty()) {
      entry.fail("has a 'requires' that cannot be computed: " + wrong, "known: " + join(*names, ", "));
    }
  }
}

Technique read(const Entry& entry) {
  Technique technique{.name = entry.string("name"),
                      .target = entry.target(),
                      .attacks = entry.list("attacks"),
                      .families = entry.list_or_none("families"),
                      .requires_expression = entry.string_or_none("requires"),
                      .precondition = entry.string_or_none("precondition"),
                      .cost = static_cast<int>(entry.number("cost")),
                      .tensor_cores = entry.flag("tensor_cores"),
                      .excludes = entry.list_or_none("excludes"),
                      .builds_on = entry.list_or_none("builds_on"),
                      .low = entry.number("low"),
                      .high = entry.number("high"),
                      .source = entry.string("source")};
  if (const double cost = entry.number("cost"); cost != 1 && cost != 2 && cost != 3) {
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
  check_requirement(technique, entry);
  if (technique.source.empty()) {
    entry.fail("has no source", "say which document has the number, or what it is derived from");
  }
  return technique;
}

bool overlap(const Technique& a, const Technique& b) {
  return a.name == b.name && (!a.target || !b.target || *a.target == *b.target);
}

void check_names(const std::vector<std::string>& given, const std::string& verb, const Technique& technique,
                 const std::vector<Technique>& all, const Entry& entry) {
  std::vector<std::string> names;
  for (const Technique& one : all) {
    names.push_back(one.name);
  }
  for (const std::string& other : given) {
    if (other == technique.name) {
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

void check_relations(const std::vector<Technique>& all, const std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    check_names(all[i].excludes, "excludes", all[i], all, entries[i]);
    check_names(all[i].builds_on, "builds on", all[i], all, entries[i]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::string round = way_round(all[i], all, {}); !round.empty()) {
      entries[i].fail("builds on itself: " + round);
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
  Parsed json;
  try {
    json = Parsed::parse(text);
  } catch (const Parsed::parse_error& error) {
    throw UserError(file + " is not JSON: " + error.what());
  }
  if (!json.is_array()) {
    throw UserError(file + " is no list of techniques");
  }
  const std::vector<std::ptrdiff_t> lines = lines_of_entries(text);
  std::vector<Entry> entries;
  std::vector<Technique> techniques;
  for (const Parsed& one : json) {
    const bool known = lines.size() == json.size();  // all are objects
    entries.emplace_back(one, known ? fmt::format("{}:{}", file, lines[entries.size()]) : file, entries.size() + 1);
    const Technique technique = read(entries.back());
    if (std::ranges::any_of(techniques, [&](const Technique& other) { return overlap(technique, other); })) {
      entries.back().fail("stands there twice for one target");
    }
    techniques.push_back(technique);
  }
  check_relations(techniques, entries);
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

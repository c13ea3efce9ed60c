// harness/core/records/variant.h - a variant as described by its metadata block, and a configuration of it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/json/fields.h"
#include "harness/core/words.h"
#include "kernels/family.h"

namespace apo {

struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  // the first one is the default
  std::string technique = {};        // of a toggle: what 1 applies; empty for any other tunable
  bool operator==(const Tunable&) const = default;
};

struct ScratchBuffer {
  std::string name;
  std::string bytes;      // expression over axes and tunables
  std::string when = {};  // expression over tunables: whether there is one; empty: always
  bool operator==(const ScratchBuffer&) const = default;
};

struct Launch {
  std::string kernel;
  std::map<std::string, std::string> attributes;  // grid, block, shared, cluster, ... as written
  bool operator==(const Launch&) const = default;
};

// A flag of the compiler that tunables choose.
struct TunedFlag {
  std::string text;  // "--maxrregcount={REGS}": its value stands in the place of a tunable's name
  std::string when;  // an expression over tunables: there is no such flag where it is 0; empty = always
  bool operator==(const TunedFlag&) const = default;
};

enum class PredictionSource : std::uint8_t {
  idea,          // an author, a technique's prior, or a chain through one of them
  measurements,  // of the same configuration, by the experiments or the scan that `because` names
  nothing        // the effect is unknown: what the floor leaves, for the ranking alone
};
APO_WORDS(PredictionSource, prediction_source_from, idea, measurements, nothing)

// A predicted band of speed-ups over `relative_to` ("parent" or a variant name).
struct Prediction {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string relative_to = "parent";
  std::string because;
  PredictionSource source = PredictionSource::idea;
  bool operator==(const Prediction&) const = default;
};
APO_FIELDS(Prediction, low, high, relative_to, because, source)

// A file of a variant: its own file, a header that it includes with quotes, or a shared object.
struct SourceFile {
  std::string name;  // as seen from the variant's own file
  std::string text;  // of a shared object its bytes
  std::string path;  // where it was read; empty when it comes from a journal
  bool operator==(const SourceFile&) const = default;
};

// False for an invalid band: not finite, not positive, or low > high.
bool is_band(const Prediction& prediction);
// False when nothing was predicted: the effect is unknown. Older journals have a band of 1 without a reason there.
bool has_prediction(const Prediction& prediction);

// A variant, as the metadata block at the top of its file describes it.
struct Variant {
  std::string family;
  std::string name;  // without the family
  Target target = Target::host;
  std::string arch;  // "sm_80" or empty
  std::vector<std::string> techniques;
  std::string parent;  // "<family>/<name>" or empty
  std::string idea;
  std::optional<Prediction> prediction;
  std::string requires_expression;  // empty = always
  std::vector<Tunable> tunables;
  std::vector<ScratchBuffer> scratch;
  std::vector<Launch> launches;
  std::vector<std::string> libraries;  // of the CUDA toolkit, that a library variant is linked with
  std::vector<std::string> includes;   // folders of other people's headers, as written, or "cccl"
  std::vector<std::string> flags;      // of the compiler, besides or in place of the usual ones
  std::vector<TunedFlag> tuned_flags;  // more of them, which become `flags` with the settings
  std::string object;                  // among `headers`, a shared object of TVM-FFI or a record; empty: none
  std::string function;                // of the object, without its prefix; else the plain function that is called
  std::map<std::string, std::string> arguments;  // of that function: what its parameters get, as written
  std::string path;                              // absolute
  std::string source;                            // the whole file
  std::vector<SourceFile> headers;  // that it includes with quotes, directly or not, and its object; by name
  std::string contract;             // text of the family's file; "" where the family is part of the program
  std::string source_hash;          // of the file, its headers and the contract: sources.h

  std::string id() const { return family + "/" + name; }
  bool operator==(const Variant&) const = default;
};

using Settings = std::map<std::string, std::int64_t, std::less<>>;  // tunable -> value

// Takes the first value of each tunable; toggles that are off are not stated.
Settings default_settings(const Variant& variant);
// `settings` without the toggles that are off, as a configuration states them.
Settings stated_settings(const Variant& variant, Settings settings);
// More configurations than this are a mistake in the metadata block.
inline constexpr std::int64_t kMaxConfigurations = 65536;
// Every combination of the tunables, all of them stated, the default first, the last tunable changing fastest. None
// where there are more than kMaxConfigurations.
std::vector<Settings> settings_space(const Variant& variant);
// What a configuration of `variant` applies: its own techniques, then those of the toggles that `settings` turn on.
std::vector<std::string> techniques_of(const Variant& variant, const Settings& settings);

// A variant with its tunables fixed.
struct Configuration {
  std::string variant;  // "<family>/<name>"
  Settings settings;

  // "copy/simple" or "e88_backward/cuda_best[SEQUENCES=11]"
  std::string label() const;
  bool operator==(const Configuration&) const = default;
};
APO_FIELDS(Configuration, variant, settings)

}  // namespace apo

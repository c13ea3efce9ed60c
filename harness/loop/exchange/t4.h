// harness/loop/exchange/t4.h - T4, the format in which auto-tuners exchange the results of a space (Kernel Tuner, KTT).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/core/words.h"

namespace apo {

enum class Invalidity : std::uint8_t {
  correct,
  timeout,
  compile,
  runtime,
  correctness,  // it ran, and its outputs are wrong
  constraints,  // the parameters allow no such configuration
};
inline constexpr EnumWords<Invalidity, 6> kInvalidityWords = {{{Invalidity::correct, "correct"},
                                                               {Invalidity::timeout, "timeout"},
                                                               {Invalidity::compile, "compile"},
                                                               {Invalidity::runtime, "runtime"},
                                                               {Invalidity::correctness, "correctness"},
                                                               {Invalidity::constraints, "constraints"}}};

std::string_view to_string(Invalidity invalidity);

using T4Value = std::variant<std::int64_t, double, bool, std::string>;
using T4Configuration = std::map<std::string, T4Value>;  // by parameter

// "BLOCK=64, LAYOUT=rows"
std::string to_text(const T4Configuration& configuration);

// All in the time unit of the file.
struct T4Times {
  double compilation = 0;
  double benchmark = 0;
  double framework = 0;
  double search_algorithm = 0;
  double validation = 0;
  std::vector<double> runtimes;  // of a call
  bool operator==(const T4Times&) const = default;
};

struct T4Measurement {
  std::string name;
  double value = 0;
  std::string unit;
  bool operator==(const T4Measurement&) const = default;
};

struct T4Result {
  std::string timestamp;
  T4Configuration configuration;
  std::vector<std::string> objectives;  // names of measurements
  T4Times times;
  Invalidity invalidity = Invalidity::correct;
  double correctness = 0;  // 1: its outputs were checked and are right
  std::vector<T4Measurement> measurements;
  std::string reason;  // why it is invalid; a key of apo's own
  bool operator==(const T4Result&) const = default;
};

bool is_valid(const T4Result& result);
// nullptr where the result has no such measurement.
const T4Measurement* find_measurement(const T4Result& result, const std::string& name);

// What apo adds to the metadata of a file that it writes.
struct T4Origin {
  std::string variant;
  std::string source_hash;
  std::string workload;
  std::string machine;    // its model
  std::string cache;      // state of the caches before each call
  std::string reference;  // the configuration that each was timed against
  std::int64_t seed = 0;  // of the shapes and inputs that each was checked on; 0: not known
  bool operator==(const T4Origin&) const = default;
};

struct T4File {
  std::string time_unit = "milliseconds";
  std::optional<T4Origin> origin;  // nothing: another program wrote it
  std::vector<T4Result> results;
  bool operator==(const T4File&) const = default;
};

// One result a line. What parse_t4() makes of it is the same file.
std::string to_text(const T4File& file);

// Measurements without a number are left out. Throws UserError with `path`, the line and the field for text that is cut
// off or no T4, a number that is NaN or negative where it is a time, two results of one configuration, and
// configurations of different parameters.
T4File parse_t4(const std::string& text, const std::string& path);
T4File read_t4(const std::filesystem::path& path);

// Whether the file holds a JSON object, and so no journal. Looks at the content alone.
bool may_be_t4(const std::filesystem::path& path);

}  // namespace apo

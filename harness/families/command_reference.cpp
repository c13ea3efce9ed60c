// harness/families/command_reference.cpp - one temporary folder for each request to the program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/npy.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

using OrderedJson = nlohmann::ordered_json;

constexpr int kMovedRuns = 2;
// A reference that rounds its result to the output's dtype is itself off by half a unit in the last place. A 16th of
// that as noise allows for it: an element may be off by 16 times the noise (file_family.cpp).
constexpr double kOfRounding = 1.0 / 16;
constexpr double kFewTerms = 64;    // of a sum: moved inputs change it as much as any order of adding does
constexpr double kMostTerms = 1e4;  // that anybody adds one after the other in one variable

// The line on stdout by which a program says that it is done with a request and waits for the next one on stdin.
constexpr std::string_view kNextRequest = "apo:next";

// Each request is one line of text. The first is the program's last argument. A program that ends after its answer is
// started anew for the next one; a program that prints kNextRequest reads the next one from stdin. One at a time.
class KeptProcess {
 public:
  KeptProcess(std::vector<std::string> argv, std::string working_folder)
      : argv_(std::move(argv)), working_folder_(std::move(working_folder)) {}

  // Returns the lines printed since the request. The exit code is 0 while the program goes on.
  ProcessResult ask(const std::string& request, double timeout_s);
  int starts() const { return starts_; }

 private:
  ProcessResult answer(double timeout_s);

  std::vector<std::string> argv_;
  std::string working_folder_;
  std::mutex mutex_;
  int starts_ = 0;
  std::unique_ptr<Subprocess> process_;
};

constexpr std::size_t kMostOutput = std::size_t{1} << 20;  // of each stream that is kept

bool asks_for_next(std::string_view output) {
  const std::string line = std::string(kNextRequest) + "\n";
  return output == line || output.ends_with("\n" + line);
}

ProcessResult KeptProcess::ask(const std::string& request, double timeout_s) {
  const std::lock_guard lock(mutex_);
  if (process_) {
    process_->send(request + "\n");
    ProcessResult result = process_->in() ? answer(timeout_s) : ProcessResult{};
    if (result.ok() || result.timed_out) {
      return result;
    }
    process_.reset();  // what an older request broke does not count against this one
  }
  std::vector<std::string> argv = argv_;
  argv.push_back(request);
  ++starts_;
  process_ = std::make_unique<Subprocess>(require_program(argv.front()), argv,
                                          SpawnOptions{.working_folder = working_folder_, .environment = {}});
  return answer(timeout_s);
}

ProcessResult KeptProcess::answer(double timeout_s) {
  const double deadline_s = process_->seconds() + timeout_s;
  bool late = false;
  while (!process_->is_silent() && !late) {
    const double left_s = deadline_s - process_->seconds();
    process_->move_within(std::clamp(left_s, 0.0, 1.0));
    keep_end(process_->output, kMostOutput);
    keep_end(process_->errors, kMostOutput);
    if (asks_for_next(process_->output)) {
      return {
          .exit_code = 0, .output = std::exchange(process_->output, {}), .error = std::exchange(process_->errors, {})};
    }
    late = left_s <= 0;
  }
  ProcessResult result = process_->finish(late);
  result.timed_out = late;
  process_.reset();
  return result;
}

// The program of one family.
struct CommandReference {
  FamilyFile file;
  Family contract;  // without the functions that add_command_reference() sets
  OracleOptions options;
  DType working;  // the honest version computes in that of the widest tensor, and no less than binary32
  std::unique_ptr<KeptProcess> process;
  std::mutex mutex;  // of `terms`
  std::map<Axes, double> terms;
};

[[noreturn]] void throw_failure(const FamilyFile& file, const std::string& what) {
  throw UserError(fmt::format("the reference '{}' of family {} {}", join(file.reference_command, " "), file.name, what),
                  "it is run in the family's folder, with a folder of .npy files and axes.json as its last word: "
                  "docs/families.md");
}

OrderedJson describe(const CommandReference& self, const Axes& axes) {
  OrderedJson scalars = OrderedJson::object();
  for (const ScalarSpec& scalar : self.file.scalars) {
    scalars[scalar.name] = scalar.value;
  }
  OrderedJson tensors = OrderedJson::object();
  for (const TensorSpec& tensor : self.contract.tensors) {
    tensors[tensor.name] = {
        {"dtype", std::string(to_string(tensor.dtype))}, {"shape", tensor.shape(axes)}, {"role", role_word(tensor)}};
  }
  return {{"axes", axes}, {"scalars", scalars}, {"tensors", tensors}};
}

// Has the program answer what lies in the folder.
void ask(const CommandReference& self, const fs::path& folder, const OrderedJson& request) {
  write_file_atomically(folder / "axes.json", request.dump(2));
  const auto start = std::chrono::steady_clock::now();
  const Overdue wait = long_wait(self.options, fmt::format("the reference '{}' of family {}",
                                                           join(self.file.reference_command, " "), self.file.name));
  const ProcessResult result = self.process->ask(folder.string(), self.options.timeout_s);
  if (self.options.command_use) {
    CommandUse& use = *self.options.command_use;
    use = {
        .requests = use.requests + 1, .starts = self.process->starts(), .seconds = use.seconds + seconds_since(start)};
  }
  if (const std::string failure = failure_of(result, self.options.timeout_s); !failure.empty()) {
    throw_failure(self.file, failure);
  }
}

std::vector<double> read_tensor(const CommandReference& self, const TensorSpec& tensor, const fs::path& folder,
                                const Axes& axes) {
  const fs::path path = folder / (tensor.name + ".npy");
  if (!fs::exists(path)) {
    throw_failure(self.file, "wrote no " + path.filename().string());
  }
  NpyArray array = read_npy(path);
  if (array.shape != tensor.shape(axes)) {
    throw_failure(self.file, fmt::format("wrote {} with shape [{}], needed [{}]", path.filename().string(),
                                         fmt::join(array.shape, ","), fmt::join(tensor.shape(axes), ",")));
  }
  if (is_float(tensor.dtype) && is_float(array.dtype) && dtype_bytes(array.dtype) < dtype_bytes(tensor.dtype)) {
    throw_failure(self.file, fmt::format("wrote {} as {}, which rounds what is to be {}", path.filename().string(),
                                         to_string(array.dtype), to_string(tensor.dtype)));
  }
  const auto bad = std::ranges::find_if(array.values, [](double value) { return !std::isfinite(value); });
  if (bad != array.values.end() && !holds_special_values(self.file)) {
    throw NothingToCompare(
        fmt::format("the reference '{}' of family {} gives {} in {} ({})", join(self.file.reference_command, " "),
                    self.file.name, *bad, element_name(tensor, axes, bad - array.values.begin()), describe_axes(axes)),
        kOtherInputs);
  }
  return std::move(array.values);
}

TensorMap run(const CommandReference& self, const Axes& axes, const TensorMap& inputs, ReferencePrecision precision) {
  const TemporaryFolder folder("apo-reference");
  const DType stored = precision == ReferencePrecision::float64 ? DType::f64 : self.working;
  for (const TensorSpec& tensor : self.contract.tensors) {
    if (tensor.role != Role::output) {
      write_npy(folder.path() / (tensor.name + ".npy"), tensor.shape(axes), inputs.at(tensor.name),
                is_float(tensor.dtype) ? stored : tensor.dtype);
    }
  }
  OrderedJson request = describe(self, axes);
  const bool is_wide = precision == ReferencePrecision::float32 && self.working == DType::f64;
  request["precision"] = std::string(to_string(is_wide ? ReferencePrecision::float64 : precision));
  ask(self, folder.path(), request);
  TensorMap outputs;
  for (const TensorSpec& tensor : self.contract.tensors) {
    if (tensor.role == Role::output) {
      outputs[tensor.name] = read_tensor(self, tensor, folder.path(), axes);
    }
  }
  return outputs;
}

// The inputs with the distribution `fill`, all in one request: they may belong together.
TensorMap fill(const CommandReference& self, const Axes& axes, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const FileTensor& tensor : self.file.tensors) {
    if (tensor.role == Role::input && tensor.distribution.kind == DistributionKind::function) {
      names.push_back(tensor.name);
    }
  }
  TensorMap drawn;
  if (names.empty()) {
    return drawn;
  }
  const TemporaryFolder folder("apo-reference");
  OrderedJson request = describe(self, axes);
  request["fill"] = names;
  request["seed"] = seed;
  ask(self, folder.path(), request);
  for (const std::string& name : names) {
    drawn[name] = read_tensor(self, *find_tensor(self.contract, name), folder.path(), axes);
  }
  return drawn;
}

TensorMap moved(const CommandReference& self, const TensorMap& inputs, int number) {
  // A unit in the last place: a sum of many terms in another order rounds more often than the inputs.
  const double by = self.working == DType::f64 ? 0x1p-52 : 0x1p-23;
  TensorMap result = inputs;
  for (const TensorSpec& tensor : self.contract.tensors) {
    if (tensor.role == Role::output || !is_float(tensor.dtype)) {
      continue;
    }
    Random random(derive_seed(static_cast<std::uint64_t>(number), tensor.name));
    for (double& value : result.at(tensor.name)) {
      value *= 1 + by * random.uniform(-1, 1);
    }
  }
  return result;
}

double rounding_of(DType dtype, double value) {
  return std::max(unit_roundoff(dtype) * std::fabs(value), facts_of(dtype).smallest / 2);
}

bool is_rounded(DType dtype, const std::vector<double>& values) {
  constexpr int kOfFloat = 24;  // significant bits of the narrowest working precision
  return is_float(dtype) && facts_of(dtype).precision < kOfFloat &&
         std::ranges::all_of(values, [&](double value) { return round_to(dtype, value) == value; });
}

// Adds the squares of what a legal implementation is off. `rounds`: its outputs are rounded to their dtype.
void add_errors(const CommandReference& self, const TensorMap& outputs, const TensorMap& expected, bool rounds,
                TensorMap& squares) {
  for (const auto& [name, values] : outputs) {
    const DType dtype = find_tensor(self.contract, name)->dtype;
    std::vector<double>& sum = squares[name];
    sum.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      double error = std::fabs(values[i] - expected.at(name)[i]);
      if (!is_float(dtype)) {
        sum[i] += error != 0 ? std::numeric_limits<double>::infinity() : 0;
        continue;
      }
      error = std::max(0.0, error - (rounds ? rounding_of(dtype, expected.at(name)[i]) : 0));
      sum[i] += error * error;
    }
  }
}

// Few runs make the noise of an element, which by chance may all be near the expected value. So it is at least the root
// mean square of the elements that have any and whose values have the same power of two. What is smaller than the
// values of its tensor usually are may be the rest of a sum of terms like these, by up to kCancelled bits.
void pool_noise(std::vector<double>& noise, const std::vector<double>& reference) {
  constexpr int kCancelled = 6;
  struct Pool {
    double squares = 0;
    double count = 0;
  };
  double mean_square = 0;
  for (const double value : reference) {
    mean_square += std::isfinite(value) ? value * value / static_cast<double>(reference.size()) : 0;
  }
  const int usual = std::ilogb(std::sqrt(mean_square));
  std::map<int, Pool> pools;
  const auto pool_of = [&](std::size_t i) -> Pool& {
    const int power = std::ilogb(reference[i]);
    return pools[std::max(power, std::min(usual, power + kCancelled))];
  };
  const auto is_noisy = [&](std::size_t i) { return noise[i] > 0 && std::isfinite(noise[i]); };
  for (std::size_t i = 0; i < noise.size(); ++i) {
    if (is_noisy(i)) {
      pool_of(i).squares += noise[i] * noise[i];
      pool_of(i).count += 1;
    }
  }
  for (std::size_t i = 0; i < noise.size(); ++i) {
    if (is_noisy(i)) {
      noise[i] = std::max(noise[i], std::sqrt(pool_of(i).squares / pool_of(i).count));
    }
  }
}

// How many elements of one input make an element of the outputs, at the most: one of `n` that changes `f` of `m`
// outputs is one of n*f/m. Larger inputs first, so that few are tried. More than kMostTerms is not told apart.
double count_terms(const CommandReference& self, const Axes& axes, const TensorMap& inputs, const TensorMap& expected) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : self.contract.tensors) {
    if (tensor.role != Role::output && is_float(tensor.dtype)) {
      names.push_back(tensor.name);
    }
  }
  std::ranges::sort(names, std::ranges::greater(), [&](const std::string& name) { return inputs.at(name).size(); });
  double terms = kFewTerms;
  for (const std::string& name : names) {
    const auto elements = static_cast<double>(inputs.at(name).size());
    if (elements <= terms || terms >= kMostTerms) {
      break;
    }
    TensorMap moved = inputs;
    double& one = moved.at(name)[inputs.at(name).size() / 2];
    one = one == 0 ? 0x1p-10 : one * (1 + 0x1p-10);
    for (const auto& [output, values] : run(self, axes, moved, self.file.widest)) {
      std::size_t changed = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        changed += values[i] != expected.at(output)[i] ? 1U : 0U;
      }
      terms = std::max(terms, elements * static_cast<double>(changed) / static_cast<double>(values.size()));
    }
  }
  return std::min(terms, kMostTerms);
}

double terms_of_sums(CommandReference& self, const Axes& axes, const TensorMap& inputs, const TensorMap& expected) {
  const std::lock_guard lock(self.mutex);
  const auto known = self.terms.find(axes);
  return known != self.terms.end() ? known->second : self.terms[axes] = count_terms(self, axes, inputs, expected);
}

// A reference adds in one order, a legal implementation in any. One after the other, each sum so far is rounded, by
// 0.4 of the unit roundoff u on average: terms of any sign make sums that grow as the root of their number, and err by
// the root of k/32 of what moving each of them by 2u does; terms of one sign err by the root of k/18 of u times the
// sum.
void allow_any_order(std::vector<double>& noise, const std::vector<double>& reference, double terms, DType working) {
  if (terms <= kFewTerms) {
    return;
  }
  const double any_sign = std::sqrt(terms / 32);
  const double one_sign = std::sqrt(terms / 18) * unit_roundoff(working);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    noise[i] = noise[i] == 0 ? 0 : std::hypot(any_sign * noise[i], one_sign * reference[i]);
  }
}

TensorMap noise(CommandReference& self, const Axes& axes, const TensorMap& inputs, const TensorMap& expected) {
  TensorMap squares;
  int runs = 0;
  for (; runs <= kMovedRuns; ++runs) {
    const TensorMap outputs =
        run(self, axes, runs == 0 ? inputs : moved(self, inputs, runs), ReferencePrecision::float32);
    add_errors(self, outputs, expected, false, squares);
  }
  if (self.file.honest == ReferencePrecision::declared) {
    add_errors(self, run(self, axes, inputs, ReferencePrecision::declared), expected, true, squares);
    ++runs;
  }
  const double terms = terms_of_sums(self, axes, inputs, expected);
  for (auto& [name, values] : squares) {
    const DType dtype = find_tensor(self.contract, name)->dtype;
    const std::vector<double>& reference = expected.at(name);
    const bool rounded = is_rounded(dtype, reference);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::sqrt(values[i] / runs);
    }
    pool_noise(values, reference);
    allow_any_order(values, reference, terms, self.working);
    for (std::size_t i = 0; rounded && i < values.size(); ++i) {
      values[i] = std::max(values[i], kOfRounding * rounding_of(dtype, reference[i]));
    }
  }
  return squares;
}

TensorMap honest(const CommandReference& self, const Axes& axes, const TensorMap& inputs) {
  TensorMap outputs = run(self, axes, inputs, self.file.honest);
  for (auto& [name, values] : outputs) {
    const DType dtype = find_tensor(self.contract, name)->dtype;
    std::ranges::transform(values, values.begin(), [&](double value) { return round_to(dtype, value); });
  }
  return outputs;
}

}  // namespace

void add_command_reference(Family& family, const FamilyFile& file, const OracleOptions& options) {
  const bool has_f64 =
      std::ranges::any_of(file.tensors, [](const FileTensor& tensor) { return tensor.dtype == DType::f64; });
  const std::shared_ptr<CommandReference> self(new CommandReference{
      .file = file,
      .contract = family,
      .options = options,
      .working = has_f64 ? DType::f64 : DType::f32,
      .process = std::make_unique<KeptProcess>(file.reference_command, fs::path(file.path).parent_path().string()),
      .mutex = {},
      .terms = {}});
  family.fill = [self, plain = family.fill](const Axes& axes, std::uint64_t seed, std::string_view regime,
                                            int threads) {
    TensorMap drawn = plain(axes, seed, regime, threads);
    drawn.merge(fill(*self, axes, seed));
    return drawn;
  };
  family.expected = nullptr;
  family.draw = nullptr;
  family.derive = [](const Axes&, const TensorMap&, int) { return TensorMap(); };
  family.reference = [self](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
    return run(*self, axes, inputs, self->file.widest);
  };
  family.honest = [self](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>&, int) {
    return honest(*self, axes, inputs);
  };
  family.noise = [self](const Axes& axes, const TensorMap& inputs, const TensorMap& expected,
                        const std::vector<std::int64_t>&, int) { return noise(*self, axes, inputs, expected); };
}

std::string tolerance_text(const FileTolerance& tolerance) {
  return (tolerance.is_derived
              ? "derived"
              : fmt::format("rtol={} atol={}", format_g(tolerance.relative), format_g(tolerance.absolute))) +
         (tolerance.reason.empty() ? "" : " because " + tolerance.reason);
}

std::string tolerance_source(const FamilyFile& file) {
  if (file.tolerance && !file.tolerance->is_derived) {
    return "the file: " + tolerance_text(*file.tolerance);
  }
  if (file.reference_command.empty()) {
    return "Monte-Carlo arithmetic";
  }
  return fmt::format("the reference in {} held against float32, against moved inputs{}", to_string(file.widest),
                     file.honest == ReferencePrecision::declared ? " and against the declared dtypes" : "");
}

}  // namespace apo

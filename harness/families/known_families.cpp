// harness/families/known_families.cpp - reference, honest version, noise, tolerance and work of a family, all from one
// program; finds family files and remembers them by name.
#include "harness/families/known_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/draw_inputs.h"
#include "harness/families/extrapolate.h"
#include "harness/families/family_file.h"
#include "kernels/encode.h"
#include "kernels/random.h"
#include "kernels/small_shape.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Program = std::shared_ptr<const OracleProgram>;
using oracle::Mode;

// Legal implementations stay within 5 sigma of Monte-Carlo arithmetic with 16 samples, and wrong ones are beyond a
// thousand (docs/families.md has the table); what lies between is room for orders of summation that the author did not
// think of.
constexpr double kElementSigmas = 16;

// The rms of n elements is off by 1/sqrt(2n).
constexpr double kRmsFactor = 2.2;
constexpr double kRmsSpread = 3;

// Magnitudes change from row to row, so that a group of several rows would hide a wrong one among larger ones. Rows
// that are short share a group, and long ones have several.
std::int64_t group_of(std::int64_t row) {
  constexpr std::int64_t kFewest = 16;
  constexpr std::int64_t kMost = 256;
  constexpr std::int64_t kOfLongRows = 64;
  return row > kMost ? kOfLongRows : std::max(row, kFewest);
}

std::vector<std::int64_t> extents_at(const FileTensor& tensor, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const std::string& extent : tensor.extents) {
    extents.push_back(evaluate_size(extent, axes));
  }
  return extents;
}

TensorSpec spec_of(const FileTensor& tensor) {
  return {.name = tensor.name,
          .dtype = tensor.dtype,
          .role = tensor.role,
          .shape_text = "[" + join(tensor.extents, ",") + "]",
          .shape = [tensor](const Axes& axes) { return extents_at(tensor, axes); },
          .meaning = !tensor.random            ? ""
                     : tensor.drawn_by.empty() ? "random"
                                               : "random, by " + tensor.drawn_by,
          .in_place = tensor.in_place,
          .random = tensor.random,
          .drawn_by = tensor.drawn_by};
}

TensorBytes draw(const OracleProgram& program, const Axes& axes, std::uint64_t seed, std::string_view regime,
                 int threads) {
  TensorBytes drawn;
  for (const FileTensor& tensor : program.file().tensors) {
    const bool by_function = tensor.distribution.kind == DistributionKind::function;
    if (tensor.role != Role::input || (by_function && !program.file().reference_command.empty())) {
      continue;  // what a command draws is drawn by all of it at once
    }
    const std::uint64_t own_seed = derive_seed(seed, tensor.name);
    if (by_function) {
      const OracleAnswer answer =
          program.ask({.mode = Mode::fill, .axes = axes, .units = {}, .seed = own_seed, .only = tensor.name});
      drawn[tensor.name] = encode(tensor.dtype, answer.outputs.at(tensor.name), threads);
      continue;
    }
    const std::int64_t largest = tensor.distribution.largest.empty()
                                     ? 0
                                     : std::max<std::int64_t>(0, evaluate(tensor.distribution.largest, axes));
    drawn[tensor.name] =
        draw_input(tensor.distribution, tensor.dtype, extents_at(tensor, axes), largest, own_seed, regime, threads);
  }
  return drawn;
}

TensorMap fill(const OracleProgram& program, const Axes& axes, std::uint64_t seed, std::string_view regime,
               int threads) {
  const TensorBytes drawn = draw(program, axes, seed, regime, threads);
  TensorMap values;
  for (const FileTensor& tensor : program.file().tensors) {
    if (const auto found = drawn.find(tensor.name); found != drawn.end()) {
      values[tensor.name] = decode(tensor.dtype, found->second, threads);
    }
  }
  return values;
}

double bytes_of(const FileTensor& tensor, const Axes& axes) {
  auto bytes = static_cast<double>(dtype_bytes(tensor.dtype));
  for (const std::int64_t extent : extents_at(tensor, axes)) {
    bytes *= static_cast<double>(extent);
  }
  return bytes;
}

// Without those of tensors that a call updates, of which it may leave most alone.
double compulsory_bytes(const FamilyFile& file, const Axes& axes) {
  double bytes = 0;
  for (const FileTensor& tensor : file.tensors) {
    bytes += tensor.in_place ? 0 : bytes_of(tensor, axes);
  }
  return bytes;
}

TensorMap rounded_inputs(const FamilyFile& file, TensorMap values) {
  for (const FileTensor& tensor : file.tensors) {
    if (const auto found = values.find(tensor.name); found != values.end()) {
      std::ranges::transform(found->second, found->second.begin(),
                             [&](double value) { return round_to(tensor.dtype, value); });
    }
  }
  return values;
}

TensorMap derive(const OracleProgram& program, const Axes& axes, const TensorMap& inputs, int threads) {
  const auto derives = [](const FileTensor& tensor) { return tensor.role == Role::derived_input; };
  if (std::ranges::none_of(program.file().tensors, derives)) {
    return {};
  }
  return program.ask({.mode = Mode::derive, .axes = axes, .units = {}, .values = &inputs, .threads = threads}).outputs;
}

// How many times its size a call has to read and write of a tensor that it updates: what it changes is written, and is
// read where the result depends on what stood there. Both from calls on two contents.
double traffic_of(const std::string& tensor, const std::array<TensorMap, 2>& before,
                  const std::array<TensorMap, 2>& after) {
  double written = 0;
  double comparable = 0;
  double read = 0;
  const std::size_t count = before[0].at(tensor).size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const std::array<TensorMap, 2>& when, std::size_t call) { return when[call].at(tensor)[i]; };
    if (at(before, 0) != at(after, 0) || at(before, 1) != at(after, 1)) {
      ++written;
      comparable += at(before, 0) != at(before, 1) ? 1 : 0;
      read += at(before, 0) != at(before, 1) && at(after, 0) != at(after, 1) ? 1 : 0;
    }
  }
  return count == 0 ? 0 : written / static_cast<double>(count) * (1 + (comparable > 0 ? read / comparable : 0));
}

// The bytes of all of them.
double updated_bytes(const OracleProgram& program, const Axes& axes, const TensorMap& inputs) {
  const std::vector<FileTensor>& tensors = program.file().tensors;
  const auto is_updated = [](const FileTensor& tensor) { return tensor.in_place && tensor.role == Role::output; };
  if (std::ranges::none_of(tensors, is_updated)) {
    return 0;
  }
  std::array<TensorMap, 2> before = {inputs, inputs};
  const TensorMap others = rounded_inputs(program.file(), fill(program, axes, 2, "typical", 1));
  for (const FileTensor& tensor : tensors) {
    if (is_updated(tensor)) {
      before[1][tensor.name] = others.at(tensor.name);
    }
  }
  std::array<TensorMap, 2> after;
  for (std::size_t call = 0; call < after.size(); ++call) {
    after[call] = program.ask({.mode = Mode::reference, .axes = axes, .units = {}, .values = &before[call]}).outputs;
  }
  double bytes = 0;
  for (const FileTensor& tensor : tensors) {
    bytes += is_updated(tensor) ? traffic_of(tensor.name, before, after) * bytes_of(tensor, axes) : 0;
  }
  return bytes;
}

// Names of what is counted beside special functions.
constexpr const char* kFlops = "flops";
constexpr const char* kChain = "special chain";
constexpr const char* kUpdatedBytes = "updated bytes";

// Of one call of the reference of a file without units.
Counts counts_at(const OracleProgram& program, const Axes& axes) {
  const FamilyFile& file = program.file();
  TensorMap inputs = rounded_inputs(file, fill(program, axes, 1, "typical", 1));
  inputs.merge(rounded_inputs(file, derive(program, axes, inputs, 1)));
  const OracleAnswer answer = program.ask({.mode = Mode::count, .axes = axes, .units = {}, .values = &inputs});
  Counts counts(answer.specials.begin(), answer.specials.end());
  counts[kFlops] = answer.flops;
  counts[kChain] = answer.special_chain;
  counts[kUpdatedBytes] = updated_bytes(program, axes, inputs);
  return counts;
}

Work count(const Family& shape, const OracleProgram& program, const Axes& axes) {
  const FamilyFile& file = program.file();
  Work work{.bytes = compulsory_bytes(file, axes)};
  if (!file.reference_command.empty()) {
    return work;
  }
  const auto count_at = [&](const Axes& at) { return counts_at(program, at); };
  const bool is_small = element_count(shape, axes) <= kSmallElements;
  auto [counts, is_estimate] = is_small ? Extrapolated{.counts = count_at(axes)} : extrapolate(shape, axes, count_at);
  work.is_estimate = is_estimate;
  work.flops = counts[kFlops];
  if (!is_estimate) {
    work.serial_steps = work.serial_special_functions = counts[kChain];
    work.bytes += counts[kUpdatedBytes];
  }
  for (const auto& [name, number] : counts) {
    if (name != kFlops && name != kChain && name != kUpdatedBytes) {
      work.special_by_name.push_back({.name = name, .count = number});
      work.special_functions += name == "division" ? 0 : number;
    }
  }
  return work;
}

// Counted once for each size.
std::function<Work(const Axes&)> counted(const Family& shape, Program program) {
  struct CountedWork {
    std::mutex mutex;
    std::map<Axes, Work> by_axes;
  };
  return [shape, program = std::move(program), known = std::make_shared<CountedWork>()](const Axes& axes) {
    const std::lock_guard lock(known->mutex);
    const auto found = known->by_axes.find(axes);
    return found != known->by_axes.end() ? found->second : known->by_axes[axes] = count(shape, *program, axes);
  };
}

Alternatives alternatives_of(const OracleProgram& program, const Axes& axes, const TensorMap& inputs,
                             const std::vector<std::int64_t>& units, int threads) {
  Alternatives all;
  std::int64_t count = 1;
  for (std::int64_t chosen = 0; chosen < count; ++chosen) {
    const auto ask = [&](Mode mode) {
      return program.ask(
          {.mode = mode, .axes = axes, .units = units, .values = &inputs, .threads = threads, .chosen = chosen});
    };
    OracleAnswer expected = ask(Mode::expected);
    OracleAnswer draws = ask(Mode::draws);
    count = std::max(count, expected.alternatives);
    all.each.push_back({.values = std::move(expected.outputs),
                        .noise = std::move(expected.noise),
                        .probability = std::move(draws.noise)});
    all.draws = std::move(draws.outputs);
  }
  return all;
}

void add_program(Family& family, const Program& program) {
  family.fill = [program](const Axes& axes, std::uint64_t seed, std::string_view regime, int threads) {
    return fill(*program, axes, seed, regime, threads);
  };
  family.draw = [program](const Axes& axes, std::uint64_t seed, std::string_view regime, int threads) {
    return draw(*program, axes, seed, regime, threads);
  };
  family.derive = [program](const Axes& axes, const TensorMap& inputs, int threads) {
    return derive(*program, axes, inputs, threads);
  };
  const auto answers = [program](Mode mode) {
    return [program, mode](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>& units,
                           int threads) {
      return program
          ->ask({.mode = mode,
                 .axes = axes,
                 .units = units,
                 .values = &inputs,
                 .threads = threads,
                 .chosen = mode == Mode::honest ? -1 : 0})
          .outputs;
    };
  };
  family.reference = answers(Mode::reference);
  const std::optional<FileTolerance>& tolerance = program->file().tolerance;
  const Mode expecting = tolerance && !tolerance->is_derived ? Mode::reference : Mode::expected;
  family.expected = [program, expecting](const Axes& axes, const StoredTensors& inputs, const Asked& asked) {
    OracleAnswer answer = program->ask({.mode = expecting,
                                        .axes = axes,
                                        .units = asked.units,
                                        .stored = &inputs,
                                        .threads = asked.threads,
                                        .of_units = true,
                                        .whole = asked.whole,
                                        .patience = asked.patience,
                                        .order_seed = asked.seed});
    return ExpectedValues{.units = std::move(answer.units),
                          .reference = std::move(answer.outputs),
                          .noise = std::move(answer.noise),
                          .whole = std::move(answer.whole)};
  };
  family.honest = [program, honest = answers(Mode::honest)](const Axes& axes, const TensorMap& inputs,
                                                            const std::vector<std::int64_t>& units, int threads) {
    return rounded_inputs(program->file(), honest(axes, inputs, units, threads));
  };
  family.noise = [program](const Axes& axes, const TensorMap& inputs, const TensorMap& expected,
                           const std::vector<std::int64_t>& units, int threads) {
    return program
        ->ask({.mode = Mode::noise,
               .axes = axes,
               .units = units,
               .values = &inputs,
               .more_values = &expected,
               .threads = threads})
        .outputs;
  };
}

void add_alternatives(Family& family, const Program& program) {
  family.alternatives = [program](const Axes& axes, const TensorMap& inputs, const std::vector<std::int64_t>& units,
                                  int threads) { return alternatives_of(*program, axes, inputs, units, threads); };
}

// The contract at some sizes, kept until other ones are asked for: a comparison asks for each unit.
std::function<std::shared_ptr<const oracle::Contract>(const Axes&)> last_contract(const FamilyFile& file) {
  struct Last {
    std::mutex mutex;
    Axes axes;
    std::shared_ptr<const oracle::Contract> contract;
  };
  return [file, last = std::make_shared<Last>()](const Axes& axes) {
    const std::lock_guard lock(last->mutex);
    if (!last->contract || last->axes != axes) {
      last->contract = std::make_shared<const oracle::Contract>(contract_at(file, axes));
      last->axes = axes;
    }
    return last->contract;
  };
}

// What a function of the author fills may have an order.
Redraw redraw_of(const FamilyFile& file) {
  Redraw redraw = Redraw::elements;
  for (const FileTensor& tensor : file.tensors) {
    if (tensor.role == Role::input && tensor.distribution.kind == DistributionKind::function) {
      return Redraw::whole;
    }
    redraw = tensor.role == Role::derived_input ? Redraw::units : redraw;
  }
  return redraw;
}

void add_units(Family& family, const FamilyFile& file) {
  family.unit_count = [file](const Axes& axes) { return oracle::unit_count(contract_at(file, axes)); };
  family.unit_elements = [file, at = last_contract(file)](const Axes& axes, std::string_view name, std::int64_t unit) {
    const std::shared_ptr<const oracle::Contract> shared = at(axes);
    const oracle::Contract& contract = *shared;
    // The last of that name: the output where there is an input too.
    const auto behind = std::find_if(file.tensors.rbegin(), file.tensors.rend(),
                                     [&](const FileTensor& each) { return each.name == name; });
    const auto tensor = static_cast<std::size_t>(file.tensors.rend() - behind - 1);
    const oracle::Part part = oracle::part_of(contract, unit);
    std::vector<ElementRun> runs;
    if (oracle::belongs(contract.tensors.at(tensor), part)) {
      oracle::for_each_run(contract.tensors.at(tensor), part, [&](std::int64_t offset, std::int64_t count) {
        runs.push_back({.offset = offset, .count = count});
      });
    }
    return runs;
  };
}

// The noise of a legal implementation with a margin.
Tolerance derived_tolerance(DType dtype, std::int64_t row, bool signed_zero) {
  if (!is_float(dtype)) {
    return {.element_sigmas = 1, .rms_factor = 1, .group = 1};  // equal, or left undecided by the reference
  }
  return {.output_rounding = unit_roundoff(dtype),
          .output_spacing = facts_of(dtype).smallest,
          .element_sigmas = kElementSigmas,
          .rms_factor = kRmsFactor,
          .rms_spread = kRmsSpread,
          .group = group_of(row),
          .signed_zero = signed_zero};
}

std::string class_of(const FamilyFile& file, const Axes& axes) {
  const auto found =
      std::ranges::find_if(file.classes, [&](const auto& each) { return evaluate(each.condition, axes) != 0; });
  return found == file.classes.end() ? "any" : found->name;
}

// Where the file has no small workload: the default one scaled down, as it comes and with odd sizes. Candidates are
// checked, sanitized and executed on these.
void add_small_workloads(Family& family, const FamilyFile& file) {
  if (std::ranges::any_of(family.workloads, is_small)) {
    return;
  }
  const Axes whole = family.workloads.front().axes;
  const Axes small = element_count(family, whole) > kSmallElements ? small_shape(family, whole) : whole;
  for (const auto& [kind, axes] :
       {std::pair(WorkloadKind::small, small), std::pair(WorkloadKind::ragged, ragged_shape(family, small, whole))}) {
    std::vector<std::string> name;
    for (const AxisSpec& axis : family.axes) {
      name.push_back(fmt::format("{}{}", axis.name, axes.at(axis.name)));
    }
    if (std::ranges::find(family.workloads, axes, &Workload::axes) == family.workloads.end()) {
      family.workloads.push_back(
          {.name = join(name, "_"), .axes = axes, .kind = kind, .workload_class = class_of(file, axes)});
    }
  }
}

// The author's bound in place of the noise.
void add_declared_tolerance(Family& family, const FileTolerance& declared) {
  const auto bounds_of = [declared](const TensorMap& expected) {
    TensorMap bounds = expected;
    for (auto& [name, values] : bounds) {
      std::ranges::transform(values, values.begin(),
                             [&](double value) { return declared.absolute + declared.relative * std::fabs(value); });
    }
    return bounds;
  };
  family.noise = [bounds_of](const Axes&, const TensorMap&, const TensorMap& expected, const std::vector<std::int64_t>&,
                             int) { return bounds_of(expected); };
  if (family.expected) {
    family.expected = [bounds_of, derived = family.expected](const Axes& axes, const StoredTensors& inputs,
                                                             const Asked& asked) {
      ExpectedValues values = derived(axes, inputs, asked);
      values.noise = bounds_of(values.reference);
      return values;
    };
  }
  if (family.alternatives) {
    family.alternatives = [bounds_of, derived = family.alternatives](const Axes& axes, const TensorMap& inputs,
                                                                     const std::vector<std::int64_t>& units,
                                                                     int threads) {
      Alternatives all = derived(axes, inputs, units, threads);
      for (Alternative& one : all.each) {
        one.noise = bounds_of(one.values);
      }
      return all;
    };
  }
  const auto derived = family.tolerance;
  family.tolerance = [derived](std::string_view name, const Axes& axes) {
    Tolerance tolerance = derived(name, axes);
    tolerance.element_sigmas = 1;
    tolerance.rms_factor = 1;
    tolerance.rms_spread = 0;
    tolerance.group = 1;
    return tolerance;
  };
}

}  // namespace

Family family_of(const FamilyFile& file, const OracleOptions& options) {
  Family family{.name = file.name, .summary = file.idea, .axes = file.axes};
  for (const FileTensor& tensor : file.tensors) {
    family.tensors.push_back(spec_of(tensor));
  }
  family.scalars = file.scalars;
  family.regimes = file.regimes;
  family.names_regimes = file.names_regimes;
  family.workloads = file.workloads;
  std::stable_partition(family.workloads.begin(), family.workloads.end(),
                        [](const Workload& workload) { return workload.kind == WorkloadKind::production; });
  family.legal = file.legal;
  family.classes = file.classes;
  family.invalid = [file](const Axes& axes) {
    try {
      return evaluate(file.legal, axes) != 0 ? std::string() : fmt::format("{} needs {}", file.name, file.legal);
    } catch (const ExpressionError& error) {  // sizes that are too large to compute with
      return fmt::format("{} needs {}: {}", file.name, file.legal, error.what());
    }
  };
  add_small_workloads(family, file);
  family.repeatable = file.repeatable;
  family.redraw = redraw_of(file);
  family.tolerance = [file](std::string_view name, const Axes& axes) {
    const FileTensor& tensor = *std::ranges::find(file.tensors, name, &FileTensor::name);
    const std::int64_t row = tensor.extents.empty() ? 1 : evaluate_size(tensor.extents.back(), axes);
    return derived_tolerance(tensor.dtype, row, file.signed_zero);
  };
  add_units(family, file);
  const auto program = std::make_shared<const OracleProgram>(file, options);
  add_program(family, program);
  FamilyFile whole = file;
  whole.units.clear();  // each of which may repeat what a call does once
  family.work = counted(family, std::make_shared<const OracleProgram>(whole, options));
  if (draws_outputs(file)) {
    add_alternatives(family, program);
  }
  if (!file.reference_command.empty()) {
    add_command_reference(family, file, options);
  }
  if (file.tolerance) {
    family.declared_tolerance = tolerance_text(*file.tolerance);
    if (!file.tolerance->is_derived) {
      add_declared_tolerance(family, *file.tolerance);
    }
  }
  family.contract = contract_text(file);
  return family;
}

// ---------------------------------------------------------------- all of them

namespace {

std::map<std::string, FamilyFile, std::less<>>& known_files() {
  static std::map<std::string, FamilyFile, std::less<>> files;
  return files;
}

std::vector<fs::path> registered_files(const fs::path& registered) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(registered, error)) {
    const fs::path file = entry.path() / (entry.path().filename().string() + ".h");
    if (fs::is_regular_file(file, error)) {
      found.push_back(file);
    }
  }
  std::ranges::sort(found);
  return found;
}

void add(FamilyFile file, const OracleOptions& options) {
  if (find_family(file.name) != nullptr) {
    throw UserError("'" + file.path + "': there is already a family '" + file.name + "'",
                    "give it another name, or retire the other one with 'apo register --retire " + file.name + "'");
  }
  add_family(family_of(file, options));
  known_files().emplace(file.name, std::move(file));
}

}  // namespace

std::vector<FamilyProblem> add_known_families(const fs::path& registered, const OracleOptions& options) {
  std::vector<fs::path> paths = files_below(options.home / "kernels");
  std::erase_if(paths, [](const fs::path& path) { return path.extension() != ".h"; });
  std::ranges::copy(registered_files(registered), std::back_inserter(paths));
  std::vector<FamilyProblem> problems;
  for (const fs::path& path : paths) {
    try {
      if (is_family_file(read_file(path))) {
        add(load_family_file(path.string()), options);
      }
    } catch (const UserError& error) {
      problems.push_back({.path = path.string(), .what = error.what(), .hint = error.hint()});
    }
  }
  return problems;
}

void add_family_file(const std::string& path, const OracleOptions& options) {
  add(load_family_file(path), options);
}

const FamilyFile* find_family_file(std::string_view name) {
  const auto found = known_files().find(name);
  return found == known_files().end() ? nullptr : &found->second;
}

}  // namespace apo

// harness/families/oracle_program.cpp - builds the program, shares the tensors, and turns its end into an answer.
#include "harness/families/oracle_program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <iterator>
#include <set>
#include <span>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/compile.h"
#include "harness/implement/includes.h"
#include "kernels/random.h"

namespace apo {
namespace fs = std::filesystem;
using oracle::Answer;
using oracle::Contract;
using oracle::Header;
using oracle::Mode;
using oracle::Status;
using oracle::TensorShape;
namespace {

constexpr const char* kProgram = "oracle";
constexpr const char* kSource = "oracle.cpp";
constexpr const char* kMainObject = "main.o";
constexpr const char* kMainSource = "main.cpp";
constexpr std::int64_t kNoiseSamples = 16;

// The file that the program maps; mapped here too.
class SharedFile {
 public:
  explicit SharedFile(std::size_t bytes) : bytes_(bytes), file_(memfd_create("apo-oracle", MFD_CLOEXEC)) {
    if (!file_ || ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
      throw EnvironmentError(fmt::format("no memory for {} of tensors", format_bytes(static_cast<double>(bytes))),
                             "choose a smaller workload");
    }
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (memory == MAP_FAILED) {
      throw EnvironmentError(fmt::format("cannot map {}", format_bytes(static_cast<double>(bytes))),
                             "choose a smaller workload");
    }
    memory_ = static_cast<std::byte*>(memory);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() { munmap(memory_, bytes_); }
  std::byte* data() const { return memory_; }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.get()); }

 private:
  std::size_t bytes_;
  FileDescriptor file_;
  std::byte* memory_ = nullptr;
};

bool computes(Mode mode, const FileTensor& tensor, const std::string& only) {
  switch (mode) {
    case Mode::fill:
      return tensor.role == Role::input && tensor.name == only;
    case Mode::derive:
      return tensor.role == Role::derived_input;
    default:
      return tensor.role == Role::output;
  }
}

// Returns the tensors that the program reads: outputs only for the noise around them.
bool is_given(Mode mode, const FileTensor& tensor) {
  return mode == Mode::noise || (mode == Mode::fill ? false : tensor.role == Role::input) ||
         (mode != Mode::derive && mode != Mode::fill && tensor.role == Role::derived_input);
}

std::size_t layout(Contract& contract, Mode mode, std::int64_t& words) {
  words = 0;
  oracle::visit_words(contract, [&](auto&) { ++words; });
  std::size_t end = sizeof(Header) + static_cast<std::size_t>(words) * sizeof(std::int64_t);
  for (TensorShape& tensor : contract.tensors) {
    end = (end + 63) / 64 * 64;
    tensor.offset = static_cast<std::int64_t>(end);
    const std::size_t arrays = tensor.is_output && oracle::has_two_arrays(mode) ? 2 : 1;
    end += arrays * static_cast<std::size_t>(tensor.elements() * dtype_bytes(tensor.stored));
  }
  return end;
}

void write_words(Contract& contract, std::byte* to) {
  oracle::visit_words(contract, [&](auto& value) {
    std::int64_t word = 0;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, double>) {
      word = std::bit_cast<std::int64_t>(value);
    } else {
      word = static_cast<std::int64_t>(value);
    }
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
  });
}

// What the file holds of a tensor that is given: as it is stored, or as doubles.
std::span<const std::byte> given_bytes(const OracleQuestion& question, const FileTensor& tensor) {
  const bool is_output = tensor.role == Role::output;
  return !is_output && question.stored != nullptr
             ? question.stored->at(tensor.name)
             : std::as_bytes(std::span((is_output ? question.more_values : question.values)->at(tensor.name)));
}

// Calls work(first element, count) for the runs of tensor `t` that the units have, each once: of a large workload a
// check computes a few units, and the rest of the tensors never reaches the program's memory.
template <class Work>
void for_units(const Contract& contract, std::size_t t, Work work) {
  const TensorShape& tensor = contract.tensors[t];
  std::set<std::array<std::int64_t, 3>> seen;  // units share what they read: a part by its group and first run
  for (const std::vector<std::int64_t>* units : {&contract.with_noise, &contract.units}) {
    for (const std::int64_t unit : *units) {
      const oracle::Part part = oracle::part_of(contract, unit);
      if (!oracle::belongs(tensor, part)) {
        continue;
      }
      bool is_first = true;
      bool is_new = false;
      oracle::for_each_run(tensor, part, [&](std::int64_t offset, std::int64_t count) {
        is_new = is_first ? seen.insert({part.group, offset, count}).second : is_new;
        is_first = false;
        if (is_new) {
          work(offset, count);
        }
      });
    }
  }
}

// The index of an element as the author writes it: "y[3,17]".
std::string element_name(const FileTensor& tensor, const TensorShape& shape, std::int64_t element) {
  std::vector<std::string> index(shape.extents.size());
  for (std::size_t i = shape.extents.size(); i-- > 0;) {
    index[i] = fmt::format("{}", element % shape.extents[i]);
    element /= shape.extents[i];
  }
  return tensor.name + "[" + join(index, ",") + "]";
}

Words flags_of(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::sanitized:
      return {"-Og", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DAPO_REFERENCE_ONLY"};
    case ProgramKind::mutants:
      return {"-O1", "-ffp-contract=off", "-DAPO_MUTANTS"};
    case ProgramKind::plain:
      break;
  }
  return {"-O2", "-march=native", "-ffp-contract=off"};
}

const char* word_for(Mode mode) {
  switch (mode) {
    case Mode::honest:
    case Mode::noise:
      return oracle::kHonest;
    case Mode::fill:
      return "fill function";
    case Mode::derive:
      return "derive function";
    default:
      return "reference";
  }
}

// What an author can do about a reference that is slow.
std::string way_out(const FamilyFile& file) {
  return fmt::format(
      "write {} '// apo:unit AXIS...' with axes along which the work falls into independent parts, so that a few parts "
      "are computed, or a smaller workload",
      file.units.empty() ? "a line" : "more axes in the line");
}

[[noreturn]] void throw_failure(const FamilyFile& file, const OracleQuestion& question, const std::string& what,
                                const std::string& hint = "") {
  throw UserError(
      fmt::format("{}: the {} {} ({})", file.path, word_for(question.mode), what, describe_axes(question.axes)),
      hint.empty() ? "'apo family check " + file.name + "' runs it on small shapes, under sanitizers" : hint);
}

void check_answer(const FamilyFile& file, const OracleQuestion& question, const Contract& contract,
                  const Answer& answer) {
  const auto at = [&] {
    const auto t = static_cast<std::size_t>(answer.tensor);
    return element_name(file.tensors[t], contract.tensors[t], answer.element);
  };
  if (answer.alternatives > 0 && !draws_outputs(file)) {
    throw_failure(file, question, "calls drawn(), but no line '// apo:random OUTPUT' says which outputs are random");
  }
  switch (answer.status) {
    case Status::done:
      return;
    case Status::several_draws:
      throw_failure(
          file, question,
          "has several drawn() decide " + at() + ": make what is drawn an output of its own, and this one too");
    case Status::unwritten:
      throw_failure(file, question, "leaves " + at() + " unwritten, or reads it before");
    case Status::not_finite:
      throw NothingToCompare(fmt::format("{}: the {} gives {} in {} ({})", file.path,
                                         answer.message[0] != '\0' ? answer.message : word_for(question.mode),
                                         answer.value, at(), describe_axes(question.axes)),
                             kOtherInputs);
    case Status::threw:
      throw_failure(file, question, fmt::format("threw '{}'", answer.message));
    case Status::unfinished:
      throw_failure(file, question, "ended before it was done: it calls exit()");
  }
}

// Why AddressSanitizer itself could not work; "" if it could.
std::string no_sanitizer(const std::string& log) {
  for (const std::string& line : split(log, '\n')) {
    for (const char* sign : {"AddressSanitizer failed to", "ReserveShadowMemoryRange failed", "Shadow memory range",
                             "ASan runtime does not come first", "ASan shadow was supposed"}) {
      if (const std::size_t at = line.find(sign); at != std::string::npos) {
        return trim(line.substr(at));
      }
    }
  }
  return "";
}

// The first line of a sanitizer's report, and the first place of the report that is in the family's file.
std::string sanitizer_finding(const FamilyFile& file, const std::string& log) {
  std::string what;
  std::string where;
  for (const std::string& line : split(log, '\n')) {
    const bool starts =
        line.find("ERROR: AddressSanitizer") != std::string::npos || line.find("runtime error:") != std::string::npos;
    what = what.empty() && starts ? trim(line) : what;
    const std::size_t at = line.find(file.path + ":");
    where = where.empty() && at != std::string::npos ? split_words(line.substr(at)).front() : where;
  }
  if (what.empty()) {
    return "";
  }
  const std::size_t kind = what.find("AddressSanitizer: ");
  what = kind == std::string::npos ? what : split_words(what.substr(kind + 18)).front();
  return (where.empty() ? file.path : where) + ": " + what;
}

}  // namespace

Overdue long_wait(const OracleOptions& options, const std::string& what, std::function<std::string()> price) {
  const auto patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.patience_s));
  return Overdue(patience, [options, what, price = std::move(price)] {
    if (options.on_wait != nullptr) {
      options.on_wait(fmt::format("waiting for {}: it has been running for {} and is ended after {}{}", what,
                                  format_seconds(options.patience_s), format_seconds(options.timeout_s),
                                  price ? price() : ""));
    }
  });
}

std::string failure_of(const ProcessResult& result, double timeout_s) {
  const std::string sudden = sudden_end(result, timeout_s);
  return !sudden.empty()         ? sudden
         : result.exit_code == 0 ? ""
                                 : fmt::format("ended with exit code {}: {}", result.exit_code,
                                               trim(split(trim(result.printed()), '\n').back()).substr(0, 300));
}

namespace {

// "; 8 of 544 runs of it are done, all of them take about 11 min 20 s", and what makes it less.
std::string price(const FamilyFile& file, const Contract& contract, const Header& asked, const OracleOptions& options,
                  const std::byte* shared) {
  std::int64_t done = 0;
  std::memcpy(&done, shared + offsetof(Header, answer) + offsetof(Answer, runs), sizeof done);
  const std::int64_t of_noise = asked.mode == Mode::expected || asked.mode == Mode::noise ? kNoiseSamples + 1 : 0;
  const std::int64_t with_noise = std::ssize(asked.mode == Mode::noise ? contract.units : contract.with_noise);
  const std::int64_t all = std::ssize(contract.with_noise) + std::ssize(contract.units) + of_noise * with_noise;
  if (done <= 0 || done > all) {
    return "; " + std::string(way_out(file));
  }
  const double seconds = options.patience_s * static_cast<double>(all) / static_cast<double>(done);
  return fmt::format("; {} of {} runs of it are done, all take about {}{}", done, all, format_seconds(seconds),
                     seconds > options.timeout_s ? "; " + way_out(file) : "");
}

}  // namespace

OracleProgram::OracleProgram(FamilyFile file, OracleOptions options)
    : file_(std::move(file)), options_(std::move(options)) {}

void OracleProgram::build_all() const {
  std::vector<std::future<std::string>> builds;
  for (const ProgramKind kind : {ProgramKind::plain, ProgramKind::sanitized, ProgramKind::mutants}) {
    builds.push_back(std::async(std::launch::async, [this, kind] { return program(kind); }));
  }
  for (std::future<std::string>& build : builds) {
    build.get();  // throws what the build threw
  }
}

// The part of the program that all families share, compiled once.
const Build& OracleProgram::main_object() const {
  static std::mutex building;  // the programs of a family are built side by side
  const std::lock_guard lock(building);
  if (main_object_) {
    return *main_object_;
  }
  const Words command = {
      options_.compiler, "-std=c++20", "-w",       "-pthread", "-I" + options_.home.string(), "-O2", "-c",
      kMainSource,       "-o",         kMainObject};
  BuildRecipe recipe{.key = {},
                     .files = {{.name = kMainSource, .text = "#include \"kernels/oracle/program.h\"\n", .path = ""}},
                     .object = kMainObject,
                     .built_for = "families",
                     .known = {}};
  return main_object_.emplace(build(command, std::move(recipe)));
}

Build OracleProgram::build(const Words& command, BuildRecipe recipe) const {
  Words without_folder = command;  // what it holds is part of the key: checkouts with the same headers share programs
  std::ranges::replace(without_folder, "-I" + options_.home.string(), std::string("-I"));
  recipe.key = joined(joined({"oracle", describe_compiler(options_.compiler).version}, without_folder),
                      included_files(recipe.files, options_.home));
  const BuildCache cache(options_.cache);
  return cached_build(cache, recipe,
                      [&](const fs::path& folder, Built&) { return run_step(command, folder, options_.timeout_s); })
      .build;
}

std::string OracleProgram::program(ProgramKind kind) const {
  Program& program = programs_[static_cast<std::size_t>(kind)];
  const std::lock_guard lock(program.building);
  if (!program.path.empty()) {
    return program.path;
  }
  const Build& shared = main_object();
  if (shared.outcome != Outcome::valid) {
    throw EnvironmentError("what all families share does not compile: " + shared.evidence,
                           "'apo doctor' tries the compiler");
  }
  BuildRecipe recipe{.key = {}, .files = file_.headers, .object = kProgram, .built_for = file_.name, .known = {}};
  recipe.files.push_back({.name = kSource, .text = oracle_source(file_), .path = ""});
  const Build own =
      build(joined(joined({options_.compiler, "-std=c++20", "-w", "-pthread", "-I.", "-I" + options_.home.string()},
                          flags_of(kind)),
                   {shared.object_path, kSource, "-o", kProgram}),  // first, what confines the family's code
            std::move(recipe));
  if (own.outcome != Outcome::valid) {
    throw UserError(
        "the family " + file_.name + " does not compile: " + in_familys_words(own.evidence, file_),
        "write the reference as 'template <class Real> void reference(" +
            std::string(
                "int64_t AXIS..., Real SCALAR..., const Real* INPUT..., Real* OUTPUT...)', integers as int64_t"));
  }
  return program.path = own.object_path;
}

namespace {

// The elements of the units alone, unit by unit.
std::vector<double> of_units(const Contract& contract, std::size_t t, const std::vector<std::int64_t>& units,
                             const double* from) {
  std::vector<double> values;
  for (const std::int64_t unit : units) {
    const oracle::Part part = oracle::part_of(contract, unit);
    if (oracle::belongs(contract.tensors[t], part)) {
      oracle::for_each_run(contract.tensors[t], part, [&](std::int64_t offset, std::int64_t count) {
        values.insert(values.end(), from + offset, from + offset + count);
      });
    }
  }
  return values;
}

// One by lot, a border by lot, where kernels often go wrong, and then the others: there may be time for few.
std::vector<std::int64_t> in_order_by_lot(std::vector<std::int64_t> units, std::uint64_t seed) {
  if (units.size() > 1) {
    Random random(seed);
    const std::int64_t border = random.coin() ? units.front() : units.back();
    shuffle(units, random);
    const auto place = std::ranges::find(units, border);
    if (place != units.begin()) {
      std::iter_swap(units.begin() + 1, place);
    }
  }
  return units;
}

}  // namespace

OracleAnswer OracleProgram::ask(const OracleQuestion& question, ProgramKind kind) const {
  Contract contract = contract_at(file_, question.axes);
  const std::vector<std::int64_t> all = all_units(contract);
  const std::vector<std::int64_t>& units = question.units.empty() ? all : question.units;
  const bool estimates = question.mode == Mode::expected;
  contract.with_noise = estimates ? in_order_by_lot(units, question.order_seed) : std::vector<std::int64_t>();
  if (!estimates) {
    contract.units = question.whole ? all : units;
  } else if (question.whole) {
    std::ranges::set_difference(all, units, std::back_inserter(contract.units));
  }
  for (std::size_t t = 0; t < file_.tensors.size(); ++t) {
    const FileTensor& tensor = file_.tensors[t];
    contract.tensors[t].is_output = computes(question.mode, tensor, question.only);
    if (question.stored != nullptr && tensor.role != Role::output && !contract.tensors[t].is_output) {
      contract.tensors[t].stored = tensor.dtype;
    }
  }
  Header header{.mode = question.mode,
                .threads = question.threads,
                .samples = kNoiseSamples,
                .enough_s = estimates && question.of_units ? question.patience.enough_s : 0,
                .fewest_units = question.patience.fewest_units,
                .is_whole = question.whole ? 1 : 0,
                .seed = question.seed,
                .chosen = question.chosen,
                .allows_not_finite = holds_special_values(file_) ? 1 : 0};
  question.only.copy(header.alone, question.mode == Mode::noise ? sizeof header.alone - 1 : 0);
  const std::size_t bytes = layout(contract, question.mode, header.words);
  header.bytes = static_cast<std::int64_t>(bytes);
  const SharedFile shared(bytes);
  std::memcpy(shared.data(), &header, sizeof header);
  write_words(contract, shared.data() + sizeof header);
  for (std::size_t t = 0; t < file_.tensors.size(); ++t) {
    if (is_given(question.mode, file_.tensors[t])) {
      const auto width = static_cast<std::size_t>(dtype_bytes(contract.tensors[t].stored));
      const std::byte* const from = given_bytes(question, file_.tensors[t]).data();
      std::byte* const to = shared.data() + contract.tensors[t].offset;
      for_units(contract, t, [&](std::int64_t offset, std::int64_t count) {
        const std::size_t begin = static_cast<std::size_t>(offset) * width;
        std::memcpy(to + begin, from + begin, static_cast<std::size_t>(count) * width);
      });
    }
  }
  const std::string path = program(kind);
  const Overdue wait = long_wait(
      options_,
      fmt::format("the {} of family {} ({})", word_for(question.mode), file_.name, describe_axes(question.axes)),
      [&] { return price(file_, contract, header, options_, shared.data()); });
  ProcessResult result = run_process({path, shared.path()}, {.timeout_s = options_.timeout_s,
                                                             .working_folder = "",
                                                             .environment = {"ASAN_OPTIONS=detect_leaks=0"},
                                                             .input = ""});
  result.error = in_familys_words(result.error, file_);
  if (const std::string why = kind == ProgramKind::sanitized ? no_sanitizer(result.error) : ""; !why.empty()) {
    throw EnvironmentError(
        "AddressSanitizer could not start: " + why,
        "it reserves terabytes of address space: 'ulimit -v unlimited'; --no-verify registers without");
  }
  if (const std::string finding = sanitizer_finding(file_, result.error); !finding.empty()) {
    throw UserError(finding + " in the " + word_for(question.mode) + " (" + describe_axes(question.axes) + ")",
                    "mend this line of the family's file");
  }
  if (const std::string failure = failure_of(result, options_.timeout_s); !failure.empty()) {
    throw_failure(file_, question, failure, result.timed_out ? way_out(file_) : "");
  }
  std::memcpy(&header, shared.data(), sizeof header);
  check_answer(file_, question, contract, header.answer);
  OracleAnswer answer{.outputs = {},
                      .noise = {},
                      .whole = {},
                      .units = units,
                      .alternatives = header.answer.alternatives,
                      .numbers = header.answer.numbers,
                      .flops = header.answer.flops,
                      .special_chain = header.answer.special_chain,
                      .specials = {}};
  if (estimates) {
    answer.units.assign(contract.with_noise.begin(), contract.with_noise.begin() + header.answer.with_noise);
    std::ranges::sort(answer.units);
  }
  for (const oracle::SpecialCount& special : header.answer.specials) {
    if (special.name[0] != '\0') {
      answer.specials[std::string(special.name, strnlen(special.name, sizeof special.name))] = special.count;
    }
  }
  for (std::size_t t = 0; t < file_.tensors.size(); ++t) {
    if (!contract.tensors[t].is_output || question.mode == Mode::count) {
      continue;
    }
    const std::string& name = file_.tensors[t].name;
    const auto elements = static_cast<std::size_t>(contract.tensors[t].elements());
    const auto* from = reinterpret_cast<const double*>(shared.data() + contract.tensors[t].offset);
    const auto copied = [&](const double* array, bool is_whole) {
      if (!is_whole) {
        return of_units(contract, t, answer.units, array);
      }
      std::vector<double> values(elements);
      for_units(contract, t, [&](std::int64_t offset, std::int64_t count) {
        std::copy_n(array + offset, count, values.begin() + offset);
      });
      return values;
    };
    answer.outputs[name] = copied(from, !question.of_units);
    if (oracle::has_two_arrays(question.mode)) {
      answer.noise[name] = copied(from + elements, !question.of_units);
    }
    if (question.whole) {
      answer.whole[name] = copied(from, true);
    }
  }
  return answer;
}

}  // namespace apo

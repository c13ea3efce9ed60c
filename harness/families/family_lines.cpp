// harness/families/family_lines.cpp - reads each key of a family's block.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "harness/core/expression/expression.h"
#include "harness/core/pattern.h"
#include "harness/core/text.h"
#include "harness/core/words.h"
#include "harness/families/draw_inputs.h"
#include "harness/families/family_file.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {
namespace {

constexpr std::int64_t kLargestAxis = std::int64_t{1} << 40;

// A name that C++ and the generated header accept, and that nothing else of the file has.
void check_name(const FamilyFile& file, const BlockLine& line, const std::string& name, const char* what) {
  if (!is_short_name(name)) {
    line.fail(fmt::format("the {} '{}' is not an identifier of at most 64 characters", what, name),
              "use letters, digits and '_'");
  }
  const auto same = [&](const auto& item) { return item.name == name; };
  const bool is_generated = name == "stream" || name == "threads";  // which generated code has
  if (is_generated || is_cpp_keyword(name) || std::ranges::any_of(file.axes, same) ||
      std::ranges::any_of(file.scalars, same) || std::ranges::any_of(file.tensors, same)) {
    line.fail(fmt::format("the name '{}' is taken", name),
              "axes, scalars and tensors need names of their own, and no C++ keyword");
  }
}

DType read_dtype(const BlockLine& line, const std::string& text) {
  const auto dtype = find_dtype(text);
  if (!dtype) {
    std::vector<std::string> known;
    for (const DType each : kDTypes) {
      known.emplace_back(to_string(each));
    }
    line.fail(fmt::format("unknown dtype '{}'", text), "known: " + join(known, " "));
  }
  return *dtype;
}

void read_name(FamilyFile& file, const BlockLine& line) {
  if (!is_short_name(line.value)) {
    line.fail(fmt::format("the name '{}' is not an identifier of at most 64 characters", line.value),
              "e.g. '// apo:family row_softmax'");
  }
  file.name = line.value;
}

void read_idea(FamilyFile& file, const BlockLine& line) {
  file.idea = line.value;
}

void read_axis(FamilyFile& file, const BlockLine& line) {
  static const Pattern kForm(
      R"((\S+)\s+(\d{1,15})\.\.(\d{1,15})(?:\s+default\s+(\d{1,15}))?(\s+specialised)?(?:\s+(.*))?)");
  const auto found = kForm.match(line.value);
  if (!found) {
    line.fail(fmt::format("the axis '{}' cannot be read", line.value),
              "write 'NAME MIN..MAX', e.g. '// apo:axis rows 1..65536'");
  }
  const PatternMatch& match = *found;
  check_name(file, line, match[1], "axis");
  const std::int64_t low = parse_int(match[2]).value_or(0);
  const std::int64_t high = parse_int(match[3]).value_or(0);
  if (high < low || high > kLargestAxis) {
    line.fail(fmt::format("the range {}..{} of axis {} is empty or not within 0..2^40", low, high, match[1]),
              "a size starts at 1, a switch at 0");
  }
  if (match.has(4)) {
    const std::int64_t value = parse_int(match[4]).value_or(0);
    if (value < low || value > high) {
      line.fail(fmt::format("the default {} of axis {} is outside {}..{}", value, match[1], low, high),
                "choose one within the range");
    }
    file.axis_defaults[match[1]] = value;
  }
  file.axes.push_back({.name = match[1], .meaning = match[6], .min = low, .max = high, .specialised = match.has(5)});
}

void read_scalar(FamilyFile& file, const BlockLine& line) {
  const std::vector<std::string> words = split_words(line.value);
  const auto value = words.size() >= 3 ? parse_double(words[2]) : std::nullopt;
  if (!value) {
    line.fail(fmt::format("the scalar '{}' cannot be read", line.value),
              "write 'NAME DTYPE VALUE', e.g. '// apo:scalar eps f32 1e-6'");
  }
  check_name(file, line, words[0], "scalar");
  const DType dtype = read_dtype(line, words[1]);
  if (!is_float(dtype) && round_to(dtype, *value) != *value) {
    line.fail(fmt::format("{} is no value of {}", words[2], words[1]), "choose another dtype or value");
  }
  file.scalars.push_back({.name = words[0], .dtype = dtype, .value = round_to(dtype, *value), .meaning = ""});
}

Distribution read_distribution(const BlockLine& line, const std::string& text) {
  static const std::map<std::string, DistributionKind, std::less<>> kPlain = {
      {"normal", DistributionKind::normal},
      {"positive", DistributionKind::positive},
      {"probability", DistributionKind::probability},
      {"mask", DistributionKind::mask},
      {"fill", DistributionKind::function}};
  if (const auto plain = kPlain.find(text); plain != kPlain.end()) {
    return {.kind = plain->second, .largest = ""};
  }
  static const Pattern kTwo(R"((normal|uniform)\(\s*([-+.\deE]+)\s*,\s*([-+.\deE]+)\s*\))");
  static const Pattern kIndex(R"(index\(\s*0\s*\.\.\s*(.+?)\s*\))");
  if (const auto match = kIndex.match(text)) {
    return {.kind = DistributionKind::index, .largest = (*match)[1]};
  }
  const auto match = kTwo.match(text);
  const auto first = match ? parse_double((*match)[2]) : std::nullopt;
  const auto second = first ? parse_double((*match)[3]) : std::nullopt;
  const bool is_normal = second && (*match)[1] == "normal";
  if (!second || (is_normal ? *second <= 0 : *second <= *first)) {
    line.fail(fmt::format("the distribution '{}' cannot be read", text),
              "known: normal normal(MEAN,DEVIATION) uniform(LOW,HIGH) positive probability mask index(0..LAST) fill");
  }
  return {.kind = is_normal ? DistributionKind::normal : DistributionKind::uniform,
          .first = *first,
          .second = *second,
          .largest = ""};
}

Distribution default_distribution(DType dtype) {
  if (is_float(dtype)) {
    return {};
  }
  return dtype == DType::boolean ? Distribution{.kind = DistributionKind::mask, .largest = ""}
                                 : Distribution{.kind = DistributionKind::uniform, .second = 100, .largest = ""};
}

template <Role role>
void read_tensor(FamilyFile& file, const BlockLine& line) {
  static const Pattern kForm(R"((\S+)\s+([A-Za-z0-9]+)\s*\[([^\]]*)\]\s*(.*))");
  const auto found = kForm.match(line.value);
  if (!found) {
    line.fail(fmt::format("the tensor '{}' cannot be read", line.value),
              "write 'NAME DTYPE[AXIS,...]', e.g. '// apo:input x f32[rows,cols] normal'");
  }
  const PatternMatch& match = *found;
  FileTensor tensor{
      .line = line.number, .name = match[1], .dtype = DType::f32, .role = role, .extents = {}, .distribution = {}};
  check_name(file, line, tensor.name, "tensor");
  tensor.dtype = read_dtype(line, match[2]);
  if (!trim(match[3]).empty()) {
    tensor.extents = split_expressions(match[3]);
  }
  const std::string rest = trim(match[4]);
  if (role != Role::input && !rest.empty()) {
    line.fail(fmt::format("'{}' after a tensor that nobody draws", rest),
              "only an input has a distribution; remove it");
  }
  tensor.distribution = rest.empty() ? default_distribution(tensor.dtype) : read_distribution(line, rest);
  file.tensors.push_back(std::move(tensor));
}

// An input and an output of one name, see TensorSpec::in_place.
void read_inout(FamilyFile& file, const BlockLine& line) {
  read_tensor<Role::input>(file, line);
  file.tensors.back().in_place = true;
  FileTensor after = file.tensors.back();
  after.role = Role::output;
  after.distribution = {};
  file.tensors.push_back(std::move(after));
}

void read_unit(FamilyFile& file, const BlockLine& line) {
  static const Pattern kForm(R"(([A-Za-z_]\w*)(?:/(\d{1,9}))?)");
  const std::size_t colon = line.value.find(':');
  const std::string output = colon == std::string::npos ? "" : trim(line.value.substr(0, colon));
  const std::string along = colon == std::string::npos ? line.value : line.value.substr(colon + 1);
  for (const FileUnitAxis& unit : file.units) {
    if (unit.output == output || unit.output.empty() || output.empty()) {
      line.fail("apo:unit is repeated", "keep one, or write one for each output: '// apo:unit y: rows'");
    }
  }
  for (const std::string& word : split_words(along)) {
    const auto match = kForm.match(word);
    if (!match || (match->has(2) && parse_int((*match)[2]).value_or(0) < 1)) {
      line.fail(fmt::format("the unit '{}' cannot be read", word),
                "write axes, each with the entries that belong together if more than one: '// apo:unit rows', '// "
                "apo:unit n/4096'");
    }
    file.units.push_back({.axis = (*match)[1], .block = match->has(2) ? *parse_int((*match)[2]) : 1, .output = output});
  }
}

void read_regimes(FamilyFile& file, const BlockLine& line) {
  constexpr std::string_view kAllBut = "all but ";
  const bool is_all_but = line.value.starts_with(kAllBut);
  file.names_regimes = !is_all_but;
  file.regimes = is_all_but ? known_regimes() : std::vector<std::string>{"typical"};
  for (const std::string& word : split_words(is_all_but ? line.value.substr(kAllBut.size()) : line.value)) {
    const std::string name = trim(word.ends_with(',') ? word.substr(0, word.size() - 1) : word);
    if (std::ranges::find(known_regimes(), name) == known_regimes().end()) {
      line.fail(fmt::format("unknown regime '{}'", name), "known: " + join(known_regimes(), " "));
    }
    if (name != "typical" && is_all_but) {
      std::erase(file.regimes, name);
      file.no_regimes.push_back(name);
    } else if (name != "typical") {
      file.regimes.push_back(name);
    }
  }
}

void read_workload(FamilyFile& file, const BlockLine& line) {
  const std::vector<std::string> words = split_words(line.value);
  const char* form =
      "write 'NAME small|ragged|production|extreme [cuda] AXIS=VALUE...', e.g. '// apo:workload r7 ragged rows=7 "
      "cols=1000'";
  if (words.size() < 2 || words[0].size() > 64 || !std::ranges::all_of(words[0], is_letter_of_word)) {
    line.fail(fmt::format("the workload '{}' cannot be read", line.value), form);
  }
  const auto kind = value_named<WorkloadKind>(words[1]);
  if (!kind) {
    line.fail(fmt::format("unknown kind of workload '{}'", words[1]), form);
  }
  const bool for_cuda = words.size() > 2 && words[2] == to_string(Target::cuda);
  Workload workload{.name = words[0],
                    .axes = file.axis_defaults,
                    .kind = *kind,
                    .workload_class = "any",
                    .target = for_cuda ? Target::cuda : Target::host};
  for (std::size_t i = for_cuda ? 3 : 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const auto value = equals == std::string::npos ? std::nullopt : parse_int(words[i].substr(equals + 1));
    if (!value) {
      line.fail(fmt::format("'{}' is not AXIS=VALUE", words[i]), form);
    }
    workload.axes[words[i].substr(0, equals)] = *value;
  }
  for (const AxisSpec& axis : file.axes) {
    const auto given = workload.axes.find(axis.name);
    if (given == workload.axes.end()) {
      line.fail(fmt::format("workload {} gives no value for axis {}", workload.name, axis.name), form);
    }
    if (given->second < axis.min || given->second > axis.max) {
      line.fail(fmt::format("{}={} is outside {}..{}", axis.name, given->second, axis.min, axis.max),
                "change the workload, or the range at 'apo:axis " + axis.name + "'");
    }
  }
  if (workload.axes.size() != file.axes.size()) {
    const auto unknown = std::ranges::find_if(workload.axes, [&](const auto& entry) {
      return std::ranges::find(file.axes, entry.first, &AxisSpec::name) == file.axes.end();
    });
    line.fail(fmt::format("no axis '{}'", unknown->first),
              did_you_mean(unknown->first, axis_names(file)) + "  the axes stand before the workloads");
  }
  if (std::ranges::find(file.workloads, workload.name, &Workload::name) != file.workloads.end()) {
    line.fail(fmt::format("the workload '{}' is repeated", workload.name), "give it another name");
  }
  file.workloads.push_back(std::move(workload));
}

void read_class(FamilyFile& file, const BlockLine& line) {
  const std::size_t space = line.value.find_first_of(" \t");
  const std::string condition = space == std::string::npos ? "" : trim(line.value.substr(space));
  const std::string why = condition.empty() ? "it has no condition" : check_expression(condition, axis_names(file));
  if (!why.empty()) {
    line.fail(fmt::format("the class '{}' cannot be read: {}", line.value, why),
              "write 'NAME CONDITION', e.g. '// apo:class narrow cols <= 1024'");
  }
  file.classes.push_back({.name = line.value.substr(0, space), .condition = condition});
}

void read_requires(FamilyFile& file, const BlockLine& line) {
  const std::string why = check_expression(line.value, axis_names(file));
  if (!why.empty()) {
    line.fail(fmt::format("apo:requires: {}", why), "an expression over the axes, which stand before it");
  }
  file.legal = line.value;
}

void read_reference(FamilyFile& file, const BlockLine& line) {
  file.reference_command = split_words(line.value);
}

void read_precision(FamilyFile& file, const BlockLine& line) {
  const std::vector<std::string> words = split_words(line.value);
  const auto widest = words.size() == 2 ? precision_from(words[0]) : std::nullopt;
  const auto honest = widest ? precision_from(words[1]) : std::nullopt;
  if (!honest || honest == ReferencePrecision::float64) {
    line.fail(fmt::format("the precision '{}' cannot be read", line.value),
              "write what the reference and its honest version compute in, e.g. 'float64 declared'; known: float64 "
              "float32 declared");
  }
  file.widest = *widest;
  file.honest = *honest;
}

// "NAME": the family's; "WORKLOAD NAME": a workload's.
void read_origin(FamilyFile& file, const BlockLine& line) {
  const std::vector<std::string> words = split_words(line.value);
  if (words.size() == 1) {
    file.origin = words[0];
    return;
  }
  if (words.size() != 2 || std::ranges::find(file.workloads, words[0], &Workload::name) == file.workloads.end()) {
    line.fail(fmt::format("the origin '{}' cannot be read", line.value),
              "write the family's name elsewhere, or 'WORKLOAD NAME' behind the line of that workload");
  }
  file.workload_origins[words[0]] = words[1];
}

void read_tolerance(FamilyFile& file, const BlockLine& line) {
  static const Pattern kForm(R"((?:rtol=(\S+)\s+atol=(\S+)|derived)(?:\s+because\s+(\S.*))?)");
  const auto match = kForm.match(line.value);
  FileTolerance tolerance{.is_derived = line.value.starts_with("derived"), .reason = match ? (*match)[3] : ""};
  const auto relative = match ? parse_double((*match)[1]) : std::nullopt;
  const auto absolute = match ? parse_double((*match)[2]) : std::nullopt;
  const bool has_numbers = relative && absolute && *relative >= 0 && *absolute >= 0;
  if (!match || (tolerance.is_derived ? tolerance.reason.empty() : !has_numbers)) {
    line.fail(fmt::format("the tolerance '{}' cannot be read", line.value),
              "write 'rtol=1e-5 atol=1e-6', with 'because REASON' behind it where it is wider than the derived one, or "
              "leave the line out: the tolerance is derived");
  }
  tolerance.relative = relative.value_or(0);
  tolerance.absolute = absolute.value_or(0);
  file.tolerance = tolerance;
}

// "nan inf": of all inputs of floats; "x: -inf": of one.
void read_values(FamilyFile& file, const BlockLine& line) {
  const std::size_t colon = line.value.find(':');
  const std::string input = colon == std::string::npos ? "" : trim(line.value.substr(0, colon));
  SpecialValues special;
  std::string words = colon == std::string::npos ? line.value : line.value.substr(colon + 1);
  if (const std::size_t at = words.find("signed zero"); at != std::string::npos) {
    special.signed_zero = true;
    words.erase(at, std::string_view("signed zero").size());
  }
  for (const std::string& word : split_words(words)) {
    if (word != "nan" && word != "inf" && word != "-inf") {
      line.fail(fmt::format("unknown value '{}'", word), "known: nan, inf (of both signs), -inf, signed zero");
    }
    special.nan |= word == "nan";
    special.plus_infinity |= word == "inf";
    special.minus_infinity |= word != "nan";
  }
  bool is_known = false;
  for (FileTensor& tensor : file.tensors) {
    if (tensor.role == Role::input && is_float(tensor.dtype) && (input.empty() || tensor.name == input)) {
      tensor.distribution.special = special;
      is_known = true;
    }
  }
  if (!is_known || !special.any()) {
    line.fail(fmt::format("apo:values '{}' names no input of floats before it, or no value", line.value),
              "write 'nan inf', 'INPUT: -inf' or 'signed zero' behind the inputs");
  }
  file.signed_zero |= special.signed_zero;
}

// "y mask": outputs that a call draws; "y by seed": as that integer input says.
void read_random(FamilyFile& file, const BlockLine& line) {
  std::vector<std::string> names = split_words(line.value);
  std::string seed;
  if (names.size() > 2 && names[names.size() - 2] == "by") {
    seed = names.back();
    names.resize(names.size() - 2);
  }
  const auto find = [&](const std::string& name, bool output) -> FileTensor* {
    const auto found = std::ranges::find_if(file.tensors, [&](const FileTensor& tensor) {
      return tensor.name == name && (output ? tensor.role == Role::output : tensor.role == Role::input);
    });
    return found == file.tensors.end() ? nullptr : &*found;
  };
  const FileTensor* by = find(seed, false);
  if (!seed.empty() && (by == nullptr || is_float(by->dtype))) {
    line.fail(fmt::format("'{}' is no integer input before this line", seed),
              "write '// apo:random OUTPUT by SEED' where the same SEED promises the same bits, else leave 'by' out");
  }
  for (const std::string& name : names) {
    FileTensor* output = find(name, true);
    if (output == nullptr) {
      line.fail(fmt::format("'{}' is no output before this line", name),
                "write '// apo:random OUTPUT... [by SEED]' behind the outputs");
    }
    output->random = true;
    output->drawn_by = seed;
  }
}

void read_repeatable(FamilyFile& file, const BlockLine& line) {
  if (line.value != "yes" && line.value != "no") {
    line.fail("apo:repeatable is neither yes nor no", "yes: the same inputs have to give the same bits");
  }
  file.repeatable = line.value == "yes";
}

constexpr std::array<BlockKey<FamilyFile>, 20> kKeys = {{{"family", false, read_name},
                                                         {"idea", false, read_idea},
                                                         {"axis", true, read_axis},
                                                         {"scalar", true, read_scalar},
                                                         {"input", true, read_tensor<Role::input>},
                                                         {"derive", true, read_tensor<Role::derived_input>},
                                                         {"output", true, read_tensor<Role::output>},
                                                         {"inout", true, read_inout},
                                                         {"random", true, read_random},
                                                         {"values", true, read_values},
                                                         {"unit", true, read_unit},
                                                         {"regimes", false, read_regimes},
                                                         {"workload", true, read_workload},
                                                         {"class", true, read_class},
                                                         {"requires", false, read_requires},
                                                         {"reference", false, read_reference},
                                                         {"precision", false, read_precision},
                                                         {"origin", true, read_origin},
                                                         {"tolerance", false, read_tolerance},
                                                         {"repeatable", false, read_repeatable}}};

}  // namespace

void read_family_lines(FamilyFile& file, const std::vector<BlockLine>& block) {
  read_lines(file, block, std::span<const BlockKey<FamilyFile>>(kKeys));
}

}  // namespace apo

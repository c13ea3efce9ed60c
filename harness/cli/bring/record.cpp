// harness/cli/bring/record.cpp - `apo record`: writes the family of what a program launched, and answers as its
// reference.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "harness/applications/inside_step.h"
#include "harness/applications/record_folder.h"
#include "harness/applications/recorded_family.h"
#include "harness/applications/run_application.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/cli/look/profile_application.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/npy.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/family_file.h"
#include "harness/families/known_families.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/application/application_summary.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/encode.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsage = "write for example 'apo record --kernel softmax --nth 3 -- python3 train.py'";

struct RecordOptions {
  std::string kernel;
  std::int64_t nth = 1;
  std::string range;
  std::string family;
  std::string declaration;
  std::string source;
  std::vector<std::string> elements;  // "x=1024"
  std::string to = ".";
  std::vector<std::string> answer;  // a record's folder, and that of the first request
};

// "softmax" of "void norms::softmax<float>(float const*, int)".
std::string identifier_in(const std::string& name) {
  std::string text = name.substr(0, name.find_first_of("<("));
  text = text.substr(text.find_last_of(" :") + 1);
  return text.empty() ? name : text;
}

std::string unsearched_text(const RecordedCall& call) {
  return call.unsearched == 0 ? ""
                              : fmt::format(
                                    "note: in {} of its memory no addresses were looked for; a replay would "
                                    "follow one to where nothing is\n",
                                    format_bytes(static_cast<double>(call.unsearched)));
}

// "12 x axpy\n": the kernels of a call in the order of their first launch.
std::string launches_text(const RecordedCall& call) {
  std::vector<std::pair<std::string, int>> launches;
  for (const RecordedOperation& operation : call.operations) {
    const std::string name =
        operation.kernel ? identifier_in(demangled(operation.kernel->name)) : fmt::format("({})", name_of(operation));
    const auto known = std::ranges::find(launches, name, &std::pair<std::string, int>::first);
    if (known == launches.end()) {
      launches.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [name, count] : launches) {
    text += fmt::format("{:>5} x {}\n", count, name);
  }
  return text;
}

std::map<std::string, std::int64_t> elements_of(const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> elements;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto count = equals == std::string::npos ? std::nullopt : parse_int(word.substr(equals + 1));
    if (!count || *count < 1) {
      throw UserError("--elements '" + word + "' is no NAME=NUMBER", "write for example --elements x=786432");
    }
    elements[word.substr(0, equals)] = *count;
  }
  return elements;
}

// ---- the reference of such a family: `apo record --answer RECORD FOLDER`, a folder a line of stdin (docs/families.md)

nlohmann::json request_in(const fs::path& folder) {
  return nlohmann::json::parse(read_file(folder / "axes.json"));
}

// The recorded values, in every draw times other factors around 1; integers as they were. Two draws have to differ by
// more than outputs are rounded: a kernel that leaves an element out must not pass. A tensor of zeros, as an optimizer
// has in its first step, would hide what is done with it: two draws of three give it values between 0 and 1.
void draw(const fs::path& record, const fs::path& folder, const nlohmann::json& request) {
  constexpr double kMost = 0.5;
  const auto seed = request.at("seed").get<std::uint64_t>();
  for (const std::string name : request.at("fill")) {
    const NpyArray recorded = read_npy(record / (name + ".npy"));
    const DType dtype = find_dtype(request.at("tensors").at(name).at("dtype").get<std::string>()).value();
    std::vector<double> values = recorded.values;
    Random random(derive_seed(seed, name));
    const bool is_blank = std::ranges::all_of(values, [](double value) { return value == 0; });
    const bool is_drawn = is_blank && random.below(3) > 0;
    for (double& value : values) {
      const double moved = is_drawn ? random.uniform() : value * (1 + kMost * random.uniform(-1, 1));
      value = is_float(dtype) ? round_to(dtype, moved) : value;
    }
    write_npy(folder / (name + ".npy"), recorded.shape, values);
  }
}

// A worker that launches the record on the inputs of one folder after the other.
class Answering {
 public:
  Answering(fs::path record, const Globals& globals)
      : record_(std::move(record)),
        family_(family_of(load_family_file((record_ / kRecordedFamily).string()),
                          oracle_options(make_paths(globals.journal)))),
        axes_(family_.workloads.front().axes),
        worker_({.program = executable_path(), .target = Target::cuda}) {
    const std::string text = read_file(record_ / kRecordedOperations);
    const auto call = decode_recorded_call(text);
    if (!call) {
      throw UserError("'" + (record_ / kRecordedOperations).string() + "' is no record, or a part of one",
                      "record the call again");
    }
    const Build build{
        .object_path = (record_ / kRecordedOperations).string(), .object_hash = sha256(text), .plan = plan_of(*call)};
    require(load_build(worker_, 0, build));
  }

  void answer(const fs::path& folder, const nlohmann::json& request) {
    TensorMap values;
    for (const TensorSpec& tensor : family_.tensors) {
      if (tensor.role != Role::output) {
        values[tensor.name] = read_npy(folder / (tensor.name + ".npy")).values;
      }
    }
    SharedTensors tensors(shared_tensors_spec(family_, axes_, 1, {}, {}, 1, Target::cuda));
    const InputSet inputs = inputs_from(family_, axes_, std::move(values), 1);  // outlives what shares it
    share_inputs(tensors, 0, family_, inputs, 1);
    tensors.poison_outputs();
    require(worker_.attach(tensors));
    require(worker_.call(0));
    const DType stored = request.at("precision") == "float32" ? DType::f32 : DType::f64;
    for (const TensorSpec& tensor : family_.tensors) {
      if (tensor.role == Role::output) {
        write_npy(folder / (tensor.name + ".npy"), tensor.shape(axes_),
                  decode(tensor.dtype, tensors.output(tensor.name)), is_float(tensor.dtype) ? stored : tensor.dtype);
      }
    }
  }

 private:
  template <class T>
  static void require(const Result<T>& result) {
    if (!result) {
      throw EnvironmentError("the recorded call does not run: " + result.failure().evidence);
    }
  }

  fs::path record_;
  Family family_;
  Axes axes_;
  Worker worker_;
};

// Launches the record on what the program gave it, and says how the results differ from the program's own. Throws
// UserError where they have little to do with each other.
std::string replayed(const RecordedFamily& family, const fs::path& record, const Globals& globals) {
  constexpr double kMost = 0.01;  // of the largest value: sums in another order differ by less
  const TemporaryFolder folder;
  for (const RecordedTensor& tensor : family.tensors) {
    fs::copy_file(record / (tensor.name + ".npy"), folder.path() / (tensor.name + ".npy"));
  }
  Answering(record, globals).answer(folder.path(), {{"precision", "float64"}});
  std::string differences;
  for (const RecordedTensor& tensor : family.tensors) {
    if (!tensor.is_written) {
      continue;
    }
    const std::vector<double> here = read_npy(folder.path() / (tensor.name + ".npy")).values;
    const std::vector<double> own =
        decode(tensor.dtype, std::as_bytes(std::span(tensor.result.data(), tensor.result.size())));
    std::int64_t other = 0;
    double most = 0;
    double largest = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool is_same = here[i] == own[i] || (std::isnan(here[i]) && std::isnan(own[i]));
      other += is_same ? 0 : 1;
      most = is_same ? most : std::max(most, std::isfinite(here[i] - own[i]) ? std::abs(here[i] - own[i]) : HUGE_VAL);
      largest = std::isfinite(own[i]) ? std::max(largest, std::abs(own[i])) : largest;
    }
    if (most > kMost * largest) {
      throw UserError(fmt::format("{}a replay gives other results than the program had: {} of {} elements of '{}' "
                                  "differ, by up to {}",
                                  kNotRecorded, other, own.size(), tensor.name, format_g(most)),
                      "it depends on what is no part of the call, or differs from run to run");
    }
    differences += other == 0 ? "" : fmt::format("; {} of {} elements of {} differ", other, own.size(), tensor.name);
  }
  return differences.empty() ? "replayed: the program's own results, bit for bit"
                             : "replayed: close to the program's own results" + differences;
}

// The whole call as a file, for `apo compare --inside`. Its replay is held against the program's own results first.
int record_step(const ProgramCall& call, const std::string& file, const Globals& globals) {
  const RecordedFamily family = step_family(call, file);
  const fs::path folder = keep_record(family, encode(family.call), make_paths(globals.journal).folder / "records");
  const std::string own_results = replayed(family, folder, globals);
  write_file_atomically(file, encode(call));
  const std::int64_t uncompared = uncompared_bytes(call, family.tensors);
  print_answer(
      globals,
      {{"step", file},
       {"family", family.name},
       {"record", folder.string()},
       {"replayed", own_results},
       {"uncompared_bytes", uncompared}},
      launches_text(call.call) + unsearched_text(call.call) +
          (uncompared == 0 ? ""
                           : fmt::format("note: {} that it changes are in no tensor with a type: mark them, or "
                                         "nothing compares them\n",
                                         format_bytes(static_cast<double>(uncompared)))) +
          own_results + "\n" + file + "\n");
  return kDone;
}

int record(const std::vector<std::string>& command, const RecordOptions& options, const Globals& globals) {
  const std::map<std::string, std::int64_t> elements = elements_of(options.elements);
  const std::string source = options.source.empty() ? "" : read_file(options.source);
  const std::string kernel = identifier_in(options.kernel);
  const std::string wanted =
      options.range.empty() ? fmt::format("kernel {} {}", options.nth, kernel) : "range " + options.range;
  std::string name = options.family;
  for (const char letter : name.empty() ? (options.range.empty() ? kernel : options.range) : "") {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    name += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(letter))) : '_';
  }
  const ProgramCall call = record_call(command, wanted, globals.json);
  if (options.to.ends_with(kStepExtension)) {
    return record_step(call, options.to, globals);
  }
  const RecordedFamily family =
      recorded_family(call, {.name = name, .declaration = options.declaration, .elements = elements});
  const std::string encoded = encode(family.call);
  const fs::path folder = keep_record(family, encoded, make_paths(globals.journal).folder / "records");
  const std::string own_results = replayed(family, folder, globals);
  const fs::path to = fs::path(options.to) / name;
  fs::create_directories(to);
  std::vector<NamedText> files = {
      {.path = to / (name + ".h"), .contents = read_file(folder / kRecordedFamily)},
      {.path = to / (name + std::string(kRecordExtension)), .contents = encoded},
      {.path = to / "recorded.cu", .contents = recorded_variant_text(family, name + std::string(kRecordExtension))}};
  if (const std::string first = first_variant_text(family, source); !first.empty()) {
    files.push_back({.path = to / "first.cu", .contents = first});
  }
  for (const NamedText& file : files) {
    if (file.path.filename() == "first.cu" && fs::exists(file.path)) {
      throw UserError("'" + file.path.string() + "' is there, and may have been written in",
                      "name another folder with --to");
    }
  }
  write_files_atomically(files);
  if (globals.json) {
    nlohmann::ordered_json document = {{"family", name},
                                       {"record", folder.string()},
                                       {"replayed", own_results},
                                       {"files", nlohmann::ordered_json::array()}};
    for (const NamedText& file : files) {
      document["files"].push_back(file.path.string());
    }
    print_json(document);
    return kDone;
  }
  for (const RecordedTensor& tensor : family.tensors) {
    print(fmt::format("{} {} {}[{}]\n", tensor.is_written ? "written" : "read   ", tensor.name, to_string(tensor.dtype),
                      tensor.elements));
  }
  print(unsearched_text(family.call) + own_results + "\n");
  for (const NamedText& file : files) {
    print(file.path.string() + "\n");
  }
  print(fmt::format("\n./apo register {0}/{1}.h\n./apo register {0}/recorded.cu\n", to.string(), name));
  if (files.back().path.filename() == "first.cu") {
    print(fmt::format("./apo try {1} {0}/first.cu\n", to.string(), name));
  }
  return kDone;
}

int answer(const RecordOptions& options, const Globals& globals) {
  std::optional<Answering> answering;
  const fs::path record = options.answer.front();
  for (std::string folder = options.answer.back(); !folder.empty();) {
    const nlohmann::json request = request_in(folder);
    if (request.contains("fill")) {
      draw(record, folder, request);
    } else {
      if (!answering) {
        answering.emplace(record, globals);
      }
      answering->answer(folder, request);
    }
    print("apo:next\n");
    std::fflush(stdout);
    if (!std::getline(std::cin, folder)) {
      break;
    }
  }
  return kDone;
}

int run(const RecordOptions& options, const Globals& globals) {
  if (!options.answer.empty()) {
    return answer(options, globals);
  }
  if (!globals.command || globals.command->empty()) {
    throw UserError("there is no command after '--'", kUsage);
  }
  if (options.kernel.empty() && options.range.empty()) {
    const int shown = profile_application(*globals.command, {}, globals);
    if (!globals.json) {
      print("\n'apo record --kernel NAME --nth K -- COMMAND' makes a family of one of them\n");
    }
    return shown;
  }
  return record(*globals.command, options, globals);
}

}  // namespace

Action define_record(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<RecordOptions>();
  CLI::Option* const kernel = app.add_option("--kernel", options->kernel, "kernel whose launch is recorded");
  app.add_option("--nth", options->nth, "which of its launches, from 1 (default: 1)")
      ->needs(kernel)
      ->check(CLI::PositiveNumber);
  CLI::Option* const range =
      app.add_option("--range", options->range, "NVTX range: all that its first time gives the GPU is recorded");
  exclude(range, {kernel});
  app.add_option("--family", options->family, "name of the family (default: of the kernel or range)");
  app.add_option(
         "--declaration", options->declaration,
         "the kernel's parameters, where its symbol does not say them, and their names: 'f(const float* x, int n)'")
      ->needs(kernel);
  app.add_option("--elements", options->elements, "of a tensor, NAME=NUMBER; default: up to the end of its memory")
      ->allow_extra_args(false);
  app.add_option("--source", options->source, "file with the kernel, which the first variant begins with")
      ->needs(kernel);
  app.add_option(
      "--to", options->to,
      "folder for the files (default: here); FILE.step: the whole call as a file, for 'apo compare --inside'");
  app.add_option("--answer", options->answer, "answer as the reference of a recorded family")->expected(2)->group("");
  app.footer(
      "apo record -- COMMAND\n  lists the kernels of any CUDA program by time\n"
      "apo record --kernel NAME --nth K -- COMMAND\n  makes a family of that launch: its tensors as regime, what it "
      "does as reference and\n  baseline, and a first variant to write in");
  return [options, &globals] { return run(*options, globals); };
}

}  // namespace apo

// harness/runtime/python_call.cpp - hands the inputs over, runs the process to its end, and reads what it recorded.
#include "harness/runtime/python_call.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/recording/python_file.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/runtime/python_server.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kSecondsOfAFile = 300;  // with all that it compiles
constexpr std::uintmax_t kMostAnswer = std::uintmax_t{1} << 20;
constexpr std::uintmax_t kMostRecord = std::uintmax_t{kMostRecordedMemory + (std::int64_t{1} << 30)};

void add_shapes(Json& tensors, const Family& family, const Axes& axes) {
  for (Json& tensor : tensors) {
    tensor["shape"] = find_tensor(family, tensor.at("name").get<std::string>())->shape(axes);
  }
}

// The build's own request, with the sizes and the values of this call.
Json request_for(const Runtime& runtime, const Axes& axes, const fs::path& build, int sets, const fs::path& record) {
  const Family& family = *runtime.family;
  Json request = Json::parse(read_file(build / kPythonRequest));
  request["file"] = (build / request.at("file").get<std::string>()).string();
  add_shapes(request["family"]["inputs"], family, axes);
  add_shapes(request["family"]["outputs"], family, axes);
  request["values"].update(axes);
  for (const ScalarSpec& scalar : family.scalars) {
    request["values"][scalar.name] =
        is_float(scalar.dtype) ? Json(scalar.value) : Json(static_cast<std::int64_t>(scalar.value));
  }
  request["sets"] = sets;
  request["room"] = (build / "room").string();
  request["seconds"] = kSecondsOfAFile;
  request["library"] = injection_library().string();
  request["record"] = record.string();
  return request;
}

void write_inputs(const Runtime& runtime, const Axes& axes, const fs::path& folder) {
  const Family& family = *runtime.family;
  const std::uint64_t seed = secret_seed();
  for (int set = 0; set < kRecordedSets; ++set) {
    const InputSet inputs = make_inputs(family, axes, derive_seed(seed, "recorded", static_cast<std::uint64_t>(set)),
                                        family.regimes.front(), runtime.threads);
    for (const auto& [name, bytes] : whole_bytes(family, inputs)) {
      write_file_atomically(folder / fmt::format("{}.{}.bin", name, set),
                            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
  }
}

// What the process left there, which may be anything; nullopt where there is nothing. `refusal` gets why it isn't read.
std::optional<std::string> text_in(const fs::path& file, std::uintmax_t most, std::string& refusal) {
  if (is_absent(file)) {
    return std::nullopt;
  }
  try {
    return read_foreign_file(file, most);
  } catch (const UserError& error) {
    refusal = std::string("what it wrote down cannot be read: ") + error.what();
    return std::nullopt;
  }
}

// The file's own words, of which any may be missing or wrong.
std::optional<Json> answer_of(const std::optional<std::string>& text) {
  Json answer = Json::parse(text.value_or(""), nullptr, false);
  const auto has_text = [&](const char* key) { return answer.contains(key) && answer.at(key).is_string(); };
  return answer.is_object() && has_text("outcome") && has_text("evidence") ? std::optional(std::move(answer))
                                                                           : std::nullopt;
}

Failure failure_of(const PythonRun& ran, const std::optional<Json>& answer, const std::string& refusal) {
  if (!ran.missing.empty()) {
    return {Outcome::refused, ran.missing};
  }
  if (ran.cut) {
    return {Outcome::faulted, "it printed more than 1 MiB"};
  }
  if (ran.timed_out) {
    return {Outcome::timed_out,
            "it did not return in " + format_seconds(kSecondsOfAFile) + ", with all that it compiles"};
  }
  if (!refusal.empty()) {
    return {Outcome::faulted, refusal};
  }
  if (answer) {
    const auto outcome = outcome_from(answer->at("outcome").get<std::string>());
    const std::string evidence = one_line(answer->at("evidence").get<std::string>());
    return {outcome && *outcome != Outcome::valid ? *outcome : Outcome::faulted,
            evidence.empty() ? "what it wrote down is no record" : evidence};
  }
  return {Outcome::faulted, ran.signal == 0 ? "it ended python3 before its call was recorded"
                                            : "python3 was ended by " + signal_name(ran.signal)};
}

// "ModelNew.forward(x) with the weights w: 44.1 us with its host's work".
void add_host_time(const Json& answer, std::string& log) {
  constexpr double kNsPerUs = 1000;
  const auto time = answer.find("host_us");
  const auto call = answer.find("call");
  if (time != answer.end() && time->is_number() && call != answer.end() && call->is_string()) {
    log += fmt::format("{}: {} with its host's work\n", one_line(call->get<std::string>()),
                       format_ns(kNsPerUs * time->get<double>()));
  }
}

}  // namespace

bool is_python_build(const Build& build) {
  return build.plan.library && fs::path(build.object_path).filename() == kPythonRequest;
}

Result<RecordedCall> record_python(const Runtime& runtime, const Axes& axes, const Build& build, std::string& log) {
  const fs::path of_build = fs::absolute(build.object_path).parent_path();
  const fs::path room = of_build / "room";
  const fs::path folder = room / fmt::format("call-{}", secret_seed());
  fs::create_directories(folder);
  const bool is_drawn = tensor_bytes(*runtime.family, axes) <= kMostDrawn;
  if (is_drawn) {
    write_inputs(runtime, axes, folder);
  }
  const fs::path record = folder / "record";
  write_file_atomically(folder / kPythonRequest,
                        request_for(runtime, axes, of_build, is_drawn ? kRecordedSets : 0, record).dump());
  PythonServer& server = python_server(build.toolchain.compiler, runtime.worker.device);
  const PythonRun ran = server.run(folder / kPythonRequest, kSecondsOfAFile, runtime.worker.stop);
  if (!is_drawn) {
    server.end_file();  // its tensors take the room of what is checked next
  }
  std::string refusal;
  const std::optional<Json> answer = answer_of(text_in(folder / "ANSWER.json", kMostAnswer, refusal));
  const std::optional<std::string> recorded = text_in(record, kMostRecord, refusal);
  auto call = recorded ? decode_recorded_call(*recorded) : std::nullopt;
  const bool is_valid = call && answer && answer->at("outcome") == "valid" && !ran.cut && !ran.timed_out;
  log += ran.printed;
  std::error_code ignored;          // of what the file may have done to its folder
  fs::remove_all(folder, ignored);  // what stays goes with the build
  if (!is_valid) {
    return failure_of(ran, answer, refusal);
  }
  add_host_time(*answer, log);
  return std::move(*call);
}

}  // namespace apo

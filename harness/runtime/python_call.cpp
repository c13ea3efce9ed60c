// harness/runtime/python_call.cpp - hands the inputs over, runs the process to its end, and reads what it recorded.
#include "harness/runtime/python_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kSecondsOfAFile = 300;                     // with all that it compiles
constexpr std::size_t kMostPrinted = std::size_t{1} << 20;  // bytes
constexpr std::uintmax_t kMostAnswer = std::uintmax_t{1} << 20;
constexpr const char* kRequest = "request.json";  // also the object of such a build

void add_shapes(Json& tensors, const Family& family, const Axes& axes) {
  for (Json& tensor : tensors) {
    tensor["shape"] = find_tensor(family, tensor.at("name").get<std::string>())->shape(axes);
  }
}

// The build's own request, with the sizes and the values of this call.
Json request_for(const Runtime& runtime, const Axes& axes, const fs::path& build, int sets, const fs::path& record) {
  const Family& family = *runtime.family;
  Json request = Json::parse(read_file(build / kRequest));
  request["file"] = (build / request.at("file").get<std::string>()).string();
  add_shapes(request["family"]["inputs"], family, axes);
  add_shapes(request["family"]["outputs"], family, axes);
  request["values"] = axes;
  for (const ScalarSpec& scalar : family.scalars) {
    request["values"][scalar.name] = is_float(scalar.dtype) ? Json(scalar.value) : Json(static_cast<std::int64_t>(scalar.value));
  }
  request["sets"] = sets;
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

// Caches of compilers lie below the room too, and serve the file's other sizes. The process begins in another folder, and
// with the user's own: what the file left for an earlier size is no code of python3's or PyTorch's.
std::vector<std::string> environment_in(const fs::path& room, const Runtime& runtime) {
  std::vector<std::string> environment = {"LC_ALL=C.UTF-8",
                                          "PYTHONDONTWRITEBYTECODE=1",
                                          "TORCHINDUCTOR_COMPILE_THREADS=1",
                                          "TOKENIZERS_PARALLELISM=false",
                                          "NVTX_INJECTION64_PATH=",
                                          "CUDA_INJECTION64_PATH="};
  for (const char* name : {"APO_ROOM", "TMPDIR", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
                           "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH", "CUPY_CACHE_DIR"}) {
    environment.push_back(std::string(name) + "=" + room.string());
  }
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::vector<std::string> devices = visible == nullptr ? std::vector<std::string>() : split(visible, ',');
  const auto index = static_cast<std::size_t>(runtime.worker.device);
  environment.push_back("CUDA_VISIBLE_DEVICES=" + (index < devices.size() ? devices[index] : std::to_string(index)));
  return environment;
}

// The file's own words, of which any may be missing or wrong.
std::optional<Json> answer_in(const fs::path& folder) {
  const fs::path file = folder / "ANSWER.json";
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || fs::file_size(file, error) > kMostAnswer) {
    return std::nullopt;
  }
  Json answer = Json::parse(read_file(file), nullptr, false);
  const auto has_text = [&](const char* key) { return answer.contains(key) && answer.at(key).is_string(); };
  return answer.is_object() && has_text("outcome") && has_text("evidence") ? std::optional(std::move(answer))
                                                                           : std::nullopt;
}

Failure failure_of(const ProcessResult& ran, const std::optional<Json>& answer) {
  if (ran.cut) {
    return {Outcome::faulted, fmt::format("it printed more than {}", format_bytes(static_cast<double>(kMostPrinted)))};
  }
  if (ran.timed_out) {
    return {Outcome::timed_out, "it did not return in " + format_seconds(kSecondsOfAFile) + ", with all that it compiles"};
  }
  if (answer) {
    const auto outcome = outcome_from(answer->at("outcome").get<std::string>());
    const std::string evidence = one_line(answer->at("evidence").get<std::string>());
    return {outcome && *outcome != Outcome::valid ? *outcome : Outcome::faulted,
            evidence.empty() ? "what it wrote down is no record" : evidence};
  }
  const std::string sudden = sudden_end(ran, kSecondsOfAFile);
  return {Outcome::faulted, sudden.empty() ? "it ended python3 before its call was recorded" : "python3 " + sudden};
}

void add_host_time(const std::optional<Json>& answer, std::string& log) {
  if (answer && answer->contains("host_us") && answer->at("host_us").is_number()) {
    constexpr double kNsPerUs = 1000;
    log += "its own call takes " + format_ns(kNsPerUs * answer->at("host_us").get<double>()) + " with its host's work\n";
  }
}

}  // namespace

bool is_python_build(const Build& build) {
  return build.plan.library && fs::path(build.object_path).filename() == kRequest;
}

Result<RecordedCall> record_python(const Runtime& runtime, const Axes& axes, const Build& build, std::string& log) {
  const fs::path home = home_folder();
  const fs::path of_build = fs::path(build.object_path).parent_path();
  const fs::path room = of_build / "room";
  const fs::path folder = room / fmt::format("call-{}", secret_seed());
  fs::create_directories(folder);
  const bool is_drawn = tensor_bytes(*runtime.family, axes) <= kMostDrawn;
  if (is_drawn) {
    write_inputs(runtime, axes, folder);
  }
  const fs::path record = folder / "record";
  write_file_atomically(folder / kRequest,
                        request_for(runtime, axes, of_build, is_drawn ? kRecordedSets : 0, record).dump());
  const fs::path script = home / "harness" / "implement" / "python" / "call_python.py";
  const ProcessResult ran = run_process({build.toolchain.compiler, "-B", script.string(), "record", (folder / kRequest).string()},
                                        {.timeout_s = kSecondsOfAFile,
                                         .working_folder = folder.string(),
                                         .environment = environment_in(room, runtime),
                                         .output_limit = kMostPrinted,
                                         .end_at_limit = true,
                                         .stop = runtime.worker.stop});
  const std::optional<Json> answer = answer_in(folder);
  const bool is_regular = fs::is_regular_file(fs::symlink_status(record));
  auto call = is_regular ? decode_recorded_call(read_file(record)) : std::nullopt;
  const bool is_valid = call && answer && answer->at("outcome") == "valid" && !ran.cut && !ran.timed_out;
  log += ran.output + ran.error;
  add_host_time(answer, log);
  std::error_code ignored;  // what stays goes with the build
  fs::remove_all(folder, ignored);
  if (!is_valid) {
    return failure_of(ran, answer);
  }
  return *call;
}

}  // namespace apo

// harness/fleet/messages.cpp - the fields of each message.
#include "harness/fleet/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/json/records_json.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/implement/variant/metadata.h"
#include "journal/journal.h"

namespace apo {
namespace {

Target target_named(const std::string& word) {
  return word == "cuda" ? Target::cuda : Target::host;
}

Message number_of(double value) {
  return std::isfinite(value) ? Message(value) : Message(nullptr);
}

double number_in(const Message& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::int64_t bytes_in(const Message& value) {
  return value.is_null() ? 0 : value.get<std::int64_t>();
}

std::string decoded(const Message& value) {
  auto bytes = bytes_of_base64(value.get_ref<const std::string&>());
  if (!bytes) {
    throw UserError("a message holds what is no base64");
  }
  return std::move(*bytes);
}

Machine machine_in(const Message& document) {
  return {.target = target_named(document.at("target")),
          .id = document.at("id"),
          .model = document.at("model"),
          .cores = document.at("cores"),
          .kernel = document.at("kernel"),
          .governor = document.at("governor"),
          .isa = document.at("isa"),
          .driver = document.at("driver"),
          .l2_bytes = bytes_in(document.at("l2_bytes")),
          .l3_bytes = bytes_in(document.at("l3_bytes")),
          .memory_bytes = bytes_in(document.at("memory_bytes")),
          .facts = document.at("facts").get<std::map<std::string, std::string>>()};
}

Message side_document(const TaskSide& side) {
  return {{"variant", side.configuration.variant},
          {"settings", side.configuration.settings.empty() ? Message::object() : Message(side.configuration.settings)},
          {"source", side.source_hash}};
}

TaskSide side_in(const Message& document) {
  TaskSide side{.configuration = {.variant = document.at("variant"), .settings = {}},
                .source_hash = document.at("source")};
  for (const auto& [name, value] : document.at("settings").items()) {
    side.configuration.settings[name] = value.get<std::int64_t>();
  }
  return side;
}

Message policy_document(const Policy& policy) {
  return {{"family", policy.family},
          {"workload_class", policy.workload_class},
          {"workloads", policy.workloads},
          {"target", to_string(policy.target)},
          {"cache", to_string(policy.cache_policy)},
          {"judge", policy.judge_preset},
          {"layout", to_string(policy.layout.value_or(Layout::random))},
          {"seed", policy.seed}};
}

Policy policy_in(const Message& document) {
  return {.family = document.at("family"),
          .workload_class = document.at("workload_class"),
          .workloads = document.at("workloads"),
          .cache_policy = checked_cache_policy(document.at("cache")),
          .judge_preset = document.at("judge"),
          .seed = document.at("seed"),
          .target = target_named(document.at("target")),
          .layout = checked_layout(document.at("layout"))};
}

Message prediction_document(const Prediction& prediction) {
  return {{"low", number_of(prediction.low)},
          {"high", number_of(prediction.high)},
          {"relative_to", prediction.relative_to},
          {"because", prediction.because},
          {"source", to_string(prediction.source)}};
}

Prediction prediction_in(const Message& document) {
  return {.low = number_in(document.at("low")),
          .high = number_in(document.at("high")),
          .relative_to = document.at("relative_to"),
          .because = document.at("because"),
          .source = prediction_source_from(document.at("source").get<std::string>()).value_or(PredictionSource::idea)};
}

Message file_documents(const std::vector<SourceFile>& files) {
  Message list = Message::array();
  for (const SourceFile& file : files) {
    list.push_back({{"name", file.name}, {"bytes", base64(file.text)}});
  }
  return list;
}

}  // namespace

ProgramIdentity identity_of_program(const std::string& version, const std::filesystem::path& file) {
  return {.version = version,
          .build = sha256(read_file(file)),
          .schema = newest_journal_schema(),
          .rule = std::string(kRuleVersion)};
}

std::string to_string(const ProgramIdentity& identity) {
  return fmt::format("apo {}, build {} (protocol {}, journal schema {}, rule {})", identity.version,
                     identity.build.substr(0, 12), identity.protocol, identity.schema, identity.rule);
}

Message to_message(const Hello& hello) {
  return {{"type", "hello"},
          {"protocol", hello.program.protocol},
          {"version", hello.program.version},
          {"build", hello.program.build},
          {"schema", hello.program.schema},
          {"rule", hello.program.rule},
          {"device", hello.device},
          {"time", hello.time_s},
          {"machine", Message(to_document(hello.machine))}};
}

Hello hello_of(const Message& message) {
  // What comes after these four may be another protocol's.
  Hello hello{.program = {.version = message.at("version"),
                          .build = "",
                          .protocol = message.at("protocol"),
                          .schema = message.at("schema"),
                          .rule = message.at("rule")},
              .machine = {},
              .device = "",
              .time_s = 0};
  if (hello.program.protocol == kFleetProtocol) {
    hello.program.build = message.at("build");
    hello.machine = machine_in(message.at("machine"));
    hello.device = message.at("device");
    hello.time_s = message.at("time");
  }
  return hello;
}

Message to_message(const Task& task) {
  return {{"type", "task"},
          {"id", task.id},
          {"campaign", task.campaign},
          {"policy", policy_document(task.policy)},
          {"candidate", side_document(task.candidate)},
          {"incumbent", side_document(task.incumbent)},
          {"prediction", prediction_document(task.prediction)},
          {"index", task.index},
          {"floor",
           {{"smallest", task.floor.smallest},
            {"sentence", task.floor.sentence},
            {"rounds_per_process", task.floor.rounds_per_process}}}};
}

Task task_of(const Message& message) {
  const Message& floor = message.at("floor");
  return {.id = message.at("id"),
          .campaign = message.at("campaign"),
          .policy = policy_in(message.at("policy")),
          .candidate = side_in(message.at("candidate")),
          .incumbent = side_in(message.at("incumbent")),
          .prediction = prediction_in(message.at("prediction")),
          .index = message.at("index"),
          .floor = {.smallest = floor.at("smallest"),
                    .sentence = floor.at("sentence"),
                    .rounds_per_process = floor.at("rounds_per_process")}};
}

Message source_document(const Variant& variant) {
  return {{"hash", variant.source_hash},
          {"family", variant.family},
          {"name", variant.name},
          {"target", to_string(variant.target)},
          {"path", variant.path},
          {"bytes", base64(variant.source)},
          {"headers", file_documents(variant.headers)}};
}

Variant variant_of(const Message& message) {
  Variant variant = parse_variant(
      decoded(message.at("bytes")), message.at("path"), files_of(message),
      {.family = message.at("family"), .name = message.at("name"), .target = target_named(message.at("target"))});
  // With the contract of the family as it is known here.
  if (source_identity(variant) != message.at("hash")) {
    throw UserError("the source of " + variant.id() + " is not the one that its hash names, or its family is another");
  }
  return variant;
}

Message family_document(const std::string& name, const std::vector<SourceFile>& files) {
  return {{"name", name}, {"headers", file_documents(files)}};
}

std::vector<SourceFile> files_of(const Message& message) {
  std::vector<SourceFile> files;
  for (const Message& file : message.at("headers")) {
    files.push_back({.name = file.at("name"), .text = decoded(file.at("bytes")), .path = ""});
  }
  return files;
}

Message answer_message(std::int64_t task, const std::string& journal) {
  return {{"type", "answer"}, {"id", task}, {"sha256", sha256(journal)}, {"journal", base64(journal)}};
}

std::string journal_of(const Message& message) {
  std::string bytes = decoded(message.at("journal"));
  if (sha256(bytes) != message.at("sha256")) {
    throw UserError("the answer is not the one that its hash names");
  }
  return bytes;
}

}  // namespace apo

// harness/fleet/messages.cpp - the fields of each message.
#include "harness/fleet/messages.h"

#include <fmt/format.h>

#include "harness/core/base64.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/json/codec.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/implement/variant/metadata.h"
#include "journal/journal.h"

namespace apo {
namespace {

template <class Record>
Record record_in(const Message& message) {
  Record record;
  try {
    read_json(message, record);
  } catch (const BadField& error) {
    throw UserError(std::string("a message in which ") + error.what());
  }
  return record;
}

template <class Record>
Message message_of(const char* type, const Record& record) {
  Message message = json_of(record);
  message["type"] = type;
  return message;
}

std::string decoded(const Message& value) {
  auto bytes = bytes_of_base64(value.get_ref<const std::string&>());
  if (!bytes) {
    throw UserError("a message holds what is no base64");
  }
  return std::move(*bytes);
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
  Message message = message_of("hello", hello.program);
  message["hello"] = json_of(hello);
  return message;
}

Hello hello_of(const Message& message) {
  if (message.at("protocol") != kFleetProtocol) {  // what it says beside its versions may have another form
    return {.program = {.version = message.at("version"),
                        .build = "",
                        .protocol = message.at("protocol"),
                        .schema = message.at("schema"),
                        .rule = message.at("rule")},
            .machine = {},
            .device = ""};
  }
  return record_in<Hello>(message.at("hello"));
}

namespace {

template <class Record>
Message task_message(const char* type, Record task) {
  task.policy.layout = task.policy.layout.value_or(Layout::random);
  return message_of(type, task);
}

}  // namespace

Message to_message(const Task& task) {
  return task_message("task", task);
}

Message to_message(const ScanTask& task) {
  return task_message("scan", task);
}

Message scanned_message(std::int64_t task, const ScanMeasurement& measured) {
  return {{"type", "scanned"}, {"id", task}, {"measured", json_of(measured)}};
}

ScanMeasurement measurement_of(const Message& message) {
  return record_in<ScanMeasurement>(message.at("measured"));
}

Task task_of(const Message& message) {
  return record_in<Task>(message);
}

ScanTask scan_task_of(const Message& message) {
  return record_in<ScanTask>(message);
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
      {.family = message.at("family"), .name = message.at("name"), .target = record_in<Target>(message.at("target"))});
  // With the contract of the family as it is known here.
  if (source_identity(variant) != message.at("hash")) {
    throw UserError("the source of " + variant.id() + " is not the one that its hash names, or its family is another");
  }
  return variant;
}

Message family_document(const FamilyFile& family) {
  std::vector<SourceFile> files = {
      {.name = std::filesystem::path(family.path).filename().string(), .text = family.text, .path = ""}};
  files.insert(files.end(), family.headers.begin(), family.headers.end());
  return {{"name", family.name}, {"headers", file_documents(files)}};
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

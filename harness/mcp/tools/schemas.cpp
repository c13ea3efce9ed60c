// harness/mcp/tools/schemas.cpp - builds the schemas.
#include "harness/mcp/tools/schemas.h"

namespace apo::mcp {
namespace {

constexpr std::initializer_list<const char*> kJobStates = {"running", "done", "failed", "cancelled", "interrupted"};

}  // namespace

Json text_schema(const std::string& description) {
  return {{"type", "string"}, {"description", description}, {"minLength", 1}};
}

Json word_schema(const std::string& description, const std::vector<std::string>& words) {
  return {{"type", "string"}, {"description", description}, {"enum", words}};
}

Json truth_schema(const std::string& description) {
  return {{"type", "boolean"}, {"description", description}};
}

Json arguments_schema(const std::vector<Argument>& arguments) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Argument& argument : arguments) {
    properties[argument.name] = argument.schema;
    if (argument.required) {
      required.push_back(argument.name);
    }
  }
  Json schema = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) {
    schema["required"] = required;
  }
  schema["additionalProperties"] = false;
  return schema;
}

Json document_schema(const std::vector<Field>& fields) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = {{"type", field.type}, {"description", field.description}};
    if (field.required) {
      required.push_back(field.name);
    }
  }
  return {{"type", "object"}, {"properties", properties}, {"required", required}};
}

Json job_schema(const Json& result) {
  Json schema = document_schema({
      {"job", "string", "its handle, for 'wait' and 'cancel'; it outlives this server"},
      {"tool", "string", "the tool that was called"},
      {"state", "string", "running: call 'wait' with the job"},
      {"seconds", "number", "since it began", false},
      {"progress", "string", "the newest line of progress", false},
      {"exit_code", "integer", "of the command", false},
      {"message", "string", "what the command said beside its document, or why there is none", false},
      {"experiments", "array", "of an interrupted job: those that it began, with their verdicts", false},
  });
  schema["properties"]["state"]["enum"] = kJobStates;
  schema["properties"]["result"] = result;
  return schema;
}

Json any_job_schema() {
  return job_schema({{"type", "object"}, {"description", "the document of the tool that was called"}});
}

}  // namespace apo::mcp

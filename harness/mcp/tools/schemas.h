// harness/mcp/tools/schemas.h - the JSON schemas of arguments and documents, piece by piece.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// ---- arguments
struct Argument {
  std::string name;
  Json schema;
  bool required = false;
};

Json text_schema(const std::string& description);
Json word_schema(const std::string& description, const std::vector<std::string>& words);
Json truth_schema(const std::string& description);
// Nothing but these.
Json arguments_schema(const std::vector<Argument>& arguments);

// ---- documents. They may hold more than what is named; what is required is always there.
struct Field {
  std::string name;
  Json type;  // "string", or a list of types
  std::string description;
  bool required = true;
};
Json document_schema(const std::vector<Field>& fields);
// The answer of a tool that is a job, with the command's document as its `result`.
Json job_schema(const Json& result);
// The same of any tool.
Json any_job_schema();

}  // namespace apo::mcp

// harness/mcp/tools/tools.cpp - the table in which clients are shown the tools.
#include "harness/mcp/tools/tools.h"

#include <algorithm>
#include <iterator>

#include "harness/mcp/tools/tool_rows.h"

namespace apo::mcp {
namespace {

Argument job_argument() {
  return {"job", text_schema("the handle of a job, such as j12"), true};
}

Tool wait_tool() {
  const Json seconds = {{"type", "number"},
                        {"minimum", 0},
                        {"maximum", kLongestWait},
                        {"description", "how long to wait for its end (default: 20)"}};
  return {.name = kWait,
          .title = "Wait for a job",
          .description =
              "Answers with the result of a job when it ends, or after some seconds with its progress; call it "
              "again then. Knows jobs of earlier servers too.",
          .input_schema = arguments_schema({job_argument(), {"seconds", seconds}}),
          .output_schema = any_job_schema(),
          .hints = kReads};
}

Tool cancel_tool() {
  return {.name = kCancel,
          .title = "Stop a job",
          .description =
              "Stops a job of this server with all of its processes. The journal keeps the experiments that it "
              "finished.",
          .input_schema = arguments_schema({job_argument()}),
          .output_schema = any_job_schema(),
          .hints = {.destructive = true, .idempotent = true}};
}

}  // namespace

Argument family_argument(bool required, const std::string& more) {
  return {"family", text_schema("kernel family; 'list' shows them" + more), required};
}

std::vector<Tool> waiting_tools() {
  return {wait_tool(), cancel_tool()};
}

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = [] {
    std::vector<Tool> rows = measuring_tools();
    std::ranges::copy(waiting_tools(), std::back_inserter(rows));
    std::ranges::copy(reading_tools(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}

const Tool* find_tool(const std::string& name) {
  const auto found = std::ranges::find(tools(), name, &Tool::name);
  return found == tools().end() ? nullptr : &*found;
}

Json tool_document(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input_schema},
          {"outputSchema", tool.output_schema},
          {"annotations",
           {{"readOnlyHint", tool.hints.read_only},
            {"destructiveHint", tool.hints.destructive},
            {"idempotentHint", tool.hints.idempotent},
            {"openWorldHint", tool.hints.open_world}}}};
}

}  // namespace apo::mcp

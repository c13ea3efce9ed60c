// harness/mcp/tools/reading_tools.cpp - tools that look at what is there.
#include "harness/mcp/tools/shapes.h"
#include "harness/mcp/tools/tool_rows.h"

namespace apo::mcp {
namespace {

const std::vector<std::string> kVerdicts = {"accepted", "reverted", "inconclusive"};

Tool doctor_tool() {
  return {.name = "doctor",
          .title = "Check this machine",
          .description =
              "Checks what this machine can judge (compilers, GPU, permissions, journal) and names the fix of "
              "what fails. Takes some seconds.",
          .input_schema = arguments_schema({}),
          .output_schema = document_schema({{"format", "integer", "of documents"},
                                            {"host_works", "boolean", "whether variants for this CPU can be judged"},
                                            {"machine", "object", "what it is"},
                                            {"checks", "array", "name, state, finding and fix of each check"}}),
          .hints = kReads,
          .answers = {0, 1, 2, 3},
          .command = [](const Json& arguments, const Root& root) {
            return CommandWords("doctor", arguments, root).line();
          }};
}

Tool list_tool() {
  return {.name = "list",
          .title = "List families, workloads and variants",
          .description =
              "Lists all kernel families with the names of their workloads, or one family in full, with its "
              "axes, tensors, workloads and variants.",
          .input_schema = arguments_schema({family_argument(false, "; FAMILY/NAME shows one variant")}),
          .output_schema = document_schema({{"format", "integer", "of documents"},
                                            {"families", "array", "the families, with their variants", false},
                                            {"variants", "array", "the variants that were asked for", false}}),
          .hints = kReads,
          .answers = kDoneOnly,
          .command = [](const Json& arguments,
                        const Root& root) { return CommandWords("list", arguments, root).position("family").line(); },
          .shape = [](const Json& document,
                      const Json& arguments) { return arguments.contains("family") ? document : overview(document); }};
}

Tool query_tool() {
  const Json where = {{"type", "array"},
                      {"items", {{"type", "string"}, {"minLength", 1}}},
                      {"maxItems", 64},
                      {"description",
                       "conditions, all of which hold: 'verdict=accepted', 'speedup>1.05', "
                       "'family=copy', 'technique=chunk-prefetch', 'state=abandoned'"}};
  const Json limit = {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}, {"description", "rows (default: 50)"}};
  return {.name = "query",
          .title = "Find past experiments",
          .description = "Finds experiments in the journal. A wrong key is answered with the keys that there are.",
          .input_schema = arguments_schema({{"where", where},
                                            {"columns", text_schema("columns to show, separated by commas")},
                                            {"sort", text_schema("keys, separated by commas; -KEY sorts descending")},
                                            {"limit", limit}}),
          .output_schema = document_schema({{"columns", "array", "their names"},
                                            {"rows", "array", "a list of values each, in the order of the columns"},
                                            {"more", "boolean", "whether the limit left some out"}}),
          .hints = kReads,
          .answers = kDoneOnly,
          .command = [](const Json& arguments, const Root& root) {
            return CommandWords("query", arguments, root)
                .position("where")
                .option("columns")
                .option("sort")
                .option("limit")
                .line();
          }};
}

Tool lessons_tool() {
  return {.name = "lessons",
          .title = "What past experiments taught",
          .description =
              "Lists lessons, positive and negative, each with the condition under which it holds. Read them "
              "before you try a technique again.",
          .input_schema = arguments_schema({family_argument(false),
                                            {"technique", text_schema("only lessons about this technique")},
                                            {"variant", text_schema("only lessons about this variant, FAMILY/NAME")},
                                            {"verdict", word_schema("only lessons with this verdict", kVerdicts)}}),
          .output_schema = document_schema(
              {{"lessons", "array", "text, verdict, speedup, condition of each; 'expired' says why it no longer holds"}}),
          .hints = kReads,
          .answers = kDoneOnly,
          .command = [](const Json& arguments, const Root& root) {
            return CommandWords("lessons", arguments, root)
                .option("family")
                .option("technique")
                .option("variant")
                .option("verdict")
                .line();
          }};
}

Tool show_tool() {
  Json id = text_schema("number of an experiment, or a variant FAMILY/NAME");
  id["type"] = {"integer", "string"};
  return {.name = "show",
          .title = "Show one experiment or variant in full",
          .description = "Shows an experiment with its gates, judgement and evidence, or a variant with its metadata.",
          .input_schema = arguments_schema({{"id", id, true},
                                            {"source", truth_schema("with the source")},
                                            {"log", truth_schema("with the compiler's log, of an experiment")}}),
          .output_schema = document_schema({{"format", "integer", "of documents"},
                                            {"id", Json::array({"integer", "string"}), "what was asked for"}}),
          .hints = kReads,
          .answers = kDoneOnly,
          .command =
              [](const Json& arguments, const Root& root) {
                return CommandWords("show", arguments, root).position("id").flag("source").flag("log").line();
              },
          .shape = [](const Json& document, const Json&) { return without_rounds(without_steps(document)); }};
}

}  // namespace

std::vector<Tool> reading_tools() {
  return {list_tool(), lessons_tool(), query_tool(), show_tool(), doctor_tool()};
}

}  // namespace apo::mcp

// harness/mcp/tools/tools.cpp - one function a tool, and the table in which clients are shown them.
#include "harness/mcp/tools/tools.h"

#include <algorithm>

#include "harness/mcp/tools/schemas.h"
#include "harness/mcp/tools/shapes.h"

namespace apo::mcp {
namespace {

constexpr Hints kReads{.read_only = true, .idempotent = true};
constexpr Hints kMeasures{};  // adds to the journal, changes nothing

// Exit codes of the program: 0 done, 1 a wrong candidate or a mistake, 2 the environment, 3 a gate failed.
const std::vector<int> kDoneOnly = {0};

const std::vector<std::string> kCaches = {"cold", "warm"};
const std::vector<std::string> kJudges = {"auto", "standard", "extended", "strict", "precise"};
const std::vector<std::string> kTargets = {"auto", "host", "cuda"};
const std::vector<std::string> kVerdicts = {"accepted", "reverted", "inconclusive"};

Argument family_argument(bool required, const std::string& more = "") {
  return {"family", text_schema("kernel family; 'list' shows them" + more), required};
}

Argument workload_argument(const std::string& otherwise) {
  return {"workload", text_schema("workload of the family (default: " + otherwise + ")")};
}

Argument cache_argument() {
  return {"cache", word_schema("state of the caches before each call (default: cold)", kCaches)};
}

Argument judge_argument() {
  return {"judge", word_schema("judge preset (default: auto, from a run of the incumbent against itself)", kJudges)};
}

Argument path_argument() {
  return {"path", text_schema("the candidate's source file, below the folder where the server was started; with its "
                              "headers that are included with quotes. Either this or 'source'")};
}

Argument source_argument() {
  return {"source", text_schema("the candidate's source text, at most 1 MiB. Either this or 'path'")};
}

Argument variant_argument(const std::string& name, const std::string& description) {
  return {name, text_schema(description + ", FAMILY/NAME or FAMILY/NAME[TUNABLE=VALUE,...]"), true};
}

// ---------------------------------------------------------------- look

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
          .shape = [](Json document,
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
          .output_schema = document_schema({{"lessons", "array", "text, verdict, speedup, condition of each"}}),
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
  return {
      .name = "show",
      .title = "Show one experiment or variant in full",
      .description = "Shows an experiment with its gates, judgement and evidence, or a variant with its metadata.",
      .input_schema = arguments_schema({{"id", text_schema("number of an experiment, or a variant FAMILY/NAME"), true},
                                        {"source", truth_schema("with the source")},
                                        {"log", truth_schema("with the compiler's log, of an experiment")}}),
      .output_schema = document_schema(
          {{"format", "integer", "of documents"}, {"id", Json::array({"integer", "string"}), "what was asked for"}}),
      .hints = kReads,
      .answers = kDoneOnly,
      .command =
          [](const Json& arguments, const Root& root) {
            return CommandWords("show", arguments, root).position("id").flag("source").flag("log").line();
          },
      .shape = [](Json document, const Json&) { return without_rounds(without_steps(std::move(document))); }};
}

// ---------------------------------------------------------------- jobs

Tool brief_tool() {
  return {.name = "brief",
          .title = "What to try next, and why",
          .description =
              "The research brief of a workload: the incumbent, what its time goes to, candidates with "
              "predicted gains, what was refuted, techniques that nobody has written. Start here.",
          .input_schema = arguments_schema({family_argument(true),
                                            workload_argument("the family's first"),
                                            {"target", word_schema("where it runs (default: auto)", kTargets)},
                                            cache_argument()}),
          .output_schema = job_schema(document_schema({{"incumbent", "object", "the configuration to beat"},
                                                       {"workload", "string", "what it is about"},
                                                       {"bottlenecks", "array", "with evidence and bounds"},
                                                       {"ranked", "array", "candidates, best first"}})),
          .hints = kReads,
          .is_job = true,
          .answers = kDoneOnly,
          .command = [](const Json& arguments, const Root& root) {
            return CommandWords("research", arguments, root)
                .position("family")
                .option("workload")
                .option("target")
                .option("cache")
                .line();
          }};
}

Json shorter_gates(Json document, const Json&) {
  return without_steps(std::move(document));
}

Json gates_schema(const std::vector<Field>& more) {
  std::vector<Field> fields = more;
  fields.push_back({"gates", "array", "gate, outcome and evidence of each; the last one is the one that failed"});
  return document_schema(fields);
}

Tool register_tool() {
  return {.name = "register",
          .title = "Check a kernel and keep it as a variant",
          .description =
              "Builds a candidate, checks its results on many shapes and under sanitizers, and adds it to the "
              "catalogue under the name in its apo:variant line. A refusal is an error with the compiler's "
              "text or the first wrong element. 'evaluate' does this and times it too.",
          .input_schema = arguments_schema(
              {path_argument(), source_argument(), family_argument(false, "; of a file without a block")}),
          .output_schema = job_schema(gates_schema({{"variant", "string", "FAMILY/NAME"},
                                                    {"state", "string", "registered, already registered or refused"},
                                                    {"path", "string", "where it is kept"},
                                                    {"log", "string", "the compiler's, of a refused one", false}})),
          .hints = {.idempotent = true},
          .is_job = true,
          .answers = kDoneOnly,
          .command =
              [](const Json& arguments, const Root& root) {
                return CommandWords("register", arguments, root).candidate("").option("family").line();
              },
          .shape = shorter_gates};
}

Tool verify_tool() {
  return {.name = "verify",
          .title = "Check a kernel's results",
          .description =
              "Checks a variant, or a candidate that is not registered, against the fp64 reference on small, "
              "ragged and production shapes and under sanitizers. Keeps nothing and times nothing.",
          .input_schema = arguments_schema({{"variant", text_schema("FAMILY/NAME; or give 'path' or 'source'")},
                                            path_argument(),
                                            source_argument(),
                                            family_argument(false, "; of a file without a block")}),
          .output_schema = job_schema(gates_schema({{"outcome", "string", "valid, or what is wrong"}})),
          .hints = kReads,
          .is_job = true,
          .answers = {0, 3},
          .command =
              [](const Json& arguments, const Root& root) {
                CommandWords words("verify", arguments, root);
                if (arguments.contains("variant")) {
                  return words.position("variant").line();
                }
                return words.candidate("--file=").option("family").line();
              },
          .shape = shorter_gates};
}

Tool evaluate_tool() {
  const Json at_least = {{"type", "number"},
                         {"minimum", 0.001},
                         {"description", "the least ratio that counts as reached; the exit code says whether"}};
  return {
      .name = "evaluate",
      .title = "Judge one candidate against the incumbent",
      .description =
          "Checks a candidate and times it against the incumbent of this machine in interleaved rounds and "
          "fresh processes, and keeps the verdict. Verdicts: accepted, reverted, inconclusive, wrong (a gate "
          "failed), incumbent (the same code), not_judged (no GPU here). 'score' is the lower end of the "
          "speed-up's interval, which is what can be claimed; 'feedback' says what to act on. Takes minutes: "
          "a job.",
      .input_schema = arguments_schema({path_argument(),
                                        source_argument(),
                                        family_argument(true),
                                        workload_argument("the first for the target"),
                                        {"at_least", at_least},
                                        cache_argument(),
                                        judge_argument()}),
      .output_schema = job_schema(gates_schema({{"variant", "string", "FAMILY/NAME"},
                                                {"verdict", "string", "see above"},
                                                {"score", "number", "a ratio; 0 for a wrong candidate"},
                                                {"incumbent", "string", "what it was judged against"},
                                                {"feedback", "array", "sentences to act on"},
                                                {"experiment", Json::array({"object", "null"}), "the whole record"}})),
      .hints = kMeasures,
      .is_job = true,
      .answers = {0, 1, 3},
      .command =
          [](const Json& arguments, const Root& root) {
            return CommandWords("evaluate", arguments, root)
                .candidate("")
                .option("family")
                .option("workload")
                .option("at_least")
                .option("cache")
                .option("judge")
                .line();
          },
      .shape = shorter_gates};
}

Tool compare_tool() {
  return {.name = "compare",
          .title = "Compare two variants",
          .description =
              "Judges variant b against variant a in paired rounds: the ratio with its interval, and whether "
              "this machine can resolve it. Takes minutes: a job.",
          .input_schema = arguments_schema(
              {variant_argument("a", "the variant to compare with"), variant_argument("b", "the variant to judge"),
               workload_argument("the family's first"), cache_argument(), judge_argument()}),
          .output_schema = job_schema(gates_schema(
              {{"id", "integer", "the experiment"},
               {"outcome", "string", "valid, or the gate's"},
               {"judgement", Json::array({"object", "null"}), "verdict, speedup, lower, upper, sentence"}})),
          .hints = kMeasures,
          .is_job = true,
          .answers = kDoneOnly,
          .command =
              [](const Json& arguments, const Root& root) {
                return CommandWords("compare", arguments, root)
                    .position("a")
                    .position("b")
                    .option("workload")
                    .option("cache")
                    .option("judge")
                    .line();
              },
          .shape = shorter_gates};
}

Tool profile_tool() {
  return {
      .name = "profile",
      .title = "Profile a variant",
      .description =
          "Where a variant's time goes: time, counters with units, stalls by source line, the distance to "
          "this machine's measured roofs, bottlenecks. What could not be measured is named.",
      .input_schema = arguments_schema({variant_argument("variant", "the variant to profile"),
                                        workload_argument("that of its newest judgement here"), cache_argument()}),
      .output_schema = job_schema(document_schema({{"workload", "string", "what it ran"},
                                                   {"time_ns", Json::array({"number", "null"}), "of a call"},
                                                   {"floor_ns", Json::array({"number", "null"}), "at the roofs"},
                                                   {"metrics", "array", "name, value, unit, interval"},
                                                   {"bottlenecks", "array", "with evidence"}})),
      .hints = kMeasures,
      .is_job = true,
      .answers = kDoneOnly,
      .command = [](const Json& arguments, const Root& root) {
        return CommandWords("profile", arguments, root).position("variant").option("workload").option("cache").line();
      }};
}

Tool explain_tool() {
  return {
      .name = "explain",
      .title = "Explain why one variant is faster",
      .description = "Profiles two variants and says which counters account for the difference between their times.",
      .input_schema = arguments_schema({variant_argument("a", "the variant to start from"),
                                        variant_argument("b", "the variant to explain against a"),
                                        workload_argument("that of their newest judgement here"), cache_argument()}),
      .output_schema = job_schema(
          document_schema({{"sentence", "string", "the answer"}, {"differences", "array", "what accounts for it"}})),
      .hints = kMeasures,
      .is_job = true,
      .answers = kDoneOnly,
      .command = [](const Json& arguments, const Root& root) {
        return CommandWords("explain", arguments, root)
            .position("a")
            .position("b")
            .option("workload")
            .option("cache")
            .line();
      }};
}

// ---------------------------------------------------------------- about jobs

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

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {brief_tool(),   evaluate_tool(), register_tool(), verify_tool(), compare_tool(),
                                        profile_tool(), explain_tool(),  wait_tool(),     cancel_tool(), list_tool(),
                                        lessons_tool(), query_tool(),    show_tool(),     doctor_tool()};
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

// harness/mcp/tools/measuring_tools.cpp - tools that check, time or profile: jobs.
#include "harness/mcp/tools/shapes.h"
#include "harness/mcp/tools/tool_rows.h"

namespace apo::mcp {
namespace {

constexpr Hints kMeasures{};  // adds to the journal, changes nothing

const std::vector<std::string> kCaches = {"cold", "warm"};
const std::vector<std::string> kJudges = {"auto", "standard", "extended", "strict", "precise"};
const std::vector<std::string> kEvaluateJudges = {"auto", "standard", "extended", "strict", "precise", "quick"};
const std::vector<std::string> kTargets = {"auto", "host", "cuda"};

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

Json shorter_gates(const Json& document, const Json&) {
  return without_steps(document);
}

Json gates_schema(const std::vector<Field>& more) {
  std::vector<Field> fields = more;
  fields.push_back({"gates", "array", "gate, outcome and evidence of each; the last one is the one that failed"});
  return document_schema(fields);
}

// Of an output that was out of bounds.
Json wrong_element_schema() {
  const Json number = Json::array({"number", "null"});
  Json schema = document_schema({{"workload", "string", "the sizes, a workload or a shape of the check"},
                                 {"regime", "string", "of the inputs"},
                                 {"tensor", "string", "the output"},
                                 {"axes", "array", "their names"},
                                 {"index", "array", "along each axis"},
                                 {"expected", number, "by the fp64 reference"},
                                 {"got", number, "null where it is not finite; the feedback says what it is"},
                                 {"bound", number, "of the difference"},
                                 {"inputs", "array", "those at the same indices"},
                                 {"seed", Json::array({"integer", "null"}), "of the inputs; null: kept secret"}});
  schema["properties"]["inputs"]["items"] = document_schema({{"name", "string", "the input"},
                                                             {"index", "array", "along each of its axes"},
                                                             {"value", number, "null where it is not finite"}});
  schema["type"] = Json::array({"object", "null"});
  schema["description"] = "the first wrong element, where a gate failed for one";
  return schema;
}

Json evaluation_schema() {
  Json schema = gates_schema({{"variant", "string", "FAMILY/NAME"},
                              {"verdict", "string", "see above"},
                              {"score", "number", "a ratio; 0 for a wrong candidate"},
                              {"incumbent", "string", "what it was judged against"},
                              {"feedback", "array", "sentences to act on"},
                              {"wrong", "object", "see its properties"},
                              {"experiment", Json::array({"object", "null"}), "the whole record"}});
  schema["properties"]["wrong"] = wrong_element_schema();
  return schema;
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
                words.candidate_or_variant("--file=");
                return arguments.contains("variant") ? words.line() : words.option("family").line();
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
          "failed), incumbent (the same code), not_judged (not on this machine), ranked (judge quick). 'score' is the "
          "lower end of the "
          "speed-up's interval, which is what can be claimed; 'feedback' says what to act on. Takes minutes: "
          "a job.",
      .input_schema = arguments_schema(
          {{"variant", text_schema("a known variant with settings, FAMILY/NAME[SETTING=VALUE]; or give "
                                   "'path' or 'source'")},
           path_argument(),
           source_argument(),
           family_argument(false, "; needed where the candidate's block names none"),
           workload_argument("the first for the target"),
           {"at_least", at_least},
           cache_argument(),
           {"judge", word_schema("judge preset (default: auto); quick ranks candidates without a "
                                 "decision, in seconds",
                                 kEvaluateJudges)}}),
      .output_schema = job_schema(evaluation_schema()),
      .hints = kMeasures,
      .is_job = true,
      .answers = {0, 1, 3},
      .command =
          [](const Json& arguments, const Root& root) {
            return CommandWords("evaluate", arguments, root)
                .candidate_or_variant("")
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
          .answers = {0, 3},
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

}  // namespace

std::vector<Tool> measuring_tools() {
  return {brief_tool(),   evaluate_tool(), register_tool(), verify_tool(),
          compare_tool(), profile_tool(),  explain_tool()};
}

}  // namespace apo::mcp

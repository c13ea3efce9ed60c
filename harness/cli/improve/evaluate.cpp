// harness/cli/improve/evaluate.cpp - `apo evaluate`: one candidate in, one document out, for scripts and agents; and
// `apo try`: each file in turn, for people.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/brought_options.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/loop/policy.h"
#include "harness/loop/trial/candidate_judge.h"
#include "harness/research/proposers/answer.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  std::vector<std::string> candidates;  // of `apo evaluate` one
  TrialChoice choice;
  BroughtOptions brought;
  double at_least = 0;
  bool stream = false;
};

// The file with what was said of it; see brought_file().
GivenCandidate as_it_is(const GivenCandidate& file, const std::string& function,
                        const std::vector<std::string>& lines) {
  const GivenFile given = brought_file(file.path, function, lines);
  return {.path = given.path.string(), .source = given.source, .shown = file.shown};
}

std::string text_of(const CandidateAnswer& answer) {
  std::string text = fmt::format("variant: {}\nverdict: {}\nscore: {}\n", answer.variant, to_string(answer.verdict),
                                 format_g(answer.score));
  if (answer.experiment && has_effect(*answer.experiment)) {
    const Judgement& judgement = *answer.experiment->judgement;
    text += fmt::format("speedup: {}\nlower: {}\nupper: {}\n", format_g(judgement.speedup()),
                        format_g(judgement.speedup_lower()), format_g(judgement.speedup_upper()));
  }
  if (answer.experiment) {
    text += fmt::format("experiment: {}\nagainst: {}\n", answer.experiment->id, answer.experiment->incumbent.label());
  }
  for (const GateResult& gate : answer.gates) {
    text += fmt::format("gate.{}: {}\n", gate.gate, to_string(gate.outcome));
  }
  for (const std::string& line : answer.feedback) {
    text += "feedback: " + one_line(line) + "\n";
  }
  return text;
}

int exit_code_of(const CandidateAnswer& answer, double at_least) {
  return answer.verdict == CandidateVerdict::wrong        ? kUserMistake
         : answer.verdict == CandidateVerdict::not_judged ? kEnvironmentTrouble
         : answer.score < at_least                        ? kGateFailed
                                                          : kDone;
}

// "copy/simple[BLOCK=64]" in place of a file.
bool names_a_variant(const std::string& word) {
  if (word == "-") {
    return false;
  }
  return word.ends_with(']') || (std::filesystem::path(word).extension().empty() && !std::filesystem::exists(word));
}

GivenCandidate given_candidate(const EvaluateOptions& options, const TemporaryFolder& folder) {
  const std::string& word = options.candidates.front();
  if (!names_a_variant(word)) {
    return as_it_is(candidate_file(word, folder.path()), options.brought.function(), options.brought.lines);
  }
  if (!options.brought.functions.empty() || !options.brought.lines.empty()) {
    throw UserError("--function and --line are of a file, and '" + word + "' is a variant");
  }
  return {.variant = word};
}

// The family that the block of the file names, else that of its folder; "" where neither does.
std::string family_of_file(const GivenCandidate& file) {
  if (std::filesystem::path(file.path).extension() != ".so") {
    const std::vector<BlockLine> block =
        read_block(file.source.empty() ? read_file(file.path) : file.source, file.shown);
    const auto named = std::ranges::find(block, "variant", &BlockLine::key);
    if (named != block.end()) {
      return named->value.substr(0, named->value.find('/'));
    }
  }
  return identity_of(std::filesystem::absolute(file.path)).family;
}

std::string family_of(const GivenCandidate& given, const Workspace& workspace) {
  if (!given.variant.empty()) {
    return workspace.catalogue().get(given.variant.substr(0, given.variant.find('['))).family;
  }
  const std::string family = family_of_file(given);
  if (family.empty()) {
    throw UserError("'" + given.shown + "' does not say which operation it computes",
                    "name it with --family, or begin the file with '// apo:variant FAMILY/NAME'");
  }
  return family;
}

// ---------------------------------------------------------------- --stream: a line each

// A source of 1 MiB, each byte of it written as \u00XX, and room for the rest.
constexpr std::size_t kLongestLine = 6 * kLongestCandidate + (std::size_t{1} << 16);

const std::vector<std::string> kKeysOfLine = {"source", "function", "lines", "variant", "name", "extension", "judge"};

struct InputLine {
  std::string text;  // without its end
  bool too_long = false;
};

// nullopt at the end of the input. The rest of a line that is too long is skipped.
std::optional<InputLine> next_line(std::FILE* input) {
  InputLine line;
  int c = std::fgetc(input);
  if (c == EOF) {
    return std::nullopt;
  }
  for (; c != EOF && c != '\n'; c = std::fgetc(input)) {
    line.too_long = line.too_long || line.text.size() == kLongestLine;
    if (!line.too_long) {
      line.text.push_back(static_cast<char>(c));
    }
  }
  return line;
}

GivenCandidate given_by(const ProposedCandidate& line, const TemporaryFolder& folder) {
  GivenCandidate given{.variant = line.variant};
  if (line.variant.empty()) {
    given = as_it_is(file_of_source(line.source, line.extension, folder.path()), line.function, line.lines);
  }
  given.judge = line.judge;
  if (!given.judge.empty()) {
    check_candidate_judge(given.judge);
  }
  return given;
}

// A failure of neither the line nor the candidate, such as a locked journal, may be gone at the next line.
CandidateAnswer answer_of(CandidateJudge& judge, const GivenCandidate& given) {
  try {
    return judge.answer(given);
  } catch (const UserError& error) {
    CandidateAnswer answer;
    fail_for(answer, EnvironmentError(error.what(), error.hint()));
    return answer;
  }
}

// Answers for each line of standard input, in order and as soon as the answer is known, until the input ends. A line is
// an object with "source" and, if wanted, "function", "lines", "name", "extension" and "judge"; one that is not gets an
// answer too.
void answer_lines(CandidateJudge& judge) {
  const TemporaryFolder folder;
  while (const std::optional<InputLine> line = next_line(stdin)) {
    Json name;
    CandidateAnswer one;
    try {
      if (line->too_long) {
        throw UserError(fmt::format("the line is longer than {} bytes", kLongestLine));
      }
      const nlohmann::json json = json_object(line->text);
      name = json.value("name", nlohmann::json());
      one = answer_of(judge, given_by(candidate_of(json, kKeysOfLine), folder));
    } catch (const UserError& error) {
      fail_for(one, error);
    }
    Json document = {{"name", name}};
    document.update(to_document(one));
    print_json_line(document);
  }
}

// ---------------------------------------------------------------- all together

int evaluate_one(const EvaluateOptions& options, Workspace& workspace, Observer& observer, const Globals& globals) {
  const TemporaryFolder folder;
  const GivenCandidate given = given_candidate(options, folder);
  TrialChoice choice = options.choice;
  choice.family = choice.family.empty() ? family_of(given, workspace) : choice.family;
  CandidateJudge judge(workspace, choice, observer);
  const CandidateAnswer answer = judge.answer(given);
  judge.finish();
  print_answer(globals, to_document(answer), text_of(answer));
  return exit_code_of(answer, options.at_least);
}

int evaluate_stream(const EvaluateOptions& options, Workspace& workspace, Observer& observer) {
  if (options.choice.family.empty()) {
    throw UserError("--stream needs --family", "'apo list' shows all families");
  }
  CandidateJudge judge(workspace, options.choice, observer);
  answer_lines(judge);
  judge.finish();
  return kDone;
}

int evaluate_candidates(const EvaluateOptions& options, const Globals& globals) {
  if (options.stream == !options.candidates.empty()) {
    throw UserError(options.stream ? "--stream reads its candidates from standard input, and '" +
                                         options.candidates.front() + "' was given too"
                                   : "no candidate was given",
                    "give one file or variant, or - for standard input, or --stream for JSON lines on standard input");
  }
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const InterruptNote note("the journal keeps every finished experiment and the rounds of this one",
                           "evaluate anew with", globals.words);
  return options.stream ? evaluate_stream(options, workspace, observer)
                        : evaluate_one(options, workspace, observer, globals);
}

// ---------------------------------------------------------------- apo try

// The verdict in words, with a colon where the evidence is a sentence.
std::string verdict_line(const CandidateAnswer& answer) {
  const auto words = [](std::string_view word) { return replace_all(std::string(word), "_", " "); };
  if (answer.verdict == CandidateVerdict::wrong && !answer.gates.empty() &&
      answer.gates.back().outcome != Outcome::valid) {
    return words(to_string(answer.gates.back().outcome)) + ": " + answer.gates.back().evidence;
  }
  if (answer.verdict == CandidateVerdict::incumbent) {
    return "is the incumbent already: " + answer.feedback.back();
  }
  if (answer.verdict == CandidateVerdict::registered) {
    return answer.feedback.back();
  }
  if (!answer.experiment || !has_effect(*answer.experiment)) {
    return (answer.verdict == CandidateVerdict::wrong ? "no valid variant: " : "not judged: ") + answer.feedback.back();
  }
  const Judgement& judgement = *answer.experiment->judgement;
  return fmt::format("{} {} over {} ({}; experiment {})", to_string(answer.verdict),
                     format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()).all(),
                     answer.experiment->incumbent.label(), words(to_string(judgement.reason)), answer.experiment->id);
}

// How the function is called, or why its file does not build.
void print_besides(const CandidateAnswer& answer) {
  const bool unbuilt = !answer.gates.empty() && answer.gates.back().outcome == Outcome::build_failed;
  std::fputs(unbuilt ? as_quotation(answer.log).c_str() : "", stderr);
  if (!unbuilt && !answer.call.empty()) {
    print("  calls " + answer.call + "\n");
  }
}

int try_files(const EvaluateOptions& options, const Globals& globals) {
  Workspace workspace(make_paths(globals.journal));
  ConsoleObserver observer(globals);
  const InterruptNote note(
      "the journal keeps every finished experiment and the rounds of this one, and a file that passed the gates stays "
      "registered",
      "try again with", globals.words);
  CandidateJudge judge(workspace, options.choice, observer);
  std::vector<GivenCandidate> candidates;
  for (const std::string& file : options.candidates) {
    static_cast<void>(read_file(file));  // a file that is not there is a mistake of the command
    for (const std::string& function : options.brought.functions_or_none()) {
      candidates.push_back(as_it_is({.path = file, .shown = file}, function, options.brought.lines));
    }
  }
  judge.build_ahead(candidates);
  Json documents = Json::array();
  bool judged_all = true;
  bool any_wrong = false;
  for (const GivenCandidate& given : candidates) {
    const CandidateAnswer answer = judge.answer(given);
    judged_all = judged_all && answer.verdict != CandidateVerdict::not_judged;
    any_wrong = any_wrong || answer.verdict == CandidateVerdict::wrong;
    documents.push_back(to_document(answer));
    documents.back()["file"] = given.shown;
    if (!globals.json) {
      print(fmt::format("{}: {}\n", answer.variant.empty() ? given.shown : answer.variant, verdict_line(answer)));
      print_besides(answer);
    }
  }
  std::string incumbents;
  for (const Configuration& incumbent : judge.finish()) {
    incumbents += "incumbent: " + incumbent.label() + "\n";
  }
  print_answer(globals, {{"family", options.choice.family}, {"verdicts", documents}}, incumbents);
  return any_wrong ? kGateFailed : judged_all ? kDone : kEnvironmentTrouble;
}

// The options of both commands besides --workload.
void add_choice(CLI::App& app, TrialChoice& choice) {
  app.add_option("--cache", choice.cache, "cold (flush the caches before every sample) or warm (default: cold)");
  add_launch(app, choice.launch);
  app.add_option("--judge", choice.judge,
                 "judge preset: auto, standard, extended, strict or precise; or quick, which ranks without a decision");
}

}  // namespace

Action define_evaluate(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<EvaluateOptions>();
  app.add_option("candidate", options->candidates,
                 "the candidate: a source file, - for one on standard input, or a known variant with settings, "
                 "FAMILY/NAME[SETTING=VALUE]")
      ->expected(1)
      ->allow_extra_args(false);
  app.add_option("--family", options->choice.family,
                 "the operation that it computes; 'apo list' shows them (default: that of its apo:variant line)");
  app.add_option("--workload", options->choice.workloads, "workload to judge on (default: the first for the target)")
      ->expected(1);
  app.add_option("--at-least", options->at_least, "exit with 3 when the score is below this ratio")
      ->check(CLI::PositiveNumber);
  app.add_flag("--stream", options->stream,
               "candidates from standard input, as JSON lines {\"source\": \"...\"}, with \"function\" and \"lines\" "
               "for a source as it is, or {\"variant\": \"...\"}; an answer a line")
      ->excludes("--at-least");
  add_brought(app, options->brought);
  add_choice(app, options->choice);
  return [options, &globals] { return evaluate_candidates(*options, globals); };
}

Action define_try(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<EvaluateOptions>();
  app.add_option("family", options->choice.family, "kernel family that the files compute")->required();
  app.add_option("files", options->candidates, "source files of variants, with or without a metadata block")
      ->required();
  app.add_option("--workload", options->choice.workloads,
                 "workload to judge on; may repeat, all of one class (default: the first for the target)")
      ->allow_extra_args(false);
  add_brought(app, options->brought);
  add_choice(app, options->choice);
  app.footer(kJudgedExitCodes);
  return [options, &globals] { return try_files(*options, globals); };
}

}  // namespace apo

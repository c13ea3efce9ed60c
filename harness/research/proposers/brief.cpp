// harness/research/proposers/brief.cpp - writes the brief; text that is not UTF-8 is replaced.
#include "harness/research/proposers/brief.h"

#include <algorithm>
#include <cmath>

#include "harness/core/json/records_json.h"
#include "harness/research/prediction/prediction.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTried = 60;
constexpr std::size_t kMostStalls = 40;

// The rules for an author without a copy of the documents.
constexpr const char* kRules[] = {
    "Answer with one JSON object a line on standard output; other lines are passed over. A candidate has one of "
    "'source' (the text of one file), 'file' (its path) and 'variant' (\"family/name[SETTING=VALUE]\"), and may have "
    "'extension' (.cpp, .cu, .py), 'name', 'author', 'parent', 'techniques' (words), 'idea' (one sentence), 'predict' "
    "({\"low\": 1.05, \"high\": 1.2, \"because\": \"...\"}, speed-ups over the parent), 'tokens', 'usd', 'seconds'. "
    "Another key refuses it.",
    "A host source (.cpp) defines the function of 'signature', whose parameters have this order; it may take 'int "
    "threads' as one more, the number of threads that it may start.",
    "A device source (.cu) has kernels and, in comments at its top, a line '// apo:launch KERNEL grid=EXPRESSION "
    "block=EXPRESSION shared=EXPRESSION' for each launch, in order; expressions are over axes, settings, SMS, "
    "SHARED_MAX and MAX_THREADS. '#include \"FAMILY.args.h\"' gives the argument struct.",
    "Lines '// apo:tune NAME 1,2,4' and '// apo:scratch NAME BYTES' at the top declare settings and buffers.",
    "Each candidate is compiled, checked against an fp64 reference on shapes and inputs that are not told, run under "
    "sanitizers, and timed in blind pairs against the incumbent, in a process that it shares with nobody. What it "
    "prints counts for nothing.",
    "'earlier_answers' of the request has what became of the newest proposals for this operation, and why a line was "
    "refused. A call of another 'campaign' than the request's may have been about another incumbent.",
    "State your prediction before it is measured: the journal keeps it beside the result.",
    "What was tried is listed under 'tried': the same source, but for comments and blanks, is not judged again."};

}  // namespace

Json to_document(const Idea& idea) {
  return {{"technique", idea.technique.name},
          {"attacks", idea.attacks},
          {"precondition", idea.technique.precondition},
          {"cost", idea.technique.cost},
          {"requires", idea.technique.requires_expression},
          {"excludes", idea.technique.excludes},
          {"builds_on", idea.technique.builds_on},
          {"low", idea.technique.low},
          {"high", idea.technique.high},
          {"source", idea.technique.source},
          {"score", number_or_null(idea.score)},
          {"why_not", idea.why_not}};
}

namespace {

Json contract_of(const Family& family, const Axes& axes) {
  const auto axis = [&](const AxisSpec& record) {
    Json document = APO_DOCUMENT(name, min, max, meaning);
    document.update({{"value", axes.at(record.name)}, {"known_when_compiling", record.specialised}});
    return document;
  };
  const auto tensor = [](const TensorSpec& one) {
    return Json{{"name", one.name},
                {"dtype", to_string(one.dtype)},
                {"role", role_word(one)},
                {"shape", one.shape_text},
                {"meaning", one.meaning}};
  };
  const auto scalar = [](const ScalarSpec& record) { return APO_DOCUMENT(name, dtype, value, meaning); };
  return {{"family", family.name},
          {"summary", family.summary},
          {"axes", list_of(family.axes, axis)},
          {"tensors", list_of(arguments_of(family), tensor)},
          {"scalars", list_of(family.scalars, scalar)},
          {"input_regimes", family.regimes}};
}

// The incumbent's file and the headers that it includes, and the definition of a family of one file.
Json sources_of(const Variant& incumbent) {
  Json sources = {{incumbent.name, incumbent.source}};
  for (const SourceFile& header : incumbent.headers) {
    if (header.name != incumbent.object) {
      sources[header.name] = header.text;
    }
  }
  if (!incumbent.contract.empty()) {
    sources[incumbent.family + " (definition)"] = incumbent.contract;
  }
  return sources;
}

Json profile_of(const Profile& profile) {
  Profile shortened = profile;
  shortened.stalls.resize(std::min(shortened.stalls.size(), kMostStalls));
  Json document = to_document(shortened);
  document.erase("roofs");
  return document;
}

Json tried_document(const PastResult& past) {
  Json document = {{"experiment", past.experiment},       {"candidate", past.candidate.label()},
                   {"incumbent", past.incumbent.label()}, {"workload", past.workload},
                   {"techniques", past.techniques},       {"verdict", to_string(past.verdict)},
                   {"outcome", to_string(past.outcome)}};
  if (past.timed) {
    document["speedup"] = ratio_or_null(past.effect);
    document["lower"] = ratio_or_null(past.lower);
    document["upper"] = ratio_or_null(past.upper);
  }
  if (has_prediction(past.prediction)) {
    document["predicted"] = {number_or_null(past.prediction.low), number_or_null(past.prediction.high)};
  }
  if (!past.evidence.empty()) {
    document["evidence"] = past.evidence;
  }
  if (!past.sentence.empty()) {
    document["why"] = past.sentence;
  }
  return document;
}

// The newest on this machine and workload class, the newest last.
Json tried_here(const ResearchInputs& inputs) {
  std::vector<PastResult> here;
  std::ranges::copy_if(inputs.past, std::back_inserter(here), [&](const PastResult& past) {
    return past.machine == inputs.machine && past.workload_class == inputs.workload_class;
  });
  here.erase(here.begin(), here.end() - static_cast<std::ptrdiff_t>(std::min(here.size(), kMostTried)));
  return list_of(here, tried_document);
}

Json request_document(const BriefRequest& request) {
  Json document = {
      {"campaign", request.campaign}, {"candidates_at_most", request.most}, {"answer_within_s", request.timeout_s}};
  if (request.budget_left_s > 0) {
    document["budget_left_s"] = std::round(request.budget_left_s);
  }
  document["earlier_answers"] = to_documents(request.before);
  return document;
}

}  // namespace

std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs, const BriefSubject& subject,
                          const std::optional<BriefRequest>& request) {
  Json document = {{"format", kRecordsFormat},
                   {"document", "brief"},
                   {"incumbent", to_document(inputs.incumbent)},
                   {"workload", inputs.diagnosis.profile.workload},
                   {"workload_class", inputs.workload_class},
                   {"machine", to_document(subject.machine)},
                   {"contract", contract_of(subject.family, inputs.diagnosis.axes)},
                   {"signature", subject.signature},
                   {"argument_header", subject.argument_header},
                   {"sources", sources_of(inputs.diagnosis.incumbent)},
                   {"profile", profile_of(inputs.diagnosis.profile)}};
  document.update(to_document(brief));
  document["ideas"] = to_documents(brief.unwritten);
  document["tried"] = tried_here(inputs);
  document["lessons"] = list_of(inputs.lessons, [](const Lesson& lesson) { return Json(lesson.text); });
  document["rules"] = kRules;
  if (request) {
    document["request"] = request_document(*request);
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace apo

// harness/cli/trust/gate_document.cpp - the gate's table, JSON document and JUnit suite.
#include "harness/cli/trust/gate_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/console.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "reports/formats/escape.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

std::string_view to_string(GateAnswer answer) {
  return answer == GateAnswer::passed ? "passed" : answer == GateAnswer::regressed ? "regressed" : "undecided";
}

std::string paint_verdict(GateVerdict verdict) {
  const char* colour = verdict == GateVerdict::passed ? "green" : verdict == GateVerdict::undecided ? "yellow" : "red";
  return paint(std::string(apo::to_string(verdict)), colour);
}

std::string interval(const WorkloadAnswer& workload) {
  return fmt::format("{} n={}", format_change(workload.effect, workload.lower, workload.upper).all(), workload.rounds);
}

const WorkloadAnswer* answer_of(const GatedPair& gated, std::size_t workload) {
  const auto& answers = gated.outcome.state.workloads;
  return workload < answers.size() && answers[workload].rounds > 0 ? &answers[workload] : nullptr;
}

// "n4k: +0.12 % [-0.30 %, +0.55 %] n=14", one a workload.
std::string evidence(const GatedPair& gated) {
  std::string text = gated.outcome.judgement.sentence;
  for (std::size_t w = 0; w < gated.workloads.size(); ++w) {
    if (const WorkloadAnswer* answer = answer_of(gated, w)) {
      text += "\n" + gated.workloads[w] + ": " + interval(*answer);
    }
  }
  return text;
}

int count(const std::vector<GatedPair>& gated, std::initializer_list<GateVerdict> verdicts) {
  return static_cast<int>(std::count_if(gated.begin(), gated.end(), [&](const GatedPair& one) {
    return std::find(verdicts.begin(), verdicts.end(), *one.outcome.gate) != verdicts.end();
  }));
}

// Commands have no source.
Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json workload_document(const GatedPair& gated, std::size_t w) {
  Json document = {{"workload", gated.workloads[w]}};
  if (const WorkloadAnswer* answer = answer_of(gated, w)) {
    document["answer"] = to_string(answer->answer);
    document["effect"] = number_or_null(answer->effect);
    document["lower"] = number_or_null(answer->lower);
    document["upper"] = number_or_null(answer->upper);
    document["rounds"] = answer->rounds;
  }
  return document;
}

}  // namespace

GateVerdict overall(const std::vector<GatedPair>& gated) {
  for (const GateVerdict verdict : {GateVerdict::failed, GateVerdict::regressed, GateVerdict::undecided}) {
    if (count(gated, {verdict}) > 0) {
      return verdict;
    }
  }
  return GateVerdict::passed;
}

std::string gate_text(const std::vector<GatedPair>& gated) {
  std::vector<std::vector<std::string>> rows = {{"variant", "workload", "change", "verdict", "because"}};
  for (const GatedPair& one : gated) {
    for (std::size_t w = 0; w < one.workloads.size(); ++w) {
      const WorkloadAnswer* answer = answer_of(one, w);
      rows.push_back({w == 0 ? one.label : "", one.workloads[w], answer == nullptr ? "not timed" : interval(*answer),
                      w == 0 ? paint_verdict(*one.outcome.gate) : "",
                      w == 0 ? report::one_line(one.outcome.judgement.sentence) : ""});
    }
  }
  return format_table(rows) + "change: speed against the baseline with one-sided bounds; negative is slower\n" +
         fmt::format("{} passed, {} failed, {} undecided\n", count(gated, {GateVerdict::passed}),
                     count(gated, {GateVerdict::regressed, GateVerdict::failed}),
                     count(gated, {GateVerdict::undecided}));
}

Json gate_document(const std::vector<GatedPair>& gated, double margin) {
  Json variants = Json::array();
  for (const GatedPair& one : gated) {
    Json workloads = Json::array();
    for (std::size_t w = 0; w < one.workloads.size(); ++w) {
      workloads.push_back(workload_document(one, w));
    }
    variants.push_back({{"variant", one.label},
                        {"verdict", apo::to_string(*one.outcome.gate)},
                        {"sentence", one.outcome.judgement.sentence},
                        {"baseline_source", text_or_null(one.baseline_hash)},
                        {"current_source", text_or_null(one.current_hash)},
                        {"judge_preset", one.outcome.judgement.preset},
                        {"alpha", one.outcome.judgement.alpha},
                        {"workloads", workloads},
                        {"gates", to_documents(one.gates)},
                        {"rounds", one.rounds},
                        {"seconds", one.outcome.judgement.seconds}});
  }
  return {{"verdict", apo::to_string(overall(gated))}, {"margin", margin}, {"variants", variants}};
}

std::string gate_junit(const std::vector<GatedPair>& gated, Unresolved unresolved) {
  const bool skips = unresolved == Unresolved::skipped;
  const int undecided = count(gated, {GateVerdict::undecided});
  double seconds = 0;
  for (const GatedPair& one : gated) {
    seconds += one.outcome.judgement.seconds;
  }
  const auto escape = [](const std::string& text) { return report::escape_xml(text); };
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"apo gate\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\">\n",
      gated.size(), count(gated, {GateVerdict::regressed, GateVerdict::failed}), skips ? 0 : undecided,
      skips ? undecided : 0, seconds);
  for (const GatedPair& one : gated) {
    xml += fmt::format("  <testcase classname=\"apo gate\" name=\"{}\" time=\"{:.6f}\">\n", escape(one.label),
                       one.outcome.judgement.seconds);
    if (*one.outcome.gate == GateVerdict::passed) {
      xml += "    <system-out>" + escape(evidence(one)) + "</system-out>\n";
    } else {
      const std::string element = *one.outcome.gate != GateVerdict::undecided ? "failure" : skips ? "skipped" : "error";
      const std::string type =
          element == "skipped" ? "" : fmt::format(" type=\"{}\"", apo::to_string(*one.outcome.gate));
      xml += "    <" + element + type + " message=\"" + escape(report::one_line(one.outcome.judgement.sentence)) +
             "\">" + escape(evidence(one)) + "</" + element + ">\n";
    }
    xml += "  </testcase>\n";
  }
  return xml + "</testsuite>\n";
}

}  // namespace apo

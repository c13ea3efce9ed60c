// harness/research/proposers/brief.h - what research knows of an incumbent, as the one document that a proposer gets.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/research/research.h"
#include "kernels/family.h"

namespace apo {

// The operation and the place, of which a brief tells the contract.
struct BriefSubject {
  const Family& family;
  Machine machine;
  std::string signature;        // of a plain function that computes it
  std::string argument_header;  // as the incumbent includes it
};

// The request to a proposer, with the outcomes of earlier answers for this family and target.
struct BriefRequest {
  std::int64_t campaign = 0;
  int most = 8;                      // candidates that are read
  double timeout_s = 600;            // of the call
  double budget_left_s = 0;          // of the campaign; 0: no budget
  std::vector<ProposerCall> before;  // of this and earlier campaigns
};

nlohmann::ordered_json to_document(const Idea& idea);

// {"format": 3, "document": "brief", "incumbent", "workload", "machine", "contract", "signature", "argument_header",
// "sources", "profile", "bottlenecks", "ranked", "left_out", "ideas", "tried", "lessons", "rules", "request"}; one
// document. docs/agents.md describes the keys; what repeats a record has the names of its fields.
std::string brief_to_json(const ResearchBrief& brief, const ResearchInputs& inputs, const BriefSubject& subject,
                          const std::optional<BriefRequest>& request = std::nullopt);

}  // namespace apo

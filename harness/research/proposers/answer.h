// harness/research/proposers/answer.h - reads what a proposer printed: one JSON object a line.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// A candidate is a source, a file that holds one, or a known variant with settings.
struct ProposedCandidate {
  int line = 0;           // of the answer, from 1
  std::string fault;      // why the line is refused: of one that cannot be read the names and the author are here
  std::string source;     // its text
  std::string file;       // the place of its text
  std::string extension;  // ".cpp", ".cu" or ".py"; "" where the source tells
  std::string function;   // of the source, which is called; see brought_file()
  std::vector<std::string> lines;  // of a metadata block, for the source as it is
  std::string variant;             // "family/name[NAME=VALUE,...]"
  std::string name;                // that the author gave it; may be empty
  std::string author;
  std::string parent;
  std::string idea;
  std::vector<std::string> techniques;
  std::optional<Prediction> prediction;
  std::string judge;  // the word of a preset; "" where nobody said it
  ProposalCost cost;
};

// Reads one line. Throws UserError where it holds no JSON object.
nlohmann::json json_object(const std::string& text);
// Reads the candidate of one line, whoever sent it; `keys` are those that its sender may use. Throws UserError.
ProposedCandidate candidate_of(const nlohmann::json& line, const std::vector<std::string>& keys);

struct ProposerAnswer {
  std::vector<ProposedCandidate> candidates;  // in order; those with a fault, too
  int unlisted = 0;                           // more lines with a fault than are listed
  int text_lines = 0;                         // that hold no JSON object: passed over
  int first_text_line = 0;                    // from 1
  ProposalCost cost;                          // of lines that hold nothing else
};

// Reads the first `most` candidates; those that follow have a fault. Lines that begin no JSON object are passed over,
// so that a model may think aloud. Never throws for what it reads.
ProposerAnswer read_answer(std::string_view output, std::size_t most);

}  // namespace apo

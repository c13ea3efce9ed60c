// harness/loop/proposers/proposals.cpp - names, compares and adds proposed sources; a mistake is the proposal's.
#include "harness/loop/proposers/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/core/bare_source.h"
#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata_block.h"
#include "journal/facts/variants.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 40;

fs::path waiting_folder(const Workspace& workspace, const std::string& family) {
  return workspace.paths().folder / "proposals" / family;
}

std::string bare_text(const Variant& variant) {
  std::string text = bare_source(variant.source, source_extension(variant) == ".py");
  for (const SourceFile& header : variant.headers) {
    text += "\n" + header.text;
  }
  return text;
}

// By their text without comments and blanks: what the catalogue has, and what was judged and is not kept.
std::map<std::string, std::string> known_texts(const ProposalPlace& place) {
  std::map<std::string, std::string> known;
  for (const Variant& variant : variants_of(place.journal, place.family.name)) {
    known.try_emplace(bare_text(variant), variant.id());
  }
  for (const Variant* variant : place.workspace.catalogue().of_family(place.family.name)) {
    known.insert_or_assign(bare_text(*variant), variant->id());
  }
  return known;
}

// A model's text may name any file of this machine, or a pipe that never ends; only a source gets into the journal.
std::string text_of(const ProposedCandidate& candidate) {
  if (candidate.file.empty()) {
    return candidate.source;
  }
  std::error_code error;  // what cannot be looked at is no regular file
  if (is_absent(candidate.file)) {
    throw UserError(fmt::format("there is no file '{}'", candidate.file), "name one by its absolute path");
  }
  if (!is_source_extension(fs::path(candidate.file).extension().string()) ||
      !fs::is_regular_file(candidate.file, error)) {
    throw UserError(fmt::format("'{}' is no source file", candidate.file), "its name ends with .cpp, .cu or .py");
  }
  return candidate_text(candidate.file);
}

// Where neither the author nor the file's name says it: what only a source of that language has.
std::string extension_of(const ProposedCandidate& candidate, const std::string& text) {
  if (!candidate.extension.empty()) {
    return candidate.extension;
  }
  const std::string of_file = fs::path(candidate.file).extension().string();
  return of_file.empty() ? guessed_extension(text) : of_file;
}

// What the source's own block calls it.
std::string name_in_block(const std::string& text) {
  const std::vector<BlockLine> block = read_block(text, "the proposed source");
  const auto line = std::ranges::find(block, "variant", &BlockLine::key);
  return line == block.end() ? "" : fs::path(line->value).filename().string();
}

// "line 3, 'unrolled': ", by which its author knows a candidate that got no name of ours.
std::string place_in_answer(const ProposedCandidate& candidate) {
  const std::string& name = !candidate.name.empty()      ? candidate.name
                            : !candidate.variant.empty() ? candidate.variant
                                                         : candidate.file;
  return fmt::format("line {}{}: ", candidate.line, name.empty() ? "" : ", '" + name + "'");
}

// A word for a file: what the author calls it, and a part of its hash, so that two texts are never one variant.
std::string file_name(const ProposedCandidate& candidate, const std::string& text) {
  const std::string& said = candidate.name.empty() ? candidate.file : candidate.name;
  std::string name = said.empty() ? name_in_block(text) : fs::path(said).stem().string();
  std::ranges::replace_if(
      name, [](char c) { return !is_identifier(std::string("_") + c); }, '_');
  name = is_identifier(name) ? name.substr(0, kLongestName) : "proposal";
  return name + "_" + sha256(text).substr(0, 8);
}

// Else the command's program; of `python3 mutate.py` the script.
std::string author_of(const ProposedCandidate& candidate, const std::string& command) {
  if (!candidate.author.empty()) {
    return candidate.author;
  }
  constexpr std::array kInterpreters = {"python3", "python", "bash", "sh", "node", "npx", "env", "exec"};
  const std::vector<std::string> words = split_words(command);
  const auto program = std::ranges::find_if(words, [&](const std::string& word) {
    return !word.starts_with('-') && std::ranges::find(kInterpreters, fs::path(word).filename()) == kInterpreters.end();
  });
  return one_line(program == words.end() ? command : fs::path(*program).filename().string());
}

void check_place(const ProposalPlace& place, const Variant& variant) {
  if (variant.family != place.family.name) {
    throw UserError(
        fmt::format("{} is of family {}, and this campaign is of {}", variant.id(), variant.family, place.family.name));
  }
  if (variant.target != place.workspace.target()) {
    throw UserError(fmt::format("{} is for {}, and this campaign is on {}", variant.id(), to_string(variant.target),
                                to_string(place.workspace.target())));
  }
}

class Taking {
 public:
  Taking(const ProposalPlace& place, std::vector<ProposedSettings>& settings)
      : place_(place), settings_(settings), known_(known_texts(place)) {}

  Proposal take(const ProposedCandidate& candidate, const std::string& command) {
    Proposal proposal{.author = author_of(candidate, command),
                      .configuration = {},
                      .idea = candidate.idea,
                      .prediction = candidate.prediction,
                      .cost = candidate.cost};
    try {
      if (!candidate.fault.empty()) {
        throw UserError(candidate.fault);
      }
      candidate.variant.empty() ? take_source(candidate, proposal) : take_settings(candidate, proposal);
    } catch (const UserError& error) {
      proposal.state = ProposalState::refused;
      proposal.why = with_hint(error);
    }
    if (proposal.state != ProposalState::taken) {
      proposal.why = one_line(place_in_answer(candidate) + proposal.why);
    }
    return proposal;
  }

 private:
  void take_source(const ProposedCandidate& candidate, Proposal& proposal) {
    const std::string text = text_of(candidate);
    const std::string extension = extension_of(candidate, text);
    const std::string name = file_name(candidate, text);
    if (place_.family.name + "/" + name == place_.incumbent.variant) {  // by the hash of its text
      proposal.state = ProposalState::repeated;
      proposal.configuration = place_.incumbent;
      proposal.why = "it is the incumbent";
      return;
    }
    const fs::path path = waiting_folder(place_.workspace, place_.family.name) / (name + extension);
    write_file_atomically(path, with_metadata(candidate, text, extension == ".py",
                                              place_.workspace.catalogue().get(place_.incumbent.variant)));
    try {
      add(path, proposal);
    } catch (const UserError&) {
      fs::remove(path);
      throw;
    }
    if (proposal.state != ProposalState::taken) {
      fs::remove(path);
    }
  }

  void add(const fs::path& path, Proposal& proposal) {
    const Variant variant = place_.workspace.catalogue().read(path, place_.family.name);
    check_place(place_, variant);
    proposal.idea = proposal.idea.empty() ? variant.idea : proposal.idea;
    proposal.prediction = proposal.prediction ? proposal.prediction : variant.prediction;
    const auto [known, is_new] = known_.try_emplace(bare_text(variant), variant.id());
    if (!is_new) {
      proposal.state = ProposalState::repeated;
      proposal.configuration = {known->second, {}};
      proposal.why = fmt::format("the same as {}, but for comments and blanks", known->second);
      return;
    }
    place_.workspace.catalogue().add(path, place_.family.name);
    proposal.configuration = {variant.id(), default_settings(variant)};
    settings_.push_back({.configuration = proposal.configuration, .prediction = {}});
  }

  void take_settings(const ProposedCandidate& candidate, Proposal& proposal) {
    proposal.configuration = place_.workspace.catalogue().configuration(candidate.variant);
    check_place(place_, place_.workspace.catalogue().get(proposal.configuration.variant));
    const bool repeated =
        proposal.configuration == place_.incumbent || std::ranges::any_of(settings_, [&](const ProposedSettings& one) {
          return one.configuration == proposal.configuration;
        });
    if (repeated) {
      proposal.state = ProposalState::repeated;
      proposal.why = proposal.configuration == place_.incumbent ? "it is the incumbent" : "it was proposed before";
      return;
    }
    settings_.push_back({.configuration = proposal.configuration, .prediction = candidate.prediction});
  }

  const ProposalPlace& place_;
  std::vector<ProposedSettings>& settings_;
  std::map<std::string, std::string> known_;  // text -> variant
};

// A text that is meant for another operation is not ours to rename.
void check_named_family(const BlockLine& variant, const std::string& path, const std::string& family) {
  const std::string named = fs::path(variant.value).parent_path().string();
  if (!named.empty() && named != family) {
    block_error(path, variant.number,
                fmt::format("'{}' is of family {}, and this campaign is of {}", variant.value, named, family),
                fmt::format("write '{}/NAME', or leave the apo:variant line out", family));
  }
}

using SaidLines = std::vector<std::pair<std::string, std::string>>;  // key and value

// Lines of the source's own block that do not hold for the candidate: its name, which is ours to give, what was said
// beside it again, and what is the incumbent's, from whose text an author begins. A parent that nobody names is the
// incumbent; a technique that the source has already is not said twice.
std::set<int> dropped_lines(const ProposedCandidate& candidate, const std::string& source, SaidLines& said,
                            const Variant& incumbent) {
  const std::vector<BlockLine> copied = read_block(incumbent.source, incumbent.path);
  std::set<int> dropped;
  bool has_parent = !candidate.parent.empty();
  const std::string path = candidate.file.empty() ? "the proposed source" : candidate.file;
  for (const BlockLine& line : read_block(source, path)) {
    const bool describes = line.key == "idea" || line.key == "parent" || line.key == "predict";
    const bool said_beside =
        std::ranges::any_of(said, [&](const auto& one) { return one.first == line.key && !one.second.empty(); });
    const bool is_copy = std::ranges::any_of(
        copied, [&](const BlockLine& other) { return other.key == line.key && other.value == line.value; });
    if (line.key == "variant") {
      check_named_family(line, path, incumbent.family);
    }
    if (line.key == "variant" || (describes && (said_beside || is_copy))) {
      dropped.insert(line.number);
    } else if (line.key == "technique") {
      std::erase(said, std::pair(line.key, line.value));
    }
    has_parent = has_parent || (line.key == "parent" && !dropped.contains(line.number));
  }
  if (!has_parent) {
    said.emplace_back("parent", incumbent.id());
  }
  return dropped;
}

}  // namespace

std::string with_metadata(const ProposedCandidate& candidate, const std::string& source, bool python,
                          const Variant& incumbent) {
  const std::string sign = python ? "# apo:" : "// apo:";
  SaidLines block;
  for (const std::string& technique : candidate.techniques) {
    block.emplace_back("technique", one_line(technique));
  }
  block.emplace_back("idea", candidate.idea);
  block.emplace_back("parent", candidate.parent);
  if (candidate.prediction) {
    const Prediction& band = *candidate.prediction;
    block.emplace_back("predict", fmt::format("{}x..{}x over parent: {}", band.low, band.high,
                                              band.because.empty() ? "the author gives no reason" : band.because));
  }
  const std::set<int> dropped = dropped_lines(candidate, source, block, incumbent);
  std::string text;
  for (const auto& [key, value] : block) {
    text += value.empty() ? "" : sign + key + " " + value + "\n";
  }
  int number = 0;
  for (const std::string& line : split(source, '\n')) {
    text += dropped.contains(++number) ? "" : line + "\n";
  }
  text.pop_back();
  return text;
}

void take_proposals(const ProposalPlace& place, std::vector<AnsweredCall>& answered,
                    std::vector<ProposedSettings>& settings) {
  Taking taking(place, settings);
  for (AnsweredCall& one : answered) {
    for (const ProposedCandidate& candidate : one.answer.candidates) {
      one.call.proposals.push_back(taking.take(candidate, one.call.command));
    }
  }
}

void take_waiting_proposals(Workspace& workspace, const Family& family, Observer& observer) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(waiting_folder(workspace, family.name), error)) {
    try {
      workspace.catalogue().add(entry.path(), family.name);
    } catch (const UserError& refused) {  // judged by another campaign meanwhile, or of a parent that is gone
      observer.say(one_line(
          fmt::format("the proposal '{}' waits and is left out: {}", entry.path().string(), with_hint(refused))));
    }
  }
}

bool is_waiting_proposal(const Workspace& workspace, const Variant& variant) {
  return fs::path(variant.path).parent_path() ==
         fs::absolute(waiting_folder(workspace, variant.family)).lexically_normal();
}

void settle_proposal(Workspace& workspace, const Experiment& experiment) {
  const Variant variant = workspace.catalogue().get(experiment.candidate.variant);
  if (!is_waiting_proposal(workspace, variant) || experiment.outcome == Outcome::unstable_clock) {
    return;  // settings of a known variant, or judged before; or the machine could not judge it
  }
  if (experiment.outcome == Outcome::valid && guards_off().empty()) {
    workspace.catalogue().register_variant(variant, workspace.paths().variants);
  }
  std::error_code ignored;  // a file that stays is judged again
  fs::remove(variant.path, ignored);
}

}  // namespace apo

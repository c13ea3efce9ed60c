// harness/cli/look/replayed/strategy_text.cpp - replays every strategy on every space.
#include "harness/cli/look/replayed/strategy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/console.h"
#include "harness/core/text.h"
#include "harness/loop/space/replayed_space.h"
#include "harness/research/search/strategies.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSeeds = 100;

struct ScoredStrategy {
  std::string name;
  SearchScore score;
};

struct ScoredSpace {
  std::string file;
  std::size_t configurations = 0;
  std::size_t invalid = 0;
  std::size_t good = 0;
  std::vector<ScoredStrategy> strategies;
};

ScoredSpace score_space(const std::string& file, const std::vector<const SearchStrategy*>& strategies) {
  const RecordedSpace recorded = replayed_space(read_t4(file), file);
  const auto invalid = std::ranges::count_if(recorded.costs, [](double cost) { return std::isinf(cost); });
  ScoredSpace scored{.file = file,
                     .configurations = recorded.space.size(),
                     .invalid = static_cast<std::size_t>(invalid),
                     .good = count_good(recorded)};
  for (const SearchStrategy* strategy : strategies) {
    scored.strategies.push_back(
        {.name = std::string(strategy->name()), .score = score_search(recorded, *strategy, kSeeds)});
  }
  return scored;
}

std::string text_of(const ScoredSpace& space) {
  std::vector<std::vector<std::string>> rows = {{"strategy", "lower quartile", "median", "upper quartile"}};
  for (const ScoredStrategy& one : space.strategies) {
    rows.push_back(
        {one.name, format_g(one.score.lower_quartile), format_g(one.score.median), format_g(one.score.upper_quartile)});
  }
  return fmt::format(
      "{}: {} configurations, {} invalid; {} within 5 % of the best\nevaluations until the first of these, over {} "
      "seeds\n{}",
      space.file, space.configurations, space.invalid, space.good, kSeeds, format_table(rows));
}

Json to_document(const ScoredSpace& space) {
  Json strategies = Json::array();
  for (const ScoredStrategy& one : space.strategies) {
    strategies.push_back({{"strategy", one.name},
                          {"lower_quartile", one.score.lower_quartile},
                          {"median", one.score.median},
                          {"upper_quartile", one.score.upper_quartile}});
  }
  return {{"space", space.file},      {"configurations", space.configurations},
          {"invalid", space.invalid}, {"within_5_percent", space.good},
          {"seeds", kSeeds},          {"strategies", strategies}};
}

}  // namespace

int replay_spaces(const std::vector<std::string>& files, const std::string& strategy, const Globals& globals) {
  const std::vector<const SearchStrategy*> strategies =
      strategy.empty() ? search_strategies() : std::vector<const SearchStrategy*>{&search_strategy(strategy)};
  std::string text;
  Json documents = Json::array();
  for (const std::string& file : files) {
    const ScoredSpace scored = score_space(file, strategies);
    text += (text.empty() ? "" : "\n") + text_of(scored);
    documents.push_back(to_document(scored));
  }
  if (globals.json) {
    print_json({{"document", "replayed spaces"}, {"spaces", documents}});
  } else {
    print(text);
  }
  return kDone;
}

}  // namespace apo

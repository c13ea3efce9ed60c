// harness/cli/improve/run_list.cpp - each campaign is `apo run --campaign FILE` with the options that were typed.
#include "harness/cli/improve/run_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/app.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/resume.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

// A campaign that its application refuses has ended too.
bool has_ended(int exit_code) {
  return exit_code == kDone || exit_code == kGateFailed;
}

bool has_ended(const ListedEnd& end) {
  return end.exit_code && has_ended(*end.exit_code);
}

Words words_of(const ListRequest& request, const Globals& globals, const std::string& file, const Words& workers) {
  Words options = {"--workers", "--slurm", "--campaign"};
  if (!workers.empty()) {
    options.emplace_back("--target");
  }
  Words words = without_options(globals.words, options);
  std::erase_if(words, [&](const std::string& word) {
    return std::ranges::any_of(request.campaigns, [&](const ListedCampaign& one) { return one.file == word; });
  });
  words.front() = own_program();
  words.insert(words.end(), {"--campaign", file});
  for (const std::string& worker : workers) {
    words.insert(words.end(), {"--workers", worker});
  }
  if (!workers.empty()) {
    words.insert(words.end(), {"--target", std::string(to_string(request.target))});
  }
  return words;
}

std::string failure_of(const ListedEnd& end) {
  return end.exit_code ? fmt::format("exit code {}: {}", *end.exit_code, end.why) : end.why;
}

std::string end_text(const ListedCampaign& campaign, const ListedEnd& end) {
  if (end.before) {
    return fmt::format("== {} has ended before\n", campaign.file);
  }
  return has_ended(end) ? fmt::format("== {}\n{}", campaign.file, end.output)
                        : fmt::format("== {} FAILED: {}\n", campaign.file, failure_of(end));
}

Json end_document(const ListedCampaign& campaign, const ListedEnd& end) {
  Json document = {{"file", campaign.file},
                   {"ended", has_ended(end)},
                   {"before", end.before},
                   {"exit_code", end.exit_code ? Json(*end.exit_code) : Json(nullptr)},
                   {"failure", has_ended(end) ? Json(nullptr) : Json(failure_of(end))}};
  document["summary"] = Json::parse(end.output, nullptr, false);
  if (document["summary"].is_discarded()) {
    document["summary"] = nullptr;
  }
  return document;
}

void refuse_repetitions(const std::vector<ListedCampaign>& campaigns) {
  std::set<std::string> files;
  for (const ListedCampaign& one : campaigns) {
    if (!files.insert(one.file).second) {
      throw UserError("'" + one.file + "' is given twice", "a second campaign of it: the same command once more");
    }
  }
}

ListProgress progress_of(const ListRequest& request, const Globals& globals) {
  Words files;
  for (const ListedCampaign& one : request.campaigns) {
    files.push_back(one.file);
  }
  ListProgress progress(make_paths(globals.journal).folder / "lists", files);
  if (request.begin_anew) {
    progress.forget();
  }
  return progress;
}

int exit_code_of(const std::vector<ListedEnd>& ends) {
  if (!std::ranges::all_of(ends, [](const ListedEnd& end) { return has_ended(end); })) {
    return kEnvironmentTrouble;
  }
  return std::ranges::any_of(ends, [](const ListedEnd& end) { return end.exit_code == kGateFailed; }) ? kGateFailed
                                                                                                      : kDone;
}

}  // namespace

int run_list(const ListRequest& request, const Globals& globals, Observer& observer) {
  refuse_repetitions(request.campaigns);
  ListProgress progress = progress_of(request, globals);
  std::vector<ListedEnd> ends;
  Json documents = Json::array();
  run_campaign_list({.campaigns = request.campaigns,
                     .workers = request.workers,
                     .fewest_workers = static_cast<std::size_t>(request.replicate),
                     .words = [&](const std::string& file,
                                  const Words& workers) { return words_of(request, globals, file, workers); },
                     .has_ended = [](int exit_code) { return has_ended(exit_code); },
                     .on_end =
                         [&](const ListedCampaign& campaign, const ListedEnd& end) {
                           ends.push_back(end);
                           documents.push_back(end_document(campaign, end));
                           if (!globals.json) {
                             print(end_text(campaign, end));
                           }
                         }},
                    progress, observer);
  const auto ended = std::ranges::count_if(ends, [](const ListedEnd& end) { return has_ended(end); });
  if (ended == std::ssize(ends)) {
    progress.forget();
  }
  if (globals.json) {
    print_json({{"campaigns", documents}});
  } else {
    print(fmt::format("{} of {} campaigns have ended{}\n", ended, ends.size(),
                      ended == std::ssize(ends) ? "" : "; the same command goes on with the others"));
  }
  return exit_code_of(ends);
}

}  // namespace apo

// tests/journal/fire_program.cpp - `journal_fire KILLS`: kills a writer of campaigns that often; experiments/kills.sh.
#include <cstdio>
#include <memory>

#include "harness/core/text.h"
#include "tests/journal/fire.h"
#include "tests/journal/samples.h"

int main(int count, char** words) {
  using namespace apo::test;
  constexpr int kKillsAJournal = 25;  // then a new one, so that its creation is under fire too
  constexpr int kLongestUs = 400'000;
  const auto kills = count == 2 ? apo::parse_int(words[1]) : std::nullopt;
  if (!kills || *kills < 1) {
    std::fprintf(stderr, "usage: journal_fire KILLS\n");
    return 1;
  }
  std::random_device device;
  std::mt19937 random(device());
  FireCounts counts;
  int journals = 0;
  while (counts.kills < *kills) {
    const Scratch scratch;
    std::vector<std::int64_t> finished;
    ++journals;
    for (int kill = 0; kill < kKillsAJournal && counts.kills < *kills; ++kill) {
      fire_once(scratch.path, random, kLongestUs, finished, counts);
    }
  }
  for (const std::string& finding : counts.findings) {
    std::fprintf(stderr, "%s\n", finding.c_str());
  }
  std::printf("| %d | %d | %lld | %d | %d | %d | %zu |\n", counts.kills, journals,
              static_cast<long long>(counts.finished), counts.before_the_file, counts.in_an_experiment,
              counts.in_an_iteration, counts.findings.size());
  return counts.findings.empty() ? 0 : 3;
}

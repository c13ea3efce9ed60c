// tests/loop/export/dispatch_fixture.h - journals with accepted E88 configurations, and programs that include what is
// exported.
#pragma once

#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/loop/export/dispatch.h"
#include "journal/journal.h"

namespace apo::test {

inline constexpr const char* kHostile =
    "\"; } */ // \\\n#error hostile\n\xff%s?"
    "?/";

// Two configurations that could be the answers of one class.
inline constexpr const char* kBest = "e88_backward/cuda_best[SEQUENCES=11]";
inline constexpr const char* kTiles = "e88_backward/cuda_lane_tiling[SEQUENCES=7]";

Machine a_gpu(const std::string& id, const std::string& model = "NVIDIA H200");
const Catalogue& shipped_variants();

// A journal in a folder of its own, with a campaign for each accept.
class DispatchJournal {
 public:
  struct Accept {
    std::string machine = "GPU-1";  // "host": this computer, "another host": one like it
    std::string candidate = "e88_backward/cuda_best";
    std::string baseline = "e88_backward/cuda_simple";
    std::string workload_class = "n32";
    std::vector<std::string> workloads = {"b8_t128_h83_n32"};
    Verdict verdict = Verdict::accepted;
    double effect = 0.5;
    std::string driver = "580.159.04 (CUDA 13.0)";
    std::string finished_at = "2026-02-03T04:05:06Z";
    std::string model = "NVIDIA H200";
  };
  DispatchJournal();
  std::int64_t campaign(const Accept& accept);                       // begun only
  std::int64_t accept(const Accept& accept, std::int64_t campaign);  // the experiment
  std::int64_t accept(const Accept& one) { return accept(one, campaign(one)); }
  // The judgement again, on the machine of `accept` and with its verdict; the number of its experiment.
  std::int64_t again(std::int64_t original, const Accept& accept);
  // The application of the campaign; the number of its comparison.
  std::int64_t judge_by_application(std::int64_t campaign, Verdict verdict);
  void certify(std::int64_t campaign, const Accept& accept, bool alarm);
  Dispatch load(const DispatchRequest& request = {}) { return load_dispatch(journal_, shipped_variants(), request); }
  Journal& journal() { return journal_; }

 private:
  std::int64_t finish(const Experiment& experiment);
  TemporaryFolder folder_{"apo-dispatch-test"};
  Journal journal_;
};

// Writes the headers of the tables, compiles `body` as the body of main() against them with g++ as a strict C++17 user
// would, runs it and returns what it printed; a test failure when it does not compile or ends badly.
std::string run_with_headers(const Dispatch& dispatch, const std::string& body, const std::string& functions = "",
                             const std::vector<std::string>& flags = {});

}  // namespace apo::test

// tests/loop/fleet/campaign_list_test.cpp - campaigns that are shell scripts, and who gets which workers.
#include "harness/loop/fleet/campaign_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using Strings = std::vector<std::string>;

class Listener : public SilentObserver {
 public:
  void say(const std::string& line) override { lines.push_back(line); }
  Strings lines;
};

class ListOfCampaigns : public ::testing::Test {
 protected:
  // A campaign whose process is this script; $W has its workers.
  void add(const std::string& name, const std::string& script, const std::string& key = "") {
    const std::string file = path(name);
    write_file_atomically(file, name);
    scripts_[file] = script;
    campaigns_.push_back({.file = file, .key = key.empty() ? name : key});
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void run(const Strings& workers = {}, std::size_t fewest = 1) {
    Strings files;
    for (const ListedCampaign& one : campaigns_) {
      files.push_back(one.file);
    }
    ListProgress progress(folder_.path() / "lists", files);
    order_.clear();
    ends_.clear();
    run_campaign_list(
        {.campaigns = campaigns_,
         .workers = {.commands = workers, .devices = std::vector<LocalDevice>(workers.size()), .cpus = {}},
         .fewest_workers = fewest,
         .words =
             [&](const std::string& file, const Strings& own) {
               return Strings{"/bin/sh", "-c",
                              "cd " + folder_.path().string() + "; W='" + join(own, " ") + "'; " + scripts_.at(file)};
             },
         .has_ended = [](int exit_code) { return exit_code == 0; },
         .on_end =
             [&](const ListedCampaign& campaign, const ListedEnd& end) {
               const std::string name = std::filesystem::path(campaign.file).filename();
               order_.push_back(name);
               ends_[name] = end;
             }},
        progress, listener_);
  }

  TemporaryFolder folder_{"apo-list-test"};
  std::vector<ListedCampaign> campaigns_;
  std::map<std::string, std::string> scripts_;
  Listener listener_;
  Strings order_;
  std::map<std::string, ListedEnd> ends_;
};

// Until another one has done that; a failure where it never does.
std::string until(const std::string& file) {
  return "i=0; while [ ! -e " + file + " ]; do i=$((i+1)); [ $i -lt 300 ] || exit 9; sleep 0.1; done; ";
}

TEST_F(ListOfCampaigns, WithoutWorkersFollowOneAnother) {
  add("a", "[ ! -e b_ran ] && touch a_ran; echo of a");
  add("b", "[ -e a_ran ] && touch b_ran");
  run();
  EXPECT_EQ(order_, (Strings{"a", "b"}));
  EXPECT_EQ(ends_["a"].exit_code, 0);
  EXPECT_EQ(ends_["b"].exit_code, 0);
  EXPECT_EQ(ends_["a"].output, "of a\n");
}

TEST_F(ListOfCampaigns, ShareTheWorkersAtTheSameTime) {
  add("a", "echo $W; touch a_runs; " + until("b_runs"));
  add("b", "echo $W; touch b_runs; " + until("a_runs"));
  run({"w0", "w1", "w2"});
  EXPECT_EQ(ends_["a"].exit_code, 0);
  EXPECT_EQ(ends_["b"].exit_code, 0);
  EXPECT_EQ(ends_["a"].output, "w0\n");
  EXPECT_EQ(ends_["b"].output, "w1 w2\n");
}

TEST_F(ListOfCampaigns, GiveTheirWorkersToTheNext) {
  add("a", "echo $W; " + until("c_ran"));
  add("b", "echo $W");
  add("c", "echo $W; touch c_ran");
  run({"w0", "w1"});
  EXPECT_EQ(order_, (Strings{"b", "c", "a"}));
  EXPECT_EQ(ends_["c"].output, "w1\n");
}

TEST_F(ListOfCampaigns, WaitForAsManyWorkersAsHaveToAgree) {
  add("a", "echo $W; [ ! -e b_ran ]");
  add("b", "echo $W; touch b_ran");
  run({"w0", "w1", "w2"}, 2);
  EXPECT_EQ(ends_["a"].exit_code, 0);
  EXPECT_EQ(ends_["a"].output, "w0 w1\n");
  EXPECT_EQ(ends_["b"].output, "w0 w1 w2\n");
}

TEST_F(ListOfCampaigns, OneThatFailsEndsNoOtherAndTheSameListGoesOnWithIt) {
  add("a", "echo apo: no device >&2; echo a hint >&2; touch a_ran; exit 2");
  add("b", until("a_ran"));
  run({"w0", "w1"});
  EXPECT_EQ(ends_["a"].exit_code, 2);
  EXPECT_EQ(ends_["a"].why, "no device");
  EXPECT_EQ(ends_["b"].exit_code, 0);
  EXPECT_TRUE(std::ranges::count(listener_.lines, path("a") + ": apo: no device") == 1);
  scripts_[path("a")] = "exit 0";
  scripts_[path("b")] = "exit 3";
  run({"w0", "w1"});
  EXPECT_EQ(ends_["a"].exit_code, 0);
  EXPECT_TRUE(ends_["b"].before) << "it is not run again";
  EXPECT_EQ(ends_["b"].exit_code, 0);
}

TEST_F(ListOfCampaigns, OneWhoseProcessIsKilledHasFailed) {
  add("a", "kill -9 $$");
  run({"w0"});
  EXPECT_EQ(ends_["a"].exit_code, std::nullopt);
  EXPECT_NE(ends_["a"].why.find("SIGKILL"), std::string::npos) << ends_["a"].why;
}

TEST_F(ListOfCampaigns, AFileThatHasChangedIsAnotherCampaign) {
  add("a", "exit 0");
  run();
  write_file_atomically(path("a"), "changed");
  run();
  EXPECT_FALSE(ends_["a"].before);
}

TEST_F(ListOfCampaigns, ThatShareAnIncumbentFollowOneAnotherAndNoneFollowsAFailedOne) {
  add("a", "[ ! -e b_ran ] && touch a_ran", "copy");
  add("b", "[ -e a_ran ] && touch b_ran && exit 5", "copy");
  add("c", "touch c_ran", "copy");
  add("d", "exit 0");
  run({"w0", "w1", "w2", "w3"});
  EXPECT_EQ(ends_["a"].exit_code, 0);
  EXPECT_EQ(ends_["b"].exit_code, 5);
  EXPECT_EQ(ends_["c"].exit_code, std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(path("c_ran")));
  EXPECT_EQ(ends_["d"].exit_code, 0);
}

TEST_F(ListOfCampaigns, TheDriverOfLocalWorkersIsOnTheCpusOfItsFirst) {
  const std::vector<int> cpus = usable_cpus();
  const std::string file = path("a");
  write_file_atomically(file, "a");
  ListProgress progress(folder_.path() / "lists", {file});
  std::string output;
  run_campaign_list({.campaigns = {{.file = file, .key = ""}},
                     .workers = {.commands = {"w"}, .devices = {{.cpus = {cpus.back()}, .gpu = "GPU-5"}}, .cpus = {}},
                     .words =
                         [](const std::string&, const Strings&) {
                           return Strings{"/bin/sh", "-c",
                                          "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status; echo "
                                          "$CUDA_VISIBLE_DEVICES"};
                         },
                     .has_ended = [](int) { return true; },
                     .on_end = [&](const ListedCampaign&, const ListedEnd& end) { output = end.output; }},
                    progress, listener_);
  EXPECT_EQ(output, std::to_string(cpus.back()) + "\nGPU-5\n");
  EXPECT_EQ(usable_cpus(), cpus);
}

TEST(ListProgress, ThatCannotBeReadNamesItsFile) {
  const TemporaryFolder folder("apo-list-test");
  const std::string file = (folder.path() / "a").string();
  write_file_atomically(file, "a");
  ListProgress(folder.path() / "lists", {file}).end(file, 0);
  const auto lists = std::filesystem::directory_iterator(folder.path() / "lists");
  write_file_atomically(lists->path(), "[]");
  EXPECT_THROW(ListProgress(folder.path() / "lists", {file}), UserError);
}

}  // namespace
}  // namespace apo

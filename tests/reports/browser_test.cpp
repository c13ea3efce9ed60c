// tests/reports/browser_test.cpp - the HTML report in a real browser: folding, sorting, anchors, colours, width.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "reports/render.h"
#include "tests/reports/fixture.h"

namespace apo::report {
namespace {

using Json = nlohmann::json;

// Shows PAGE in a frame as wide as a telephone and in one as wide as a desk, uses both, and leaves what it saw in
// #seen.
constexpr const char* kDriver = R"(<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><script>
const pause = () => new Promise(done => setTimeout(done, 100));
const column = (table, index) => Array.from(table.tBodies[0].rows, row => row.cells[index].textContent);
async function use(width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:800px;border:0`;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = "report.html";
  document.body.append(frame);
  await loaded;
  const page = frame.contentDocument, seen = {};
  const ids = Array.from(page.querySelectorAll("[id]"), one => one.id);
  seen.repeated_ids = ids.filter((id, at) => ids.indexOf(id) !== at);
  const links = Array.from(page.querySelectorAll("a"), one => one.getAttribute("href"));
  seen.links = links.length;
  seen.dead_links = links.filter(link => !link.startsWith("#") || !ids.includes(link.slice(1)));
  seen.background = frame.contentWindow.getComputedStyle(page.body).backgroundColor;
  seen.text = frame.contentWindow.getComputedStyle(page.body).color;
  const fold = page.querySelector("details");
  seen.closed_at_first = page.querySelectorAll("details[open]").length === 0;
  fold.querySelector("summary").click();
  seen.opens = fold.open && fold.querySelector("div").offsetHeight > 0;
  fold.querySelector("summary").click();
  seen.closes = !fold.open;
  page.querySelector("td a[href='#experiment-3']").click();
  await pause();
  seen.link_opens_its_fold = page.getElementById("experiment-3").closest("details").open;
  const table = page.querySelector("table.sortable"), headings = Array.from(table.tHead.rows[0].cells);
  const speedup = headings.findIndex(one => one.textContent === "measured speed-up");
  headings[speedup].click();
  seen.ascending = column(table, speedup);
  headings[speedup].dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
  seen.descending = column(table, speedup);
  seen.aria_sort = headings[speedup].getAttribute("aria-sort");
  for (const one of page.querySelectorAll("details")) one.open = true;
  seen.overflow = page.documentElement.scrollWidth - page.documentElement.clientWidth;
  seen.width = page.documentElement.clientWidth;
  frame.remove();
  return seen;
}
addEventListener("load", async () => {
  const seen = document.createElement("pre");
  try { seen.textContent = JSON.stringify({narrow: await use(400), wide: await use(1400)}); }
  catch (error) { seen.textContent = JSON.stringify({error: String(error)}); }
  document.body.replaceChildren(seen);
  console.log("the driver is done");
});
</script></body></html>)";

struct Visit {
  Json seen;
  std::vector<std::string> console;
};

enum class Scheme : int { dark = 0, light = 1 };  // as Chromium numbers them

Visit visit(const std::string& chromium, const std::string& page, Scheme scheme) {
  const TemporaryFolder folder("apo-browser");
  write_file_atomically(folder.path() / "driver.html", kDriver);
  write_file_atomically(folder.path() / "report.html", page);
  const ProcessResult result = run_process(
      {chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
       "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
       "--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=20000",
       "--window-size=1500,900", "--user-data-dir=" + (folder.path() / "profile").string(),
       fmt::format("--blink-settings=preferredColorScheme={}", static_cast<int>(scheme)), "--dump-dom",
       "file://" + (folder.path() / "driver.html").string()},
      {.timeout_s = 1000});
  EXPECT_TRUE(result.ok()) << result.error;
  Visit visit;
  for (const std::string& line : split(result.error, '\n')) {
    if (line.find(":CONSOLE") != std::string::npos) {
      visit.console.push_back(line);
    }
  }
  const std::size_t start = result.output.find("<pre>") + 5;
  visit.seen = Json::parse(result.output.substr(start, result.output.find("</pre>") - start), nullptr, false);
  return visit;
}

std::vector<double> numbers_of(const Json& column) {
  std::vector<double> numbers;
  for (const std::string text : column) {
    numbers.push_back(text == "not measured" ? kNotMeasured : std::stod(text));
  }
  return numbers;
}

void expect_sorted(const Json& seen) {
  std::vector<double> up = numbers_of(seen["ascending"]);
  std::vector<double> down = numbers_of(seen["descending"]);
  ASSERT_EQ(up.size(), 5U);
  EXPECT_TRUE(std::isnan(up.back()) && std::isnan(down.back())) << "what was not measured stands last";
  up.pop_back();
  down.pop_back();
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end())) << seen["ascending"];
  EXPECT_TRUE(std::is_sorted(down.rbegin(), down.rend())) << seen["descending"];
  EXPECT_EQ(seen["aria_sort"], "descending");
}

void expect_works(const Json& seen, int width) {
  SCOPED_TRACE(seen.dump());
  EXPECT_EQ(seen["repeated_ids"], Json::array());
  EXPECT_EQ(seen["dead_links"], Json::array());
  EXPECT_GT(seen["links"], 12);
  for (const char* fact : {"closed_at_first", "opens", "closes", "link_opens_its_fold"}) {
    EXPECT_EQ(seen[fact], true) << fact;
  }
  expect_sorted(seen);
  EXPECT_EQ(seen["overflow"], 0) << "the page scrolls sideways";
  EXPECT_LE(seen["width"], width);
}

TEST(ReportInABrowser, FoldsSortsFollowsLinksAndFitsInBothColourSchemes) {
  const auto chromium = find_program("chromium");
  if (!chromium) {
    GTEST_SKIP() << "no chromium: apt-get install chromium";
  }
  const std::string page = render_html(build_model(fixture::realistic_campaign()));
  const Visit light = visit(*chromium, page, Scheme::light);
  const Visit dark = visit(*chromium, page, Scheme::dark);
  for (const Visit* visit : {&light, &dark}) {
    ASSERT_TRUE(visit->seen.contains("narrow")) << visit->seen;
    expect_works(visit->seen["narrow"], 400);
    expect_works(visit->seen["wide"], 1400);
    ASSERT_EQ(visit->console.size(), 1U) << join(visit->console, "\n");
    EXPECT_NE(visit->console[0].find("the driver is done"), std::string::npos) << visit->console[0];
  }
  EXPECT_EQ(light.seen["wide"]["background"], "rgb(255, 255, 255)");
  EXPECT_EQ(light.seen["wide"]["text"], "rgb(31, 35, 40)");
  EXPECT_EQ(dark.seen["wide"]["background"], "rgb(13, 17, 23)");
  EXPECT_EQ(dark.seen["wide"]["text"], "rgb(230, 237, 243)");
}

}  // namespace
}  // namespace apo::report

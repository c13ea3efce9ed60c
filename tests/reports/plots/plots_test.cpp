// tests/reports/plots/plots_test.cpp - plots are well-formed, finite, and keep their labels inside and apart.
#include "reports/plots/plots.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/pattern.h"
#include "reports/plots/svg.h"
#include "tests/reports/fixture.h"
#include "tests/reports/xml_check.h"

namespace apo::report {
namespace {

struct Label {
  svg::Box box;
  std::string text;
};

std::vector<Label> labels_of(const std::string& plot) {
  static const Pattern element(
      "<text class=\"apo-(?:text|faint)( apo-bold)?\" x=\"([0-9.-]+)\" y=\"([0-9.-]+)\" "
      "text-anchor=\"(start|middle|end)\">"
      "(?:<title>[^<]*</title>)?([^<]*)</text>");
  std::vector<Label> labels;
  for (const PatternMatch& label : element.all(plot)) {
    const double font = label.has(1) ? 14 : svg::kFontPx;
    // Entities are longer in the file than on the screen, so this width is an upper bound.
    const double width = svg::text_width(label[5], font);
    const double x = std::stod(label[2]);
    const double y = std::stod(label[3]);
    const std::string anchor = label[4];
    const double left = anchor == "start" ? x : anchor == "end" ? x - width : x - width / 2;
    labels.push_back({{left, y - 10, left + width, y + 2}, label[5]});
  }
  return labels;
}

std::string label_problem(const std::string& plot) {
  static const Pattern size("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"");
  const auto found = size.search(plot);
  if (!found) {
    return "no viewBox";
  }
  const std::vector<Label> labels = labels_of(plot);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const svg::Box& a = labels[i].box;
    if (a.left < 0 || a.top < 0 || a.right > std::stod((*found)[1]) || a.bottom > std::stod((*found)[2])) {
      return "cut off: " + labels[i].text;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const svg::Box& b = labels[j].box;
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) {
        return "'" + labels[i].text + "' covers '" + labels[j].text + "'";
      }
    }
  }
  return labels.size() < 5 ? "hardly any label" : "";
}

TEST(Plots, AreWellFormedAndFiniteWhateverTheCampaign) {
  for (const CampaignRecords& records :
       {fixture::realistic_campaign(), fixture::long_campaign(1), fixture::long_campaign(3), fixture::long_campaign(30),
        fixture::hostile_campaign(), fixture::failed_campaign(), fixture::empty_campaign()}) {
    for (const NamedPlot& plot : draw_plots(build_model(records))) {
      EXPECT_EQ(xml_problem(plot.svg), "") << plot.name;
    }
  }
}

TEST(Plots, LabelsAreNotCutOffAndDoNotCollide) {
  for (const CampaignRecords& records : {fixture::realistic_campaign(), fixture::long_campaign(1),
                                         fixture::long_campaign(3), fixture::long_campaign(30)}) {
    const std::vector<NamedPlot> plots = draw_plots(build_model(records));
    EXPECT_EQ(plots.size(), 3U);
    for (const NamedPlot& plot : plots) {
      EXPECT_EQ(label_problem(plot.svg), "") << plot.name << " of " << records.experiments.size();
    }
  }
}

TEST(Plots, ThereIsNoneWhereNothingWasMeasured) {
  EXPECT_TRUE(draw_plots(build_model(fixture::empty_campaign())).empty());
  EXPECT_TRUE(draw_plots(build_model(fixture::failed_campaign())).empty());
}

TEST(Plots, NumbersOutOfAllBoundsLeaveThePlotFinite) {
  CampaignRecords records = fixture::realistic_campaign();
  for (Experiment& experiment : records.experiments) {
    experiment.prediction.high = 1e300;
    if (experiment.judgement) {
      experiment.judgement->lower = -INFINITY;
      experiment.judgement->upper = experiment.index == 1 ? 1e308 : kNotMeasured;
    }
  }
  for (IterationRecord& iteration : records.iterations) {
    for (Profile& profile : iteration.profiles) {
      profile.floor_ns = 1e-300;
      profile.roofs.push_back({"absurd", 1e300, "flop/s", 0, INFINITY, 1});
      profile.roofs.push_back({"absent", kNotMeasured, "byte/s", kNotMeasured, kNotMeasured, 0});
    }
  }
  for (const NamedPlot& plot : draw_plots(build_model(records))) {
    EXPECT_EQ(xml_problem(plot.svg), "") << plot.name;
  }
}

TEST(Plots, EveryRoofOfAllThreadsIsDrawnAndNamed) {
  const std::string plot = roofline_plot(build_model(fixture::realistic_campaign()));
  for (const std::string name : {"fp32_fma", "memory_copy", "llc_copy", "l2_copy", "special_tanh", "fp32_scalar_1"}) {
    EXPECT_TRUE(Pattern("<line class=\"apo-roof\"[^>]*><title>" + name + ": ").found_in(plot)) << name;
    EXPECT_TRUE(Pattern("</title>" + name + "( at this mix)?</text>").found_in(plot)) << name;
  }
  EXPECT_EQ(plot.find("memory_copy_1"), std::string::npos);
}

TEST(Plots, RoofsThatDoNotBoundFlopsOverTheBytesOfTensorsAreNotDrawn) {
  auto records = fixture::realistic_campaign();
  for (IterationRecord& iteration : records.iterations) {
    for (Profile& profile : iteration.profiles) {
      profile.roofs.push_back({"shared_bandwidth", 1e10, "byte/s", 1e10, 1e10, 20});
      profile.roofs.push_back({"special_latency", 1e-8, "s", 1e-8, 1e-8, 20});
      profile.roofs.push_back({"shuffle", 1e10, "op/s", 1e10, 1e10, 20});
    }
  }
  const std::string plot = roofline_plot(build_model(records));
  for (const std::string name : {"shared_bandwidth", "special_latency", "shuffle"}) {
    EXPECT_EQ(plot.find(name), std::string::npos) << name;
  }
}

TEST(Plots, TooltipCarriesTheWholeNameThatALabelShortens) {
  const std::string plot = effects_plot(build_model(fixture::long_campaign(3)));
  EXPECT_NE(
      plot.find("<title>#3 e88_backward/a_rather_long_variant_name_of_the_idea_3[CHUNK=16,HEADS_PER_BLOCK=3]</title>"),
      std::string::npos);
}

TEST(Svg, NumbersHaveAtMostTwoDecimalsAndNoExponent) {
  EXPECT_EQ(svg::number(1.0), "1");
  EXPECT_EQ(svg::number(0.126), "0.13");
  EXPECT_EQ(svg::number(-0.001), "0");
  EXPECT_EQ(svg::number(1e21), "1000000000000000000000");
  EXPECT_EQ(svg::number(-12.50), "-12.5");
}

TEST(Svg, ElementWithoutAPlaceIsLeftOut) {
  svg::Canvas canvas(100, 100, "t", "d");
  const std::string before = canvas.finish();
  canvas.mark(svg::Shape::circle, {kNotMeasured, 3}, svg::Ink::accepted);
  canvas.line({0, 0}, {INFINITY, 3}, svg::Ink::axis);
  canvas.bar({0, 0, kNotMeasured, 3}, svg::Ink::band);
  canvas.text({0, kNotMeasured}, "x", svg::Ink::text);
  canvas.polyline({{0, 0}, {kNotMeasured, 1}}, svg::Ink::step);
  EXPECT_EQ(canvas.finish(), before);
}

TEST(Svg, LinearTicksAreRoundAndInside) {
  const std::vector<svg::Tick> ticks = svg::linear_ticks(0.97, 1.33, 6);
  ASSERT_EQ(ticks.size(), 4U);
  EXPECT_EQ(ticks.front().label, "1.0");
  EXPECT_EQ(ticks.back().label, "1.3");
  EXPECT_TRUE(svg::linear_ticks(1, 1, 6).empty());
}

TEST(Svg, RatioTicksStayFewOverManyDecades) {
  for (const double high : {1.01, 2.9, 9.0, 250.0, 1e6, 1e20}) {
    const std::size_t count = svg::ratio_ticks(0.99, high, 7).size();
    EXPECT_GE(count, 2U) << high;
    EXPECT_LE(count, 12U) << high;
  }
}

TEST(Svg, ShortenKeepsBothEndsAndWholeCharacters) {
  const std::string name = "e88_backward/chunk_prefetch[CHUNK=16]";
  const std::string text = svg::shorten(name, 120);
  EXPECT_LE(svg::text_width(text), 120);
  EXPECT_EQ(text.substr(0, 4), "e88_");
  EXPECT_EQ(text.back(), ']');
  EXPECT_EQ(svg::shorten("short", 120), "short");
  const std::string greek = "\xCE\xB1\xCE\xB1\xCE\xB1\xCE\xB1\xCE\xB1\xCE\xB1\xCE\xB1\xCE\xB1";
  for (double width = 10; width < 60; width += 1) {
    const std::string cut = svg::shorten(greek, width);
    EXPECT_EQ(cut.size() % 2, cut == greek || cut.empty() ? 0U : 1U) << width;  // the ellipsis has three bytes
  }
}

TEST(Svg, LabelsKeepOffMarksAndEachOther) {
  svg::LabelPlacer placer({0, 0, 300, 200});
  placer.occupy({90, 90, 110, 110});
  const auto first = placer.place({100, 100}, "label");
  const auto second = placer.place({100, 100}, "label");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->x != second->x || first->y != second->y);
  svg::LabelPlacer crowded({0, 0, 300, 200});
  crowded.occupy({0, 0, 300, 200});
  EXPECT_FALSE(crowded.place({100, 100}, "label"));
}

}  // namespace
}  // namespace apo::report

// tests/cli/console_test.cpp - what people see of a long command on a terminal.
#include "harness/cli/console.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>

#include "harness/cli/terminal.h"
#include "harness/core/text.h"
#include "tests/text.h"

namespace apo {
namespace {

struct OnTerminal {
  std::string text;
  int status = 0;
};

// In a process of its own, whose terminal has so many columns.
OnTerminal on_terminal(unsigned short columns, const std::function<void()>& action) {
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    action();
    _exit(0);
  }
  OnTerminal result;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;) {
    result.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  waitpid(child, &result.status, 0);
  close(terminal);
  return result;
}

TEST(ProgressLine, IsCutToTheTerminalAndKeepsCounterAndTime) {
  const Progress progress{.what = "confirm e88_backward/combined[CHUNK=16] against e88_backward/simple",
                          .done = 3,
                          .expected = 42,
                          .seconds_left = 90};
  const std::string whole = progress_line(progress, 200);
  EXPECT_TRUE(whole.starts_with(progress.what)) << whole;
  for (const std::size_t columns : {79U, 60U, 50U, 40U}) {
    const std::string line = progress_line(progress, columns);
    EXPECT_EQ(line.size(), columns) << line;
    EXPECT_TRUE(line.starts_with(columns >= 50 ? "confirm" : "con...")) << line;
    expect_contains(line, "  3/42  at most");
  }
  EXPECT_LE(progress_line(progress, 5).size(), 5U);
  EXPECT_LE(progress_line({.what = "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4\xc3\xb6"}, 4).size(), 5U);
}

TEST(Console, AProgressLineNeverWraps) {
  const OnTerminal seen = on_terminal(40, [] {
    ConsoleObserver observer{Globals()};
    for (int done = 1; done < 20; ++done) {
      observer.progress({.what = std::string(100, 'x'), .done = done, .expected = 20, .seconds_left = 300});
    }
  });
  EXPECT_EQ(seen.text.find('\n'), std::string::npos);
  for (const std::string& line : split(seen.text, '\r')) {
    const std::string text = line.substr(0, line.find("\033"));
    EXPECT_LT(text.size(), 40U) << text;
  }
  expect_contains(seen.text, "  19/20");
}

TEST(Console, AnInterruptSaysHowToGoOnAndEndsByTheSignal) {
  const OnTerminal seen = on_terminal(80, [] {
    const InterruptNote note("the journal is kept", "go on with", {"apo", "run", "copy"});
    std::raise(SIGINT);
  });
  EXPECT_TRUE(WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == SIGINT);
  expect_contains(seen.text, "go on with: apo run copy");
}

TEST(Console, ColoursAreForTerminalsWithoutNoColor) {
  const auto painted = [] { print(paint("accepted", "green")); };
  expect_contains(on_terminal(80, painted).text, "\033[32m");
  const OnTerminal plain = on_terminal(80, [&] {
    setenv("NO_COLOR", "1", 1);
    painted();
  });
  EXPECT_EQ(plain.text, "accepted");
}

TEST(TerminalText, PadsTablesDropsControlsAndClosesFolds) {
  const auto write = [](report::Writer& writer) {
    writer.heading(2, "gates");
    writer.table({{"gate", "took"}, {{"build", "1 s"}, {report::code("a\x1b[31m\nb"), 2}}});
    writer.begin_fold("3 others", "");
    writer.paragraph("hidden");
    writer.diff("+a\r\n-b\n");
    writer.end_fold();
  };
  EXPECT_EQ(terminal_text(write),
            "\ngates\n  gate      took\n  build     1 s\n  a [31m b  2\n\n3 others\n  hidden\n+a \n-b\n");
  EXPECT_EQ(terminal_text(write, Folds::closed),
            "\ngates\n  gate      took\n  build     1 s\n  a [31m b  2\n\n  3 others\n");
}

TEST(Console, PathsInTheWorkingFolderAreRelativeToIt) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(from_here("report: " + here + "/.apo/report.md; '" + here + "/a b'"), "report: .apo/report.md; 'a b'");
  for (const std::string& text : {here + " itself", "/elsewhere" + here + "/file", here + "-2/file"}) {
    EXPECT_EQ(from_here(text), text);
  }
}

}  // namespace
}  // namespace apo

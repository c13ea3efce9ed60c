// harness/cli/terminal.h - the sections of a report, written for a terminal.
#pragma once

#include <functional>
#include <string>

#include "reports/sections/sections.h"

namespace apo {

// Of what a page folds away, `closed` shows the summary alone.
enum class Folds { open, closed };

std::string terminal_text(const std::function<void(report::Writer&)>& write, Folds folds = Folds::open);

}  // namespace apo

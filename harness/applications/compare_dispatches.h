// harness/applications/compare_dispatches.h - judges two dispatches by an application and keeps it in the journal.
#pragma once

#include "harness/core/applications/application_comparison.h"
#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// `asked` has the application, the dispatches and, of a campaign's end, the campaign; the folder is the current one
// unless it has one, and dispatches are relative to it.
// Every run is a row as soon as it has ended, the first two as soon as they are known to be long enough. The device is
// that of the workspace. Returns the comparison with its verdict, expectation and number. UserError where a dispatch is
// not there, and where A cannot be prepared: nothing is recorded then.
ApplicationComparison compare_dispatches(Workspace& workspace, Journal& journal, ApplicationComparison asked,
                                         Observer& observer);

}  // namespace apo

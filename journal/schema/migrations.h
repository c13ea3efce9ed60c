// journal/schema/migrations.h - brings a file to the newest schema, and refuses files that are not ours or newer than
// us.
#pragma once

#include <span>
#include <string>

#include "journal/database.h"

namespace apo {

// Step i brings a file from version i to version i + 1. Never edit a step that was released; add one.
std::span<const std::string> migrations();

// Throws UserError for a file of another program or of a newer schema. Returns the file's version, 0 = empty.
int checked_version(Database& database, int newest);

// Gives readers of an older file the tables that it lacks, in memory, filled where they repeat other tables. Steps
// after the first only add tables, up to the words "not for stand-ins".
void stand_in_for(Database& database, std::span<const std::string> steps);

// Runs the steps that the file lacks in one transaction, then makes every table of facts append-only.
void migrate(Database& database, std::span<const std::string> steps);

}  // namespace apo

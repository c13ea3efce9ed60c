// journal/schema/schema.h - lays out an empty file, upgrades one of the last release, and refuses what is not ours,
// newer or older than that.
#pragma once

#include "journal/database.h"

namespace apo {

inline constexpr int kSchemaVersion = 20;
inline constexpr int kOldestUpgraded = 19;

// Throws UserError for a file of another program, and for one that is newer than this program or older than what it
// upgrades. Returns the file's version, 0 = empty.
int checked_version(Database& database);

// Of kSchemaVersion, with all of its tables.
bool is_complete(Database& database);

// Brings a file to that in one transaction.
void create_or_upgrade(Database& database);

// The first journals of version 20 lack the tables wrong_case, scanned and profiled_launch: for who only reads one,
// they are empty.
void complete_for_reading(Database& database);

// Makes every table refuse UPDATE and DELETE, by triggers.
void make_append_only(Database& database);

}  // namespace apo

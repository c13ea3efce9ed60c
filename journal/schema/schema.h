// journal/schema/schema.h - lays out an empty file, and refuses what is not ours or of another version.
#pragma once

#include "journal/database.h"

namespace apo {

inline constexpr int kSchemaVersion = 20;

// False for an empty file. Throws UserError for a file of another program or of another version.
bool has_schema(Database& database);

// With all of its tables.
bool is_complete(Database& database);

// Brings a file to that in one transaction.
void complete(Database& database);

// The first journals of version 20 lack the tables wrong_case, scanned, scanned_by and profiled_launch: for who only
// reads one, they are empty.
void complete_for_reading(Database& database);

// Makes every table refuse UPDATE and DELETE, by triggers.
void make_append_only(Database& database);

}  // namespace apo

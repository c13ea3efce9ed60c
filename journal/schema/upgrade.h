// journal/schema/upgrade.h - moves the rows of a journal of the last release into the tables of this one.
#pragma once

#include <string>
#include <vector>

#include "journal/database.h"

namespace apo {

// What the program itself created, not SQLite: names of one type of sqlite_schema, in the order of their creation.
std::vector<std::string> names_of(Database& database, const std::string& type);

// In the caller's transaction, with foreign keys off. `schema` lays out the new tables.
void upgrade(Database& database, const char* schema);

}  // namespace apo

// journal/facts/variants.h - writes and reads variants with their sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

class Journal;

// With its source. Adding the same again changes nothing. Throws UserError for a text that has another name here.
void add_variant(Journal& journal, const Variant& variant);
std::optional<Variant> find_variant(Journal& journal, const std::string& source_hash);
std::optional<Variant> newest_variant(Journal& journal, const std::string& id);
// The place of its text among those that were added under its name, from 1.
int variant_version(Journal& journal, const Variant& variant);
std::vector<Variant> variants_of(Journal& journal, const std::string& family);  // newest source of each; "" = all

}  // namespace apo

// tests/common_headers.h - what most tests include, for the presets that compile it once for all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

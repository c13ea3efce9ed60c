// harness/core/records/records.h - includes all plain structs that stages exchange and the journal keeps.
#pragma once

#include "harness/core/records/build.h"
#include "harness/core/records/campaign.h"
#include "harness/core/records/conditions.h"
#include "harness/core/records/experiment.h"
#include "harness/core/records/judgement.h"
#include "harness/core/records/machine.h"
#include "harness/core/records/outcome.h"
#include "harness/core/records/profile.h"
#include "harness/core/records/research.h"
#include "harness/core/records/round_environment.h"
#include "harness/core/records/scanned.h"
#include "harness/core/records/variant.h"

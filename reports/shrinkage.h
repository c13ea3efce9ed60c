// reports/shrinkage.h - shrinks an accepted effect for selection bias.
#pragma once

#include "harness/core/records/records.h"

namespace apo::report {

// Shrinks an accepted effect. Accepted candidates were lucky as well as fast, so that the product of accepted effects
// is too large (the winner's curse). Returns the effect times max(0, 1 - (s / effect)^2), where s is its standard
// error, from its interval: the normal posterior mean round "no effect", with the spread of true effects estimated from
// this effect itself (positive-part empirical Bayes: Morris 1983; van Houwelingen & le Cessie 1990 for the factor of a
// single effect). An effect ten times its error keeps 99 % of it, one that just passed the confirmation 82 %. It is a
// check beside the certification, no claim. NaN where there is no finite interval.
double shrunken_effect(const Judgement& judgement);

}  // namespace apo::report

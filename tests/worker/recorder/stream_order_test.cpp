// tests/worker/recorder/stream_order_test.cpp - which waits between streams a call has to have.
#include "harness/worker/recorder/stream_order.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

constexpr StreamOrder::Handle kCaller = nullptr;
const int kHandles[4] = {};
const StreamOrder::Handle kOwn = &kHandles[0];
const StreamOrder::Handle kOther = &kHandles[1];
const StreamOrder::Handle kBegun = &kHandles[2];
const StreamOrder::Handle kDone = &kHandles[3];
constexpr const char* kEarly = "does not wait for the caller's";
constexpr const char* kOpen = "the caller's does not wait for";

// As who records does behind the call.
std::string fault_of(StreamOrder order) {
  order.host_waits_for_all();
  return order.fault([](const auto&) { return true; });
}

bool says(const StreamOrder& order, const char* words) {
  return fault_of(order).find(words) != std::string::npos;
}

TEST(StreamOrder, WorkOnTheCallersStreamNeedsNoWait) {
  StreamOrder order;
  order.works(kCaller);
  order.works(kCaller);
  EXPECT_EQ(fault_of(order), "");
}

TEST(StreamOrder, AForkAndAJoinByEventsAreRight) {
  StreamOrder order;
  order.records(kBegun, kCaller);
  order.waits(kOwn, kBegun);
  order.works(kOwn);
  order.records(kDone, kOwn);
  order.waits(kCaller, kDone);
  EXPECT_EQ(fault_of(order), "");
  order.works(kOwn);  // behind the join
  EXPECT_TRUE(says(order, kOpen));
}

TEST(StreamOrder, EitherWaitThatIsLeftOutIsAFault) {
  StreamOrder early;
  early.works(kOwn);
  early.records(kDone, kOwn);
  early.waits(kCaller, kDone);
  EXPECT_TRUE(says(early, kEarly));
  StreamOrder open;
  open.records(kBegun, kCaller);
  open.waits(kOwn, kBegun);
  open.works(kOwn);
  EXPECT_TRUE(says(open, kOpen));
}

TEST(StreamOrder, OperationsThatTheCallerDoesNotWaitForAreKnownByTheirNumbers) {
  StreamOrder order;
  order.works(kCaller);
  order.records(kBegun, kCaller);
  order.waits(kOwn, kBegun);
  order.works(kOwn);
  order.records(kDone, kOwn);
  order.waits(kCaller, kDone);
  order.works(kOwn);
  order.works(kCaller);
  std::vector<std::size_t> open;
  EXPECT_EQ(order.fault([&](const auto& operations) {
    open = operations;
    return false;
  }),
            "");
  EXPECT_EQ(open, (std::vector<std::size_t>{2}));
}

TEST(StreamOrder, TheHostMayWaitInstead) {
  StreamOrder order;
  order.records(kBegun, kCaller);
  order.host_waits_for_event(kBegun);
  order.works(kOwn);
  order.host_waits_for_stream(kOwn);
  EXPECT_EQ(fault_of(order), "");
  order.works(kOther);
  order.host_waits_for_all();  // the call's own
  EXPECT_EQ(fault_of(order), "");
  StreamOrder all;
  all.host_waits_for_all();
  all.works(kOwn);
  EXPECT_FALSE(says(all, kEarly));
  EXPECT_TRUE(says(all, kOpen));
}

TEST(StreamOrder, AWaitIsHandedOnThroughOtherStreams) {
  StreamOrder order;
  order.records(kBegun, kCaller);
  order.waits(kOwn, kBegun);
  order.works(kOwn);
  order.records(kBegun, kOwn);
  order.waits(kOther, kBegun);
  order.works(kOther);
  order.records(kDone, kOther);
  order.waits(kCaller, kDone);
  EXPECT_EQ(fault_of(order), "");
}

TEST(StreamOrder, AnEventOfTheCallBeforeOrdersNothing) {
  StreamOrder order;
  order.records(kBegun, kCaller);
  order.begin();
  order.waits(kOwn, kBegun);
  order.works(kOwn);
  EXPECT_TRUE(says(order, kEarly));
}

TEST(StreamOrder, AnEventThatIsRecordedTooSoonJoinsNothing) {
  StreamOrder order;
  order.records(kBegun, kCaller);
  order.waits(kOwn, kBegun);
  order.records(kDone, kOwn);
  order.works(kOwn);
  order.waits(kCaller, kDone);
  EXPECT_TRUE(says(order, kOpen));
}

}  // namespace
}  // namespace apo

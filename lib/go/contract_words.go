// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

// Kind is what the user does in the browser. "input" and "approval" are on pages of the callback programs.
type Kind string

// The values of Kind.
const (
	OAuth     Kind = "oauth"
	Payment   Kind = "payment"
	Signature Kind = "signature"
	Input     Kind = "input"
	Approval  Kind = "approval"
)

// kinds has them all: each is what the user does in the browser.
var kinds = []string{"oauth", "payment", "signature", "input", "approval"}

// targetKinds has them all: each is a kind with a page of the provider.
var targetKinds = []string{"oauth", "payment", "signature"}

// Action is one of the three actions of the protocol.
type Action string

// The values of Action.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// Status is the status of an elicitation. They are in their order. One that is completed never changes again.
type Status string

// The values of Status.
const (
	Pending    Status = "pending"
	Opened     Status = "opened"
	Processing Status = "processing"
	Completed  Status = "completed"
)

// Progress is what a wait hears of. "attempt_failed": an attempt to pay has failed, or what was typed was not accepted,
// and the user can try again.
type Progress string

// The values of Progress.
const (
	ProgressOpened        Progress = "opened"
	ProgressProcessing    Progress = "processing"
	ProgressAttemptFailed Progress = "attempt_failed"
)

// EventType is what has happened, in the words of the audit log. "late": a payment was proved after the end of its
// elicitation. "refunded": money went back, or came again.
type EventType string

// The values of EventType.
const (
	EventCreated    EventType = "created"
	EventOpened     EventType = "opened"
	EventProcessing EventType = "processing"
	EventCompleted  EventType = "completed"
	EventLate       EventType = "late"
	EventRefunded   EventType = "refunded"
)

// waitEnds has them all: each is how a wait has ended, for the metrics.
var waitEnds = []string{"accept", "decline", "cancel", "timeout", "aborted", "closed", "error"}

// purgeKinds has them all: each is what a purge deletes.
var purgeKinds = []string{"oauth", "payment", "signature", "input", "approval", "result", "stored"}

// EntryStatus is the status of a payment or refund at its provider.
type EntryStatus string

// The values of EntryStatus.
const (
	EntryPaid       EntryStatus = "paid"
	EntryProcessing EntryStatus = "processing"
	EntryFailed     EntryStatus = "failed"
	EntryCancelled  EntryStatus = "cancelled"
)

// entryStatuses has them all: each is the status of a payment or refund at its provider.
var entryStatuses = []string{"paid", "processing", "failed", "cancelled"}

// EntitlementStatus is what a subscription is. The first three may be used. One that is cancelled is not renewed.
type EntitlementStatus string

// The values of EntitlementStatus.
const (
	Trialing  EntitlementStatus = "trialing"
	Active    EntitlementStatus = "active"
	Cancelled EntitlementStatus = "cancelled"
	PastDue   EntitlementStatus = "past_due"
	Ended     EntitlementStatus = "ended"
)

// LedgerType is what became of money.
type LedgerType string

// The values of LedgerType.
const (
	LedgerPaid           LedgerType = "paid"
	LedgerMismatched     LedgerType = "mismatched"
	LedgerLate           LedgerType = "late"
	LedgerRefunded       LedgerType = "refunded"
	LedgerRefundReversed LedgerType = "refund_reversed"
	LedgerDisputed       LedgerType = "disputed"
	LedgerDisputeWon     LedgerType = "dispute_won"
	LedgerDisputeLost    LedgerType = "dispute_lost"
	LedgerHeld           LedgerType = "held"
	LedgerReleased       LedgerType = "released"
	LedgerVoided         LedgerType = "voided"
	LedgerClaimed        LedgerType = "claimed"
	LedgerDelivered      LedgerType = "delivered"
)

// ClaimEnd is how the claim of a payment ends that "unclaimed" lists.
type ClaimEnd string

// The values of ClaimEnd.
const (
	ClaimDelivered ClaimEnd = "delivered"
	ClaimRefunded  ClaimEnd = "refunded"
)

// Match is how the amount that is paid must match. "exact", which is the default; "at-least", with a tax on top or a
// tip; "checkout": whatever the checkout totals that the target has named, also 0.
type Match string

// The values of Match.
const (
	MatchExact    Match = "" // also "exact"
	MatchAtLeast  Match = "at-least"
	MatchCheckout Match = "checkout"
)

// matches has them all: each is how the amount that is paid must match.
var matches = []string{"exact", "at-least", "checkout"}

// refusalClasses has them all: each is a class of SQLSTATEs with which the server refuses what it would refuse again: a
// privilege or a migration is missing, or a limit is reached.
var refusalClasses = []string{"42", "3F", "54"}

// elementClasses has them all: each is how a SQLSTATE begins with which the server refuses a statement for the sake of
// one of its elements, or of another transaction: data, constraints, RAISE, deadlocks, locks that take too long.
var elementClasses = []string{"22", "23", "P0", "40", "55P03", "57014"}

// unlistenableClasses has them all: each is a class of SQLSTATEs with which a server answers LISTEN that does not
// support it.
var unlistenableClasses = []string{"0A", "42"}

// unstorableClasses has them all: each is a class of SQLSTATEs of a value that is larger than a row takes.
var unstorableClasses = []string{"22", "23", "54"}

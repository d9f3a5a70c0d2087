// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Kind is what the user does in the browser.
type Kind string

// The kinds that this package creates.
const (
	OAuth     Kind = "oauth"
	Payment   Kind = "payment"
	Signature Kind = "signature"
	// Input and Approval are on pages of the callback programs: see CreateInput and CreateApproval.
	Input    Kind = "input"
	Approval Kind = "approval"
)

// hasItem tells whether something is bought or signed.
func (k Kind) hasItem() bool { return k == Payment || k == Signature }

// Action is one of the three actions of the protocol.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// Status is that of an elicitation.
type Status string

// The statuses, in their order. An elicitation that is Completed never changes again.
const (
	Pending    Status = "pending"
	Opened     Status = "opened"
	Processing Status = "processing"
	Completed  Status = "completed"
)

// Progress is what a wait hears of: a user has opened the page, the provider works
// on the payment, or an attempt to pay has failed and the user can try again.
type Progress string

// What a wait hears of.
const (
	ProgressOpened        Progress = "opened"
	ProgressProcessing    Progress = "processing"
	ProgressAttemptFailed Progress = "attempt_failed"
)

// Owner is whose elicitation it is. Nobody else can read it.
type Owner struct {
	// Subject is the user according to your own authorization, never according to the client. 1 to 512 bytes.
	Subject string
	// Session is at most 512 bytes, and may be empty.
	Session string
}

// Config configures an Instance. DatabaseURL or Pool, KeysFile or Keys, and BaseURL are required.
type Config struct {
	// DatabaseURL is a PostgreSQL URL, or keywords and values as libpq has them, for the role
	// urlmode_server. Several hosts are tried in turn, with target_session_attrs=read-write by default.
	DatabaseURL string
	// Pool is one of your own in place of DatabaseURL. Close does not close it. The connection that listens is
	// one more, with its configuration, BeforeConnect and AfterConnect.
	Pool *pgxpool.Pool
	// KeysFile is the name of the keys file, which is read again when it changes.
	KeysFile string
	// Keys is the content of a keys file.
	Keys string
	// BaseURL is the origin of the callback programs: scheme, host and port.
	BaseURL string
	// Name is the MCP server's name on the pages, by default the host of BaseURL. At most 200 bytes.
	Name string
	// NoListen means that PostgreSQL is polled.
	NoListen bool
	// KeepResults is how long a result is kept after a wait has read it: ten minutes by default, a day
	// at most. Less than zero: not at all.
	KeepResults time.Duration
	// KeepUnclaimed is how long the result of a payment is kept that no call has
	// claimed: 30 days by default, a week at least.
	KeepUnclaimed time.Duration
	// Retention is how long elicitations are kept to which nothing can happen any more: 90 days by
	// default, a week at least. Less than zero: for ever.
	Retention time.Duration
	// Rechecks are functions by the names of providers: each asks its provider about events that prove nothing, for waits and claims
	// without a function of their own, and also where nobody waits.
	Rechecks map[string]RecheckFunc
	// Logger gets problems that make no call fail, with an attribute "code". slog.Default by default.
	Logger *slog.Logger
}

// Match is how the amount that is paid must match what is expected.
type Match string

const (
	MatchExact Match = "" // also "exact"
	// MatchAtLeast is for a tax on top, or a tip.
	MatchAtLeast Match = "at-least"
	// MatchCheckout is whatever the checkout totals that Target has named, also 0. Amount and Currency may be empty.
	MatchCheckout Match = "checkout"
)

// Expected is what must be paid.
type Expected struct {
	// Amount is in the minor units of ISO 4217, for every provider.
	Amount   int64
	Currency string
	// Match is how the amount that is paid must match: MatchExact by default.
	Match Match
	// Any means that every amount is accepted, and the other members are not used.
	Any bool
}

func (e Expected) hasPrice() bool {
	return e.Match != MatchCheckout || e.Currency != "" || e.Amount != 0
}

func (e Expected) members() any {
	if e.Any {
		return "any"
	}
	members := map[string]any{}
	if e.hasPrice() {
		members["amount"], members["currency"] = e.Amount, e.Currency
	}
	if e.Match != MatchExact {
		members["match"] = e.Match
	}
	return members
}

// String is the price as people write it, such as "10.50 EUR", and empty for any amount.
func (e Expected) String() string {
	if e.Any || e.Currency == "" {
		return ""
	}
	return asDecimal(e.Amount, exponents()[e.Currency]) + " " + e.Currency
}

// MarshalJSON writes what is expected as the database has it.
func (e Expected) MarshalJSON() ([]byte, error) { return json.Marshal(e.members()) }

// UnmarshalJSON reads an object with amount and currency, or "any".
func (e *Expected) UnmarshalJSON(text []byte) error {
	if string(text) == `"any"` {
		*e = Expected{Any: true}
		return nil
	}
	type plain Expected
	*e = Expected{}
	return json.Unmarshal(text, (*plain)(e))
}

// CallbackURLs are what a target URL may contain.
type CallbackURLs struct {
	ElicitationID string
	// ReturnURL is where the provider sends the browser: the redirect URI or the success URL.
	ReturnURL string
	// CancelURL is where it sends the browser of a user who does not pay. Empty for OAuth.
	CancelURL string
	// WebhookURL is where a provider that signs nothing sends its events. Empty for OAuth.
	WebhookURL string
}

// TargetArguments are those of a function that makes a target URL.
type TargetArguments struct {
	CallbackURLs
	// Amount is the price as the provider writes it: a whole number in its own units, or decimal text. It is
	// empty if any amount is accepted, or if no description of the provider's name is known.
	Amount string
}

// Target is the address at which the user acts.
type Target struct {
	URL string
	// Checkout is the provider's id of the checkout: then only a payment of this one counts. Only for payments.
	Checkout string
}

// Request is what Create asks for. Provider, Kind, Owner and one of Target and TargetURL are required.
type Request struct {
	// Provider is a name of the programs' configuration.
	Provider string
	Kind     Kind
	Owner    Owner
	// TargetURL is the address at which the user acts: https, at most 8,192 bytes.
	TargetURL string
	// Target makes it. It is not called if the elicitation is resumed.
	Target func(context.Context, TargetArguments) (Target, error)
	// Expected is required for Payment, and only allowed there.
	Expected Expected
	// Item is what a payment or signature is for, in the words of the server, such as report:42: 1 to 512 bytes, required for them.
	Item string
	// Subscription means that the payment must be the first one of a subscription, with Expected as its first price. It opens an
	// entitlement for the Item, and is claimed by it.
	Subscription bool
	// PKCE adds an S256 challenge to the target URL, and a nonce if its scope contains openid. Only for OAuth.
	PKCE bool
	// TTL is how long the link can be opened: five minutes by default, a year at most.
	TTL time.Duration
	// ID is a UUID, by default a random one.
	ID string
	// Exclusive cancels the other open elicitations of this owner with reason superseded, except payments and signatures that a user
	// has opened.
	Exclusive bool
	// ResumeKey is the key by which a later call of the same owner, which asks for the same, goes on with this elicitation. At most
	// 512 bytes.
	ResumeKey string
	// About is what else the call asks for, as plain JSON. It is compared, not stored.
	About map[string]any
	// ClientID is the id of the MCP client, for the operator. At most 2,048 bytes.
	ClientID string
	// Traceparent is the trace of the call (W3C Trace Context, version 00), for the operator.
	Traceparent string
	// SameClient means that only a call of the same client goes on with this elicitation.
	SameClient bool
	// CannotRecheck means that the waits have no Recheck, so a payment that needs one is not resumed.
	CannotRecheck bool
}

// Elicitation is what Create has created or found.
type Elicitation struct {
	CallbackURLs
	// URL is what is elicited.
	URL       string
	ExpiresAt time.Time
	// Resumed means that it existed before, see Request.ResumeKey.
	Resumed bool
}

// Outcome is how an elicitation has ended.
type Outcome struct {
	ElicitationID string
	Action        Action
	// Reason is empty after a plain accept.
	Reason string
	// Result is nil if there is none. After the accept of an account it has the authorization code.
	Result map[string]any
	// Late means that the elicitation had ended otherwise when the payment was proved.
	Late bool
	// Interrupted is, after a cancel of an elicitation that a user had opened, the status that it has interrupted.
	Interrupted Status
	// Reference is the provider's, of the payment, with which Claim takes it.
	Reference string
	// Refunded means that the payment has gone back; no call can claim it any more.
	Refunded bool
	// RefundedAmount is how much of it went back, in minor units.
	RefundedAmount int64
	// CodeVerifier and Nonce are those of PKCE, after an accept.
	CodeVerifier string
	Nonce        string
	// Values are what the user has typed, see Typed.Values. Nil if it is no accept of an input, or if the result was purged.
	Values map[string]any
	// Approver is who has decided an approval, as their sign-in says, with a Comment if there is one. Empty if nobody has
	// decided, or if the result was purged.
	Approver  string
	Comment   string
	DecidedAt time.Time
}

// String leaves out what is secret.
func (o Outcome) String() string {
	return fmt.Sprintf("%s: %s %s", o.ElicitationID, o.Action, o.Reason)
}

// GoString leaves out what is secret.
func (o Outcome) GoString() string { return o.String() }

// Answer is how an elicitation has ended, as this server has learned it in another way than from the programs.
type Answer struct {
	Action Action
	// Reason is a code of at most 64 characters of a-z, 0-9 and _.
	Reason string
	// Result is at most 65,506 bytes as JSON.
	Result map[string]any
	// Amount is what was paid, in minor units. With Currency and Reference it is required to accept a payment, and compared.
	Amount    int64
	Currency  string
	Reference string
	// Payments and Refunds are what the provider has of an elicitation, at most 100 of each, and take the place of all
	// others: of a Recheck alone. What is paid is a payment whether it is as expected or not.
	Payments []PaymentEntry
	Refunds  []RefundEntry
}

// EntryStatus is that of a payment or refund at its provider.
type EntryStatus string

// These are the four.
const (
	EntryPaid       EntryStatus = "paid"
	EntryProcessing EntryStatus = "processing"
	EntryFailed     EntryStatus = "failed"
	EntryCancelled  EntryStatus = "cancelled"
)

// PaymentEntry is a payment in the provider's own record, which must name the elicitation or its checkout: otherwise it is not
// recorded.
type PaymentEntry struct {
	Reference string // the provider's, of the payment
	Amount    int64  // in minor units
	Currency  string
	Status    EntryStatus

	ElicitationID string
	Checkout      string // the provider's id of the checkout
}

// RefundEntry is a refund or a dispute. Of [EntryPaid] it went back; of [EntryProcessing] it is going back, which counts as much;
// of the two others it has come again.
type RefundEntry struct {
	Reference string // the provider's, of the refund
	Payment   string // that of its payment
	Amount    int64  // in minor units
	Currency  string // empty: that of the payment
	Status    EntryStatus

	ElicitationID string
	Checkout      string
}

// WaitOptions are those of WaitWith. The zero value waits until the context ends.
type WaitOptions struct {
	// Once reads the row, and does not wait.
	Once bool
	// Progress is called by the goroutine that waits: at most once for each status, and for each attempt that has failed.
	Progress func(Progress)
	// Recheck asks the provider about an event that proves nothing, and answers nil if the outcome is not known. For
	// one elicitation it runs in one process at a time. Its error ends this wait, and so does a panic. The context ends with the instance.
	Recheck RecheckFunc
	// Verify says what is wrong with the values of an input with a VerifyTimeout, and nil if nothing is. One process asks it for each
	// submission; the fifth problem ends the elicitation. After an error or a panic, which ends this wait, and at the time limit,
	// which ends the context, the page is open again.
	Verify func(context.Context, Typed) (*Problem, error)
	// Abandon cancels the elicitation when the wait ends without an outcome, unless a user has opened it.
	Abandon bool
}

// RecheckFunc asks a provider about an event that proves nothing. Nil: there is nothing yet.
type RecheckFunc = func(context.Context, Recheck) (*Answer, error)

// Recheck is an event that proves nothing. Its sender chose the references.
type Recheck struct {
	ElicitationID string
	Provider      string
	Type          string
	// References are what events have named; the last one is the newest.
	References []string
	Expected   Expected
	// Checkout is the provider's id of the checkout that Target has returned.
	Checkout string
}

// ProvenPayment is a payment that a provider has proved.
type ProvenPayment struct {
	ElicitationID string
	Provider      string
	Owner         Owner
	Reference     string
	// Amount is in minor units.
	Amount   int64
	Currency string
	// Matches means that it is what was expected. If not, no call is offered it: refund it.
	Matches bool
}

// UnclaimedPayment is a payment that no call has claimed.
type UnclaimedPayment struct {
	ProvenPayment
	// Item is what it is for; empty: the server did not say it.
	Item      string
	ResumeKey string
	// Late means that it was proved after the elicitation had ended.
	Late     bool
	ProvenAt time.Time
	// Refunded is how much of it went back, in minor units.
	Refunded int64
	// Held means that no call is offered it until the operator decides.
	Held bool
	// Result is nil if there is none, if it was purged, or if no key opens it.
	Result map[string]any
}

// UndeliveredClaim is a claim that was fulfilled and never confirmed.
type UndeliveredClaim struct {
	ElicitationID string
	Provider      string
	Kind          Kind
	Owner         Owner
	ResumeKey     string
	// Reference is that of the payment, and empty where it is none.
	Reference string
	// Amount is in minor units.
	Amount      int64
	Currency    string
	FulfilledAt time.Time
	// GivenAt is when another call was last given the result. Nil: no other call was.
	GivenAt *time.Time
	// HasResult means that the next call is given the result. Otherwise it does the work again.
	HasResult bool
	// Refunded is how much of it went back, in minor units.
	Refunded int64
	Held     bool
}

// Entitlement is what a user may use because of a subscription.
type Entitlement struct {
	Item string
	// Status is trialing, active or cancelled, which may be used; past_due, if a renewal was not paid; or ended, if it is over, or paused,
	// or what was paid last has gone back. A cancelled one is not renewed.
	Status EntitlementStatus
	// Entitled means that it may be used.
	Entitled bool
	// Paused means that it has ended until it is resumed.
	Paused bool
	// Until is the end of what was paid. It is zero if the provider has not said it yet.
	Until    time.Time
	Provider string
	// Account is the provider's, that the subscription is at, and Subscription the provider's id of it. Either may be empty.
	Account, Subscription string
	// ElicitationID is that with which it was opened.
	ElicitationID string
	OpenedAt      time.Time
}

// EntitlementStatus is what a subscription is.
type EntitlementStatus string

// The statuses of an Entitlement.
const (
	Trialing  EntitlementStatus = "trialing"
	Active    EntitlementStatus = "active"
	Cancelled EntitlementStatus = "cancelled"
	PastDue   EntitlementStatus = "past_due"
	Ended     EntitlementStatus = "ended"
)

// Refund is a refund, a dispute or a cancelled authorisation.
type Refund struct {
	ElicitationID string
	Provider      string
	// Owner and ResumeKey are empty where the elicitation was purged.
	Owner     Owner
	ResumeKey string
	// Reference is the provider's, of the refund; that of the payment where the provider tells the total that went back.
	Reference string
	// Amount is nil for all of a payment that is not known.
	Amount   *int64
	Currency string
	// Reversed is how much of it came again: the refund failed, or the dispute was won.
	Reversed   int64
	ReceivedAt time.Time
	ChangedAt  time.Time
	// Payment is nil if the provider did not say of which payment. Then those of the elicitation are held.
	Payment *RefundedPayment
}

// RefundedPayment is the payment of a Refund.
type RefundedPayment struct {
	Reference string
	Amount    int64
	// Refunded is how much of it has gone back, in all.
	Refunded int64
	Held     bool
	Claimed  bool
}

// LedgerType says what became of money.
type LedgerType string

// The types of entries of the ledger.
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

// LedgerEntry is something that became of money.
type LedgerEntry struct {
	// Number is its place in the order. After a failover that has lost commits, numbers are given again.
	Number    int64
	Type      LedgerType
	EnteredAt time.Time
	// Kind is what Reference names: payment, refund, dispute or cancellation.
	Kind     string
	Provider string
	// ElicitationID is empty where it may be of several.
	ElicitationID string
	// Subject is empty where the user was forgotten, and Item where the elicitation has none.
	Subject string
	Item    string
	// Reference is the provider's, of the refund or dispute; otherwise that of the payment.
	Reference string
	// Payment is the provider's reference of the payment. Empty: it is not known.
	Payment string
	// Checkout is the provider's id of the checkout. A payment that was proved by that alone had it as its reference.
	Checkout string
	// Amount is in minor units: of the payment; of a refund or dispute what it took, or what came again of it, in total. Nil: it is not known.
	Amount   *int64
	Currency string
	// Refunded is how much of the payment has gone back by then, of all refunds together. Nil: it is not known.
	Refunded *int64
	// Status is what the provider calls the state of the refund or dispute.
	Status string
	// OccurredAt is when it happened, as the provider says, and EvidenceDueAt until when it takes evidence. Zero: it does not say.
	OccurredAt    time.Time
	EvidenceDueAt time.Time
}

// LedgerOptions are those of Ledger.
type LedgerOptions struct {
	// Consumer is 1 to 64 characters of a-z, 0-9, _ and -. The database keeps how far it has read.
	Consumer string
}

// PaidOptions are those of Paid. Since: only what was proved then or later.
type PaidOptions struct {
	Subject string
	Item    string
	Since   time.Time
}

// Ticket is a cookie that says who the user of the browser is.
type Ticket struct {
	Name  string
	Value string
	// Header is the value of a Set-Cookie header.
	Header string
}

// ClaimOptions are those of Claim. The zero value claims an accept.
type ClaimOptions struct {
	Action Action
	// Reference is the payment to claim, also one that does not match. Empty is none, and then it is the oldest one that
	// matches: Go cannot tell an empty one that was given from one that was not. Node and Python refuse it.
	Reference string
	// Held claims a payment that is held, after the operator has decided.
	Held bool
	// Recheck and RecheckAfter are as those of LeaseOptions.
	Recheck      RecheckFunc
	RecheckAfter time.Duration
}

// LeaseOptions are those of BeginClaim.
type LeaseOptions struct {
	Reference string
	// Lease is renewed while the work is in progress: 30 seconds by default, from a second to an hour.
	Lease time.Duration
	// Wait is how long to wait while another call holds the lease.
	Wait time.Duration
	// ClaimID is a UUID that names this claim. Who begins again with the same one has the same claim.
	ClaimID string
	// AnyPayment is also one that does not match or is held, by its Reference: to deliver or refund what Unclaimed or Undelivered lists.
	AnyPayment bool
	// Recheck asks the provider before the claim begins, if an event has ever asked for that. If it fails, the claim does not begin.
	Recheck RecheckFunc
	// RecheckAfter is how old its last answer may be: a minute by default. Less than zero: each claim asks.
	RecheckAfter time.Duration
}

// ListOptions select payments and refunds. The zero value selects all.
type ListOptions struct {
	Provider string
	Since    time.Time
}

// PurgeOptions are those of Purge.
type PurgeOptions struct {
	// OlderThan is how long the data must have been purgeable: Config.Retention by default, a week at least.
	OlderThan time.Duration
	// Kind is oauth, payment, signature, input, approval, result or stored. Empty: all.
	Kind string
}

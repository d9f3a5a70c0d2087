// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"time"
)

// Expected is what must be paid.
type Expected struct {
	// Amount is in the minor units of ISO 4217, for every provider.
	Amount   int64
	Currency string // ISO 4217
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

// PaymentEntry is a payment in the provider's own record, which must name the elicitation or its checkout: otherwise it is not
// recorded.
type PaymentEntry struct {
	Reference string      // the provider's, of the payment
	Amount    int64       // in minor units
	Currency  string      // ISO 4217
	Status    EntryStatus // as the provider says it

	ElicitationID string // of which elicitation
	Checkout      string // the provider's id of the checkout
}

// RefundEntry is a refund or a dispute. Of [EntryPaid] it went back; of [EntryProcessing] it is going back, which counts as much;
// of the two others it has come again.
type RefundEntry struct {
	Reference string      // the provider's, of the refund
	Payment   string      // that of its payment
	Amount    int64       // in minor units
	Currency  string      // empty: that of the payment
	Status    EntryStatus // as the provider says it

	ElicitationID string // of which elicitation
	Checkout      string // the provider's id of the checkout
}

// ProvenPayment is a payment that a provider has proved.
type ProvenPayment struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	Owner         Owner  // whose it is
	Reference     string // the provider's, of the payment
	// Amount is in minor units.
	Amount   int64
	Currency string // ISO 4217
	// Matches means that it is what was expected. If not, no call is offered it: refund it.
	Matches bool
}

// UnclaimedPayment is a payment that no call has claimed.
type UnclaimedPayment struct {
	ProvenPayment
	// Item is what it is for; empty: the server did not say it.
	Item      string
	ResumeKey string // as in [Request]
	// Late means that it was proved after the elicitation had ended.
	Late     bool
	ProvenAt time.Time // when the provider has proved it
	// Refunded is how much of it went back, in minor units.
	Refunded int64
	// Held means that no call is offered it until the operator decides.
	Held bool
	// Result is nil if there is none, if it was purged, or if no key opens it.
	Result map[string]any
}

// UndeliveredClaim is a claim that was fulfilled and never confirmed.
type UndeliveredClaim struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	Kind          Kind   // of the elicitation
	Owner         Owner  // whose it is
	// Item is what it is for; empty: the server did not say it.
	Item      string
	ResumeKey string // as in [Request]
	// Reference is that of the payment, and empty where it is none.
	Reference string
	// Amount is in minor units.
	Amount      int64
	Currency    string    // ISO 4217
	FulfilledAt time.Time // when the server has done it
	// GivenAt is when another call was last given the result. Nil: no other call was.
	GivenAt *time.Time
	// HasResult means that the next call is given the result. Otherwise it does the work again.
	HasResult bool
	// Refunded is how much of it went back, in minor units.
	Refunded int64
	Held     bool // whether the operator must decide
}

// Entitlement is what a user may use because of a subscription.
type Entitlement struct {
	Item string // what was sold
	// Status is trialing, active or cancelled, which may be used; past_due, if a renewal was not paid; or ended, if it is over, or paused,
	// or what was paid last has gone back. A cancelled one is not renewed.
	Status EntitlementStatus
	// Entitled means that it may be used.
	Entitled bool
	// Paused means that it has ended until it is resumed.
	Paused bool
	// Until is the end of what was paid. It is zero if the provider has not said it yet.
	Until    time.Time
	Provider string // its name in the configuration
	// Account is the provider's, that the subscription is at, and Subscription the provider's id of it. Either may be empty.
	Account, Subscription string
	// ElicitationID is that with which it was opened.
	ElicitationID string
	OpenedAt      time.Time // when it began
	// ManageURL asks for the page where this user changes or cancels the subscription. Only the body of RequirePaid has it.
	ManageURL func(context.Context) (string, error) `json:"-"`
}

// Refund is a refund, a dispute or a cancelled authorisation.
type Refund struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	// Owner and ResumeKey are empty where the elicitation was purged.
	Owner     Owner
	Item      string // what it was for; empty: the server did not say it
	ResumeKey string
	// Reference is the provider's, of the refund; that of the payment where the provider tells the total that went back.
	Reference string
	// Amount is nil for all of a payment that is not known.
	Amount   *int64
	Currency string // ISO 4217
	// Reversed is how much of it came again: the refund failed, or the dispute was won.
	Reversed   int64
	ReceivedAt time.Time // when it was first heard of
	ChangedAt  time.Time // when it last changed
	// Payment is nil if the provider did not say of which payment. Then those of the elicitation are held.
	Payment *RefundedPayment
}

// RefundedPayment is the payment of a Refund.
type RefundedPayment struct {
	Reference string // the provider's, of the payment
	Amount    int64  // in minor units
	// Refunded is how much of it has gone back, in all.
	Refunded int64
	Held     bool // whether the operator must decide
	Claimed  bool // whether a call has claimed it
}

// LedgerEntry is something that became of money.
type LedgerEntry struct {
	// Number is its place in the order. After a failover that has lost commits, numbers are given again.
	Number    int64
	Type      LedgerType // a payment, a refund and so on
	EnteredAt time.Time  // when it was entered
	// Kind is what Reference names: payment, refund, dispute or cancellation.
	Kind     string
	Provider string // its name in the configuration
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
	Currency string // ISO 4217
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
	Subject string // the user
	Item    string // what was sold, as Create was told
	Since   time.Time
	// Delivered: only what a call has claimed and delivered, so that the next call claims what no call has.
	Delivered bool
}

// ListOptions select payments and refunds. The zero value selects all.
type ListOptions struct {
	Provider string    // only of this one, if it is not empty
	Since    time.Time // only what was entered then or later
}

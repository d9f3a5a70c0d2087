// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// hasItem tells whether something is bought or signed.
func (k Kind) hasItem() bool { return k == Payment || k == Signature }

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
	// one more, with its configuration, BeforeConnect and AfterConnect. NeverCancel has to have seen its configuration.
	Pool *pgxpool.Pool
	// KeysFile is the name of the keys file, which is read again when it changes.
	KeysFile string
	// Keys is the content of a keys file.
	Keys string
	// BaseURL is the origin of the callback programs: scheme, host and port.
	BaseURL string
	// Name is the MCP server's name on the pages, by default the host of BaseURL. At most 200 bytes.
	Name string
	// Tenant is one of several MCP servers that share a database: at most 64 of a-z, 0-9, _ and -, empty by default. Nothing of
	// another tenant is seen.
	Tenant string
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
	// Descriptions has the shipped description of each provider whose name is another one: {"acme": "stripe"}. Target is
	// given Amount by it.
	Descriptions map[string]string
	// OnEvent is told what becomes of elicitations, with the context of the call that has made or seen the change, for an audit log or the span
	// of that call. It must return soon, and not close the instance. Several goroutines may call it at the same time.
	OnEvent func(context.Context, Event)
	// Logger gets problems that make no call fail, with an attribute "code". slog.Default by default.
	Logger *slog.Logger
}

// CallbackURLs are what a target URL may contain.
type CallbackURLs struct {
	ElicitationID string // of which elicitation
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
	URL string // the address
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
	RequestOptions
	// CannotRecheck means that the waits have no Recheck, so a payment that needs one is not resumed.
	CannotRecheck bool
}

// RequestOptions are what every request may have: [Request], [InputRequest], [ApprovalRequest] and [ConnectRequest].
type RequestOptions struct {
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
}

// Elicitation is what Create has created or found.
type Elicitation struct {
	CallbackURLs
	// URL is what is elicited.
	URL       string
	ExpiresAt time.Time // when its link expires
	// Resumed means that it existed before, see Request.ResumeKey.
	Resumed bool
}

// Outcome is how an elicitation has ended.
type Outcome struct {
	ElicitationID string // of which elicitation
	Action        Action // how it ended
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
	// Amount is how much was paid, in minor units of Currency, and Tax how much of it is tax; nil if no event has said it. They
	// are those of Reference.
	Amount   int64
	Currency string
	Tax      *int64
	// Expected is, of a payment, the price that was asked.
	Expected Expected
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
	DecidedAt time.Time // when they have decided
	// SignedInAt is when the approver has signed in for an approval with StepUp, and SignedInBy how, in the words of the OpenID
	// provider: its amr, separated by spaces, or its acr.
	SignedInAt time.Time
	SignedInBy string
}

// String leaves out what is secret.
func (o Outcome) String() string {
	return fmt.Sprintf("%s: %s %s", o.ElicitationID, o.Action, o.Reason)
}

// GoString leaves out what is secret.
func (o Outcome) GoString() string { return o.String() }

// Answer is how an elicitation has ended, as this server has learned it in another way than from the programs.
type Answer struct {
	Action Action // how it ends
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

	events *waitEvents // nil without Config.OnEvent
}

// ClaimOptions are those of Claim. The zero value claims an accept.
type ClaimOptions struct {
	Action Action // with which it must have ended: accept by default
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
	// Fence is that of a claim that Hold has kept, to go on with it: if another call has begun since, this one begins as any other.
	Fence int64
	// AnyPayment is also one that does not match or is held, by its Reference: to deliver or refund what Unclaimed or Undelivered lists.
	AnyPayment bool
	// Recheck asks the provider before the claim begins, if an event has ever asked for that. If it fails, the claim does not begin.
	Recheck RecheckFunc
	// RecheckAfter is how old its last answer may be: a minute by default. Less than zero: each claim asks.
	RecheckAfter time.Duration
}

// RecheckFunc asks a provider about an event that proves nothing. Nil: there is nothing yet. Without an answer within a minute it has
// failed, and its context ends, as with that of the claim that asks.
type RecheckFunc = func(context.Context, Recheck) (*Answer, error)

// Recheck is an event that proves nothing. Its sender chose the references.
type Recheck struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	Type          string // of the elicitation
	// References are what events have named; the last one is the newest.
	References []string
	Expected   Expected // the price that was asked
	// Checkout is the provider's id of the checkout that Target has returned.
	Checkout string
}

// Ticket is a cookie that says who the user of the browser is.
type Ticket struct {
	Name  string // of the cookie
	Value string // of the cookie
	// Header is the value of a Set-Cookie header.
	Header string
}

// PurgeOptions are those of Purge.
type PurgeOptions struct {
	// OlderThan is how long the data must have been purgeable: Config.Retention by default, a week at least.
	OlderThan time.Duration
	// Kind is oauth, payment, signature, input, approval, result or stored. Empty: all.
	Kind string
}

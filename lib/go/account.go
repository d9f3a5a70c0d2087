// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"time"

	"urlmode.example/urlmode/internal/texts"
)

// What the vault (package vault, a module of its own) and the adapters say of accounts.

// AccountRequest selects an account of the vault. Subject and Provider are required.
type AccountRequest struct {
	Subject  string
	Provider string
	// Account is the provider's id of it: by default the one that was connected last.
	Account string
	// ValidFor is how long its token must still be valid: a day at most, and never more than half the time that the provider gives
	// its tokens. Without it, a token that is valid is given at once.
	ValidFor time.Duration
	// Refused is an access token that the provider's API has refused, as with status 401. If it is the stored one, it is
	// refreshed, once.
	Refused string
}

// AccessToken is a token that is valid, for this server only: never send it to the MCP client.
type AccessToken struct {
	Token string // for this server only: never send it to the client
	// Type is how it is sent, such as bearer.
	Type    string
	Account string // the provider's id of it
	// Scopes are those that were granted, as the provider says it, and Requested those that the user was asked for.
	Scopes    []string
	Requested []string
	// ExpiresAt is zero if the provider does not say it.
	ExpiresAt time.Time
}

// String leaves out the token.
func (t AccessToken) String() string { return "a token of the account " + t.Account }

// GoString leaves out the token.
func (t AccessToken) GoString() string { return t.String() }

// AccountState is that of an account.
type AccountState string

// The states. The tokens of an account that is AccountReconnect are not good any more: its user has to connect it again.
const (
	AccountConnected AccountState = "connected"
	AccountReconnect AccountState = "reconnect"
)

// Account is one of the vault, without its tokens.
type Account struct {
	Provider string // its name in the configuration
	Account  string
	State    AccountState // connected, or reconnect
	// Reason is why it must be connected again; empty while it is connected.
	Reason      string
	Scopes      []string  // that were granted
	Requested   []string  // the scopes that were asked for
	ConnectedAt time.Time // when the user has connected it
	RefreshedAt time.Time // when its tokens were last renewed
	// ExpiresAt is that of the access token: zero if the provider does not say it.
	ExpiresAt time.Time
}

// ConnectRequest is what a user is asked to connect. Provider and Owner are required.
type ConnectRequest struct {
	Provider string
	Owner    Owner
	// Account is the provider's id of the one that is needed. If the user connects another, that is stored as well.
	Account string
	// Scopes are asked for, and RequiredScopes must be granted: those of the vault if they are nil.
	Scopes         []string
	RequiredScopes []string
	// Variables and Parameters are added to those of the vault.
	Variables  map[string]string
	Parameters map[string]string
	RequestOptions
}

// Connecting connects one account, of an elicitation that its Request creates.
type Connecting interface {
	// Request is that of Create.
	Request() Request
	// Exchange exchanges the code of an accept for tokens, and stores them. The caller has claimed the outcome, and is the only one.
	// The end of the context ends the call, and not the exchange. The id of the account, or a *NotConnectedError.
	Exchange(ctx context.Context, outcome Outcome, returnURL string) (account string, err error)
	// Await waits for the exchange of another call. The reason why the account is not connected: empty if it is. It is not known
	// if that call has not said it in time. ErrOpen: no call exchanges the code, because the one that had claimed the outcome has
	// given it back, so that it can be claimed again.
	Await(ctx context.Context, elicitationID string) (reason string, isKnown bool, err error)
}

// AccountError is an error about an account: its Code is ErrAccountNotConnected, ErrAccountReconnect, ErrAccountUnavailable,
// ErrAccountSeal, ErrAccountSize or ErrProviderUnavailable.
type AccountError struct {
	Code     Code
	Provider string // of the account
	// Account is empty if the error is not about one account.
	Account string
	// Reason is a code, without a secret. Of ErrAccountReconnect it is one of these:
	//   - invalid_grant, or another code of the provider;
	//   - expired: there is no refresh token;
	//   - refused: the provider's API has refused a token that is new, or that cannot be refreshed;
	//   - refresh_lost: two answers did not arrive;
	//   - not_stored: the provider has replaced the refresh token, and what it gave cannot be stored.
	Reason string
}

func (e *AccountError) Error() string {
	switch e.Code {
	case ErrAccountNotConnected:
		return accountNotConnectedText(e.Provider)
	case ErrAccountReconnect:
		return accountReconnectText(e.Provider, e.Reason)
	case ErrAccountUnavailable:
		return accountUnavailableText(e.Provider, e.Reason)
	case ErrAccountSeal:
		return accountSealText(e.Provider, e.Reason)
	case ErrAccountSize:
		return accountSizeText(e.Provider)
	}
	return providerUnavailableText(e.Provider, e.Reason)
}

// Unwrap returns an *Error, which unwraps to the Code.
func (e *AccountError) Unwrap() error { return &Error{Code: e.Code, reason: e.Error()} }

// NotConnectedError is why an elicitation has connected no account. It is an outcome, and no mistake of a call.
type NotConnectedError struct {
	Action Action // why: how the elicitation ended
	// Reason is that of the outcome, or exchange_refused, exchange_failed, scope_missing, issuer_missing, issuer_mismatch or other_account.
	Reason string
	// Detail is for people, without a secret. It may be empty.
	Detail string
}

func (e *NotConnectedError) Error() string {
	said := fmt.Sprintf("no account was connected: %s, %s", e.Action, e.Reason)
	if e.Detail != "" {
		said += " (" + e.Detail + ")"
	}
	return said
}

// UnclaimedPaymentsError is an ErrUnclaimedPayments: claim or refund its Payments first.
type UnclaimedPaymentsError struct{ Payments []UnclaimedReference }

func (e *UnclaimedPaymentsError) Error() string {
	return fmt.Sprintf(texts.UnclaimedPayments, len(e.Payments))
}

// Unwrap returns an *Error, which unwraps to the Code.
func (e *UnclaimedPaymentsError) Unwrap() error {
	return &Error{Code: ErrUnclaimedPayments, reason: e.Error()}
}

// UnclaimedReference is a payment that nobody has claimed.
type UnclaimedReference struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	Reference     string // the provider's, of the payment
	// Amount is in minor units.
	Amount   int64
	Currency string // ISO 4217
}

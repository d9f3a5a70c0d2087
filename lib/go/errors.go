// SPDX-License-Identifier: MIT

package urlmode

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Code is the kind of an [Error], for errors.Is. It is the same in every language
// and does not change between versions. The message may.
type Code string

// Error makes a Code an error, so that errors.Is can be asked for it.
func (c Code) Error() string { return string(c) }

const (
	// ErrArgument is a mistake in a call. The message names the argument.
	ErrArgument Code = "ARGUMENT"
	// ErrTimeout: the elicitation was not completed before the deadline of the
	// context, or at all if the wait looks once. It stays open. Error.Status is the last status that was seen.
	ErrTimeout Code = "ELICITATION_TIMEOUT"
	// ErrNotFound: the elicitation does not exist, or belongs to another owner.
	ErrNotFound Code = "ELICITATION_NOT_FOUND"
	// ErrExists: Create was called with an id that is in use.
	ErrExists Code = "ELICITATION_EXISTS"
	// ErrLimit: this owner has as many open elicitations as one may have, and has opened all of them.
	ErrLimit Code = "ELICITATION_LIMIT"
	// ErrOpen: what was to be claimed is not completed, perhaps again after a failover. Wait for it.
	ErrOpen Code = "ELICITATION_OPEN"
	// ErrMismatch: the payment that was reported is not what the elicitation expects. Nothing was changed.
	ErrMismatch Code = "ELICITATION_MISMATCH"
	// ErrReference: the payment that was reported has paid for another elicitation. Nothing was changed.
	ErrReference Code = "ELICITATION_REFERENCE"
	// ErrSeal: a sealed value cannot be opened. Its key is not in the keys file, or it was changed.
	ErrSeal Code = "ELICITATION_SEAL"
	// ErrClaimLost: the lease of a claim has ended, and another call may have begun.
	ErrClaimLost Code = "CLAIM_LOST"
	// ErrBusy: PostgreSQL is too slow for the number of calls. This call has changed nothing.
	ErrBusy Code = "URLMODE_BUSY"
	// ErrRequestState: a requestState was changed, has expired (then it is ErrExpired as well), or is of another
	// user or request. The client has to call the tool again without it.
	ErrRequestState Code = "REQUEST_STATE"
	// ErrClientGone: the MCP client of a call has closed its session or connection. What was asked for stays open.
	ErrClientGone Code = "ELICITATION_CLIENT_GONE"
	// ErrClosed: Close was called.
	ErrClosed Code = "URLMODE_CLOSED"
	// ErrKeysFile: the keys file is not acceptable. The message has its name and the reason.
	ErrKeysFile Code = "URLMODE_KEYS_FILE"
	// ErrProviderUnavailable: the metadata of a provider, which are needed to connect an account, cannot be read.
	ErrProviderUnavailable Code = "PROVIDER_UNAVAILABLE"
	// ErrAccountNotConnected: the user has connected no account at this provider, or not this one.
	ErrAccountNotConnected Code = "ACCOUNT_NOT_CONNECTED"
	// ErrAccountReconnect: the account must be connected again by its user.
	ErrAccountReconnect Code = "ACCOUNT_RECONNECT"
	// ErrAccountUnavailable: the access token has expired, and the provider cannot refresh it just now.
	ErrAccountUnavailable Code = "ACCOUNT_UNAVAILABLE"
	// ErrAccountSeal: the tokens of an account cannot be opened.
	ErrAccountSeal Code = "ACCOUNT_SEAL"
	// ErrAccountSize: the provider has answered with more than can be kept of an account.
	ErrAccountSize Code = "ACCOUNT_SIZE"
	// ErrUnclaimedPayments: a user cannot be forgotten while payments are unclaimed. Nothing was deleted.
	ErrUnclaimedPayments Code = "UNCLAIMED_PAYMENTS"
)

// ErrExpired is what an ErrRequestState is that was valid once.
var ErrExpired = errors.New("it has expired")

// Error is every error that this package makes itself. Errors of PostgreSQL are
// those of pgx, without the details that quote a row. No error contains a key, a
// token, a result or a password.
type Error struct {
	Code Code
	// ElicitationID is empty if the error is not about one elicitation.
	ElicitationID string
	// Status is that of ErrTimeout.
	Status Status

	reason string
	cause  error
}

func (e *Error) Error() string { return e.reason }

// Unwrap returns the code; and context.DeadlineExceeded if a deadline has passed, or ErrExpired.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Code, e.cause}
	}
	return []error{e.Code}
}

func requestStateError(isExpired bool) error {
	what, cause := "does not belong to this call", error(nil)
	if isExpired {
		what, cause = "has expired", ErrExpired
	}
	return &Error{Code: ErrRequestState, cause: cause, reason: "The requestState " + what + ". Call the tool again without requestState and " +
		"inputResponses: that goes on with what the user has begun, or asks again."}
}

// ClientGone is an ErrClientGone about an elicitation, for an adapter.
func ClientGone(id string) error {
	return about(ErrClientGone, id, "the MCP client of elicitation %s has closed its session or connection")
}

// RequestStateGone is an ErrRequestState for an adapter: the row of its elicitation was deleted.
func RequestStateGone() error { return requestStateError(true) }

func argumentError(format string, values ...any) error {
	return &Error{Code: ErrArgument, reason: fmt.Sprintf(format, values...)}
}

func notFound(id string) error {
	return about(ErrNotFound, id, "elicitation %s does not exist for this subject and session")
}

func errorClosed() error {
	return &Error{Code: ErrClosed, reason: "this instance is closed"}
}

func busy(why string) error {
	return &Error{Code: ErrBusy, reason: fmt.Sprintf("PostgreSQL answers too slowly: %s. Nothing was changed", why)}
}

// about makes an error about one elicitation, whose id is the first value of format.
func about(code Code, id, format string, values ...any) error {
	return &Error{Code: code, ElicitationID: id, reason: fmt.Sprintf(format, append([]any{id}, values...)...)}
}

func timedOut(id string, status Status, cause error) error {
	when := "was not completed in time"
	if cause == nil {
		when = "is not completed yet"
	}
	return &Error{
		Code: ErrTimeout, ElicitationID: id, Status: status, cause: cause,
		reason: fmt.Sprintf("elicitation %s %s", id, when),
	}
}

// sqlstate is empty if the error is not one of the server.
func sqlstate(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// isRefusal: a privilege or a migration is missing, so the server would refuse the statement again.
func isRefusal(err error) bool {
	state := sqlstate(err)
	return len(state) == 5 && (state[:2] == "42" || state[:2] == "3F")
}

// withoutDetail removes what may quote a row: the detail of a failed check contains all of it.
func withoutDetail(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	plain := *refused
	plain.Detail, plain.Where, plain.InternalQuery = "", "", ""
	return &plain
}

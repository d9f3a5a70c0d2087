// SPDX-License-Identifier: MIT

package urlmode

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/statements"
	"urlmode.example/urlmode/internal/texts"
)

// Code is the kind of an [Error], for errors.Is. It is the same in every language
// and does not change between versions. The message may.
type Code string

// Error makes a Code an error, so that errors.Is can be asked for it.
func (c Code) Error() string { return string(c) }

// ErrExpired is what an ErrRequestState is that was valid once.
var ErrExpired = errors.New("it has expired")

// Error is every error that the packages of urlmode make themselves, for [errors.As]; an [AccountError] and an [UnclaimedPaymentsError] unwrap to one.
// What a function of the caller has returned, or panicked with, is wrapped as it is. Errors of PostgreSQL are
// those of pgx, without the details that quote a row. No error contains a key, a
// token, a result or a password.
type Error struct {
	Code Code // one of the contract's words
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
	if isExpired {
		return &Error{Code: ErrRequestState, cause: ErrExpired, reason: fmt.Sprintf(texts.RequestState, texts.RequestStateExpired)}
	}
	return &Error{Code: ErrRequestState, reason: fmt.Sprintf(texts.RequestState, texts.RequestStateForeign)}
}

// unavailable is an ErrUnavailable. It does not unwrap to the deadline that has passed, which is not the caller's.
func unavailable(why string) error {
	return &Error{Code: ErrUnavailable, reason: fmt.Sprintf(texts.Unavailable, why)}
}

// ClientGone is an ErrClientGone about an elicitation, for an adapter.
func ClientGone(id string) error { return errorClientGone(id) }

// RequestStateGone is an ErrRequestState for an adapter: the row of its elicitation was deleted.
func RequestStateGone() error { return requestStateError(true) }

func argumentError(format string, values ...any) error {
	return &Error{Code: ErrArgument, reason: fmt.Sprintf(format, values...)}
}

// Failure makes an Error, for the packages of this repository alone. The cause may be nil.
func Failure(_ internals.Permit, code Code, reason string, cause error) error {
	return &Error{Code: code, reason: reason, cause: cause}
}

// unexpected is about an answer of PostgreSQL that no version of its functions gives.
func unexpected(what string) error {
	return &Error{Code: ErrUnavailable, reason: "PostgreSQL has answered with " + what}
}

func timedOut(id string, status Status, cause error) error {
	reason := fmt.Sprintf(texts.TimedOut, id, "in time")
	if cause == nil {
		reason = fmt.Sprintf(texts.OpenStill, id)
	}
	return &Error{Code: ErrTimeout, ElicitationID: id, Status: status, cause: cause, reason: reason}
}

// sqlstate is empty if the error is not one of the server.
func sqlstate(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// isRefusal reports whether a privilege or a migration is missing, or a limit is reached, so that the server would refuse the statement again.
func isRefusal(err error) bool {
	state := sqlstate(err)
	return len(state) == 5 && slices.Contains(refusalClasses, state[:2])
}

// isRefusedChange reports whether the server would refuse a change again: as isRefusal, but for the queue of notifications, which
// empties by itself.
func isRefusedChange(err error) bool {
	return isRefusal(err) && sqlstate(err) != statements.ProgramLimitExceeded
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

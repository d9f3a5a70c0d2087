// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type newRow struct {
	rowKey
	provider  string
	kind      Kind
	subject   string
	session   string
	requester string
	// not of a form
	targetURL string
	expected  string
	// sealed
	verifier  []byte
	ttlMs     int64
	exclusive bool
	// of the caller
	resumeKey string
	// whether the call can answer a recheck
	canRecheck bool
	// digest of the request
	request []byte
	// the provider's id of the checkout
	checkout string
	// of the MCP client
	clientID string
	// of the key that mints its link
	linkKid int16
	// sealed
	form []byte
	// who may decide: empty is the subject, none is anybody else
	approvers string
	// the time limit of `verify`, if there is one
	verifyMs *int
	// the trace of the call
	traceparent string
	// empty: none
	tenant string
	// what a payment or signature is for
	item string
}

type created struct {
	expiresAt *time.Time
	outcome   string
}

var sqlCreateElicitation = internals.StatementOf(
	`SELECT expires_at, outcome FROM urlmode.create_elicitation($1::text[]::uuid[], $2::text[], $3::text[], $4::text[], $5::text[],
		$6::bytea[], $7::text[], $8::text[], $9::text[]::jsonb[], $10::bytea[], $11::bigint[], $12::boolean[], $13::text[],
		$14::boolean[], $15::bytea[], $16::text[], $17::text[], $18::smallint[], $19::bytea[], $20::text[]::jsonb[],
		$21::bigint[]::integer[], $22::text[], $23::text[], $24::text[])`,
	func(all []newRow) []any {
		return []any{
			column(all, func(r newRow) string { return r.id }),
			column(all, func(r newRow) string { return r.provider }),
			column(all, func(r newRow) string { return string(r.kind) }),
			column(all, func(r newRow) string { return r.subject }),
			column(all, func(r newRow) string { return r.session }),
			column(all, func(r newRow) []byte { return r.binding[:] }),
			column(all, func(r newRow) string { return r.requester }),
			column(all, func(r newRow) *string { return orNull(r.targetURL) }),
			column(all, func(r newRow) *string { return orNull(r.expected) }),
			column(all, func(r newRow) []byte { return r.verifier }),
			column(all, func(r newRow) int64 { return r.ttlMs }),
			column(all, func(r newRow) bool { return r.exclusive }),
			column(all, func(r newRow) *string { return orNull(r.resumeKey) }),
			column(all, func(r newRow) bool { return r.canRecheck }),
			column(all, func(r newRow) []byte { return r.request }),
			column(all, func(r newRow) *string { return orNull(r.checkout) }),
			column(all, func(r newRow) *string { return orNull(r.clientID) }),
			column(all, func(r newRow) int16 { return r.linkKid }),
			column(all, func(r newRow) []byte { return r.form }),
			column(all, func(r newRow) *string { return orNull(r.approvers) }),
			column(all, func(r newRow) *int { return r.verifyMs }),
			column(all, func(r newRow) *string { return orNull(r.traceparent) }),
			column(all, func(r newRow) string { return r.tenant }),
			column(all, func(r newRow) *string { return orNull(r.item) }),
		}
	},
	func(from pgx.CollectableRow) (r created, err error) {
		err = from.Scan(&r.expiresAt, &r.outcome)
		return r, err
	},
)

type resuming struct {
	binding  []byte
	provider string
	kind     Kind
	// of a request without an item
	resumeKey  string
	canRecheck bool
	// digest of the request
	request []byte
	// what a payment or signature is for
	item     string
	expected string
	// the digest that a package without items has made of it
	earlierRequest []byte
}

type resumedRow struct {
	// empty: there is none
	id        string
	provider  string
	kind      Kind
	status    string
	expiresAt *time.Time
	// negative if it has expired
	expiresInMs int64
	// of the key that has minted its link
	linkKid *int16
}

var sqlResumeFor = internals.ReadingOf(
	`SELECT coalesce(id::text, ''), coalesce(provider, ''), coalesce(kind, ''), coalesce(status, ''), expires_at,
		coalesce(expires_in_ms, 0), link_kid FROM urlmode.resume_for($1::bytea[], $2::text[], $3::text[], $4::text[], $5::boolean[],
		$6::bytea[], $7::text[], $8::text[]::jsonb[], $9::bytea[])`,
	func(all []resuming) []any {
		return []any{
			column(all, func(r resuming) []byte { return r.binding }),
			column(all, func(r resuming) string { return r.provider }),
			column(all, func(r resuming) string { return string(r.kind) }),
			column(all, func(r resuming) *string { return orNull(r.resumeKey) }),
			column(all, func(r resuming) bool { return r.canRecheck }),
			column(all, func(r resuming) []byte { return r.request }),
			column(all, func(r resuming) *string { return orNull(r.item) }),
			column(all, func(r resuming) *string { return orNull(r.expected) }),
			column(all, func(r resuming) []byte { return r.earlierRequest }),
		}
	},
	func(from pgx.CollectableRow) (r resumedRow, err error) {
		err = from.Scan(&r.id, &r.provider, &r.kind, &r.status, &r.expiresAt, &r.expiresInMs, &r.linkKid)
		return r, err
	},
)

type row struct {
	id       string
	provider string
	kind     Kind
	status   Status
	action   Action
	reason   string
	// whether a payment was proved after the end, which makes the action accept
	late bool
	// sealed
	result []byte
	// sealed
	verifier []byte
	// by PostgreSQL's clock; negative if it may be expired
	closesInMs int64
	// the price that was asked
	expected string
	// how many attempts to pay have failed, or how many problems `verify` has found
	failedAttempts int
	// the status that a cancellation by an MCP server has interrupted
	completedFrom Status
	// how many events have required a recheck
	rechecks int
	// how many of them were answered
	rechecked int
	// for how long nobody may begin a recheck; zero or negative: now
	recheckInMs int64
	// of the payment that is the outcome
	paymentReference string
	// how much of it went back, in minor units
	refunded int64
	// whether it was paid, and the operator must decide, because a part of it may have gone back
	held bool
	// of that payment, in minor units
	amount   int64
	currency string
	// how much of it is tax; nil: nobody has said it
	tax *int64
}

var sqlReadPaid = internals.ReadingOf(
	`SELECT id::text, provider, kind, status, coalesce(action, ''), reason, late, result, verifier, closes_in_ms,
		coalesce(expected::text, ''), failed_attempts, coalesce(completed_from, ''), rechecks, rechecked, coalesce(recheck_in_ms, 0),
		coalesce(payment_reference, ''), refunded, held, coalesce(amount, 0), coalesce(currency, ''), tax FROM
		urlmode.read_paid($1::text[]::uuid[], $2::bytea[])`,
	func(all []rowKey) []any {
		return []any{
			column(all, func(r rowKey) string { return r.id }),
			column(all, func(r rowKey) []byte { return r.binding[:] }),
		}
	},
	func(from pgx.CollectableRow) (r row, err error) {
		err = from.Scan(&r.id, &r.provider, &r.kind, &r.status, &r.action, &r.reason, &r.late, &r.result, &r.verifier, &r.closesInMs,
			&r.expected, &r.failedAttempts, &r.completedFrom, &r.rechecks, &r.rechecked, &r.recheckInMs, &r.paymentReference,
			&r.refunded, &r.held, &r.amount, &r.currency, &r.tax)
		return r, err
	},
)

type abandoned struct {
	rowKey
	action Action
	reason string
}

var sqlAbandon = internals.StatementOf(
	`SELECT outcome FROM urlmode.abandon($1::text[]::uuid[], $2::bytea[], $3::text[], $4::text[])`,
	func(all []abandoned) []any {
		return []any{
			column(all, func(r abandoned) string { return r.id }),
			column(all, func(r abandoned) []byte { return r.binding[:] }),
			column(all, func(r abandoned) string { return string(r.action) }),
			column(all, func(r abandoned) string { return r.reason }),
		}
	},
	pgx.RowTo[string],
)

var sqlExpire = internals.StatementOf(
	`SELECT urlmode.expire($1::text[]::uuid[], $2::bytea[])`,
	func(all []rowKey) []any {
		return []any{
			column(all, func(r rowKey) string { return r.id }),
			column(all, func(r rowKey) []byte { return r.binding[:] }),
		}
	},
	internals.Nothing,
)

type beginAskValues struct {
	rowKey
	// digest of its name and version
	client []byte
	// whether its answer comes with its next call
	awaited bool
}

var sqlBeginAsk = internals.StatementOf(
	`SELECT urlmode.begin_ask($1::text::uuid, $2::bytea, $3::bytea, $4::boolean)`,
	func(of beginAskValues) []any {
		return []any{of.id, of.binding[:], of.client, of.awaited}
	},
	pgx.RowTo[string],
)

type endAskValues struct {
	rowKey
	// digest of its name and version
	client []byte
	answer string
}

var sqlEndAsk = internals.StatementOf(
	`SELECT urlmode.end_ask($1::text::uuid, $2::bytea, $3::bytea, $4::text)`,
	func(of endAskValues) []any {
		return []any{of.id, of.binding[:], of.client, of.answer}
	},
	internals.Nothing,
)

type markReadValues struct {
	all []rowKey
	// from now until the results are purged
	keepMs int64
}

var sqlMarkRead = internals.StatementOf(
	`SELECT urlmode.mark_read($1::text[]::uuid[], $2::bytea[], $3::bigint)`,
	func(of markReadValues) []any {
		return []any{
			column(of.all, func(r rowKey) string { return r.id }),
			column(of.all, func(r rowKey) []byte { return r.binding[:] }),
			of.keepMs,
		}
	},
	internals.Nothing,
)

type settleValues struct {
	rowKey
	action Action
	reason string
	// sealed
	result    []byte
	amount    *int64
	currency  string
	reference string
}

var sqlSettle = internals.StatementOf(
	`SELECT urlmode.settle($1::text::uuid, $2::bytea, $3::text, $4::text, $5::bytea, $6::bigint, $7::text, $8::text)`,
	func(of settleValues) []any {
		return []any{
			of.id,
			of.binding[:],
			string(of.action),
			of.reason,
			of.result,
			of.amount,
			orNull(of.currency),
			orNull(of.reference),
		}
	},
	pgx.RowTo[string],
)

type takeCheckValues struct {
	rowKey
}

type takenCheck struct {
	// for the end of this check
	lease int
	// sealed
	result []byte
	// until the time limit
	leftMs int64
}

var sqlTakeCheck = internals.StatementOf(
	`SELECT lease, result, left_ms FROM urlmode.take_check($1::text::uuid, $2::bytea)`,
	func(of takeCheckValues) []any {
		return []any{of.id, of.binding[:]}
	},
	func(from pgx.CollectableRow) (r takenCheck, err error) {
		err = from.Scan(&r.lease, &r.result, &r.leftMs)
		return r, err
	},
)

type endCheckValues struct {
	rowKey
	lease int
	// sealed
	problem []byte
	// whether it is not known
	failed bool
}

var sqlEndCheck = internals.StatementOf(
	`SELECT urlmode.end_check($1::text::uuid, $2::bytea, $3::bigint::integer, $4::bytea, $5::boolean)`,
	func(of endCheckValues) []any {
		return []any{of.id, of.binding[:], of.lease, of.problem, of.failed}
	},
	pgx.RowTo[string],
)

type purgeResultsValues struct {
	// for which the result of a payment is kept until it is claimed
	keepUnclaimedMs int64
}

var sqlPurgeResults = internals.StatementOf(
	`SELECT urlmode.purge_results($1::bigint)`,
	func(of purgeResultsValues) []any {
		return []any{of.keepUnclaimedMs}
	},
	pgx.RowTo[int64],
)

type purgeValues struct {
	// for which it must have been purgeable
	keepMs int64
	// empty: everything
	kind string
}

var sqlPurge = internals.StatementOf(
	`SELECT urlmode.purge($1::bigint, $2::text)`,
	func(of purgeValues) []any {
		return []any{of.keepMs, orNull(of.kind)}
	},
	pgx.RowTo[int64],
)

type endExchangeValues struct {
	rowKey
	reason string
}

var sqlEndExchange = internals.StatementOf(
	`SELECT urlmode.end_exchange($1::text::uuid, $2::bytea, $3::text)`,
	func(of endExchangeValues) []any {
		return []any{of.id, of.binding[:], of.reason}
	},
	pgx.RowTo[bool],
)

type releaseUnsentValues struct {
	rowKey
	claimID string
}

var sqlReleaseUnsent = internals.StatementOf(
	`SELECT urlmode.release_unsent($1::text::uuid, $2::bytea, $3::text::uuid)`,
	func(of releaseUnsentValues) []any {
		return []any{of.id, of.binding[:], of.claimID}
	},
	pgx.RowTo[bool],
)

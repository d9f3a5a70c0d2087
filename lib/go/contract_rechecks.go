// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type beginRecheckValues struct {
	rowKey
	leaseMs int64
	// before a claim: how old the last answer may be; nil: only if an event asks
	maxAgeMs *int64
}

type takenRecheck struct {
	// for the end of this recheck
	lease     int
	rechecks  int
	eventType string
	// in the events that ask for a recheck, the last one last
	unprovenReferences []string
	provider           string
	expected           string
	// the provider's id of the checkout that was made
	checkout string
}

var sqlBeginRecheck = internals.StatementOf(
	`SELECT lease, rechecks, coalesce(event_type, ''), unproven_references, provider, coalesce(expected::text, ''),
		coalesce(checkout, '') FROM urlmode.begin_recheck($1::text::uuid, $2::bytea, $3::bigint, $4::bigint)`,
	func(of beginRecheckValues) []any {
		return []any{of.id, of.binding[:], of.leaseMs, of.maxAgeMs}
	},
	func(from pgx.CollectableRow) (r takenRecheck, err error) {
		err = from.Scan(&r.lease, &r.rechecks, &r.eventType, &r.unprovenReferences, &r.provider, &r.expected, &r.checkout)
		return r, err
	},
)

type beginRecheckOfValues struct {
	tenant string
	// names of those whose events can be answered, as JSON
	providers string
	leaseMs   int64
}

type dueRecheck struct {
	id      string
	binding []byte
	// for the end of this recheck
	lease     int
	rechecks  int
	eventType string
	// in the events that ask for a recheck, the last one last
	unprovenReferences []string
	provider           string
	expected           string
	// the provider's id of the checkout that was made
	checkout string
}

var sqlBeginRecheckOf = internals.StatementOf(
	`SELECT id::text, binding, lease, rechecks, coalesce(event_type, ''), unproven_references, provider, coalesce(expected::text,
		''), coalesce(checkout, '') FROM urlmode.begin_recheck_of($1::text, $2::text::jsonb, $3::bigint)`,
	func(of beginRecheckOfValues) []any {
		return []any{of.tenant, of.providers, of.leaseMs}
	},
	func(from pgx.CollectableRow) (r dueRecheck, err error) {
		err = from.Scan(&r.id, &r.binding, &r.lease, &r.rechecks, &r.eventType, &r.unprovenReferences, &r.provider, &r.expected,
			&r.checkout)
		return r, err
	},
)

type answerRecheckValues struct {
	rowKey
	lease    int
	rechecks int
	// entries of the answer, as JSON
	payments string
	// the same
	refunds string
}

var sqlAnswerRecheck = internals.StatementOf(
	`SELECT outcome FROM urlmode.answer_recheck($1::text::uuid, $2::bytea, $3::bigint::integer, $4::bigint::integer, $5::text::jsonb,
		$6::text::jsonb)`,
	func(of answerRecheckValues) []any {
		return []any{of.id, of.binding[:], of.lease, of.rechecks, of.payments, of.refunds}
	},
	pgx.RowTo[string],
)

type reconcileValues struct {
	provider string
	since    time.Time
	until    time.Time
	// entries, as JSON
	payments string
	// the same
	refunds string
	tenant  string
}

type reconciledRow struct {
	what      string
	kind      string
	reference string
	payment   string
	// of the payment
	elicitation string
	amount      int64
	currency    string
	// of the provider
	theirAmount   int64
	theirCurrency string
}

var sqlReconcile = internals.ReadingOf(
	`SELECT what, kind, reference, payment, elicitation::text, coalesce(amount, 0), coalesce(currency, ''), coalesce(their_amount,
		0), coalesce(their_currency, '') FROM urlmode.reconcile($1::text, $2::timestamptz, $3::timestamptz, $4::text::jsonb,
		$5::text::jsonb, $6::text)`,
	func(of reconcileValues) []any {
		return []any{of.provider, of.since, of.until, of.payments, of.refunds, of.tenant}
	},
	func(from pgx.CollectableRow) (r reconciledRow, err error) {
		err = from.Scan(&r.what, &r.kind, &r.reference, &r.payment, &r.elicitation, &r.amount, &r.currency, &r.theirAmount,
			&r.theirCurrency)
		return r, err
	},
)

type endRecheckValues struct {
	rowKey
	lease    int
	rechecks int
	// whether it has to be done again
	failed bool
}

var sqlEndRecheck = internals.StatementOf(
	`SELECT urlmode.end_recheck($1::text::uuid, $2::bytea, $3::bigint::integer, $4::bigint::integer, $5::boolean)`,
	func(of endRecheckValues) []any {
		return []any{of.id, of.binding[:], of.lease, of.rechecks, of.failed}
	},
	internals.Nothing,
)

// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type claimAtOnceValues struct {
	rowKey
	// of the payment to claim; empty: the oldest that matches
	reference string
	// for which the result of a payment is kept afterwards
	keepMs int64
	action Action
	// whether to claim it although a part of it may have gone back
	held bool
	// how old the last answer of a recheck may be; nil: the caller cannot ask
	recheckMs *int64
}

type claimedRow struct {
	outcome string
	// for how long nobody can ask the provider
	leasedMs int64
}

var sqlClaimAtOnce = internals.StatementOf(
	`SELECT outcome, coalesce(leased_ms, 0) FROM urlmode.claim_at_once($1::text::uuid, $2::bytea, $3::text, $4::bigint, $5::text,
		$6::boolean, $7::bigint)`,
	func(of claimAtOnceValues) []any {
		return []any{of.id, of.binding[:], orNull(of.reference), of.keepMs, string(of.action), of.held, of.recheckMs}
	},
	func(from pgx.CollectableRow) (r claimedRow, err error) {
		err = from.Scan(&r.outcome, &r.leasedMs)
		return r, err
	},
)

type unclaimedOfValues struct {
	tenant   string
	provider string
	since    *time.Time
	id       string
}

type unclaimedRow struct {
	elicitation  string
	providerName string
	reference    string
	amount       int64
	currency     string
	matches      bool
	late         bool
	provenAt     time.Time
	refunded     int64
	held         bool
	subject      string
	session      string
	binding      []byte
	resumeKey    string
	// sealed
	result []byte
	// what the payment is for
	item string
}

var sqlUnclaimedOf = internals.ReadingOf(
	`SELECT elicitation::text, provider_name, reference, amount, currency, matches, late, proven_at, refunded, held, subject,
		session, binding, coalesce(resume_key, ''), result, coalesce(item, '') FROM urlmode.unclaimed_of($1::text, $2::text,
		$3::timestamptz, $4::text::uuid)`,
	func(of unclaimedOfValues) []any {
		return []any{of.tenant, orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r unclaimedRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.reference, &r.amount, &r.currency, &r.matches, &r.late, &r.provenAt,
			&r.refunded, &r.held, &r.subject, &r.session, &r.binding, &r.resumeKey, &r.result, &r.item)
		return r, err
	},
)

type undeliveredOfValues struct {
	tenant   string
	provider string
	since    *time.Time
	id       string
}

type undeliveredRow struct {
	elicitation  string
	providerName string
	kind         Kind
	reference    string
	amount       int64
	currency     string
	fulfilledAt  time.Time
	givenAt      *time.Time
	// whether its result is still kept
	hasResult bool
	refunded  int64
	held      bool
	subject   string
	session   string
	resumeKey string
	// what the payment or signature is for
	item string
}

var sqlUndeliveredOf = internals.ReadingOf(
	`SELECT elicitation::text, provider_name, kind, coalesce(reference, ''), coalesce(amount, 0), coalesce(currency, ''),
		fulfilled_at, given_at, has_result, refunded, held, subject, session, coalesce(resume_key, ''), coalesce(item, '') FROM
		urlmode.undelivered_of($1::text, $2::text, $3::timestamptz, $4::text::uuid)`,
	func(of undeliveredOfValues) []any {
		return []any{of.tenant, orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r undeliveredRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.kind, &r.reference, &r.amount, &r.currency, &r.fulfilledAt, &r.givenAt,
			&r.hasResult, &r.refunded, &r.held, &r.subject, &r.session, &r.resumeKey, &r.item)
		return r, err
	},
)

type refundsWithItemValues struct {
	tenant   string
	provider string
	since    *time.Time
	id       string
}

type refundRow struct {
	elicitation  string
	providerName string
	reference    string
	amount       *int64
	currency     string
	reversed     int64
	receivedAt   time.Time
	changedAt    time.Time
	payment      string
	paid         int64
	refunded     int64
	held         bool
	claimed      bool
	subject      string
	session      string
	resumeKey    string
	// what the payment is for
	item string
}

var sqlRefundsWithItem = internals.ReadingOf(
	`SELECT elicitation::text, provider_name, reference, amount, coalesce(currency, ''), coalesce(reversed, 0), received_at,
		changed_at, coalesce(payment, ''), coalesce(paid, 0), coalesce(refunded, 0), coalesce(held, false), claimed, coalesce(subject,
		''), coalesce(session, ''), coalesce(resume_key, ''), coalesce(item, '') FROM urlmode.refunds_with_item($1::text, $2::text,
		$3::timestamptz, $4::text::uuid)`,
	func(of refundsWithItemValues) []any {
		return []any{of.tenant, orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r refundRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.reference, &r.amount, &r.currency, &r.reversed, &r.receivedAt, &r.changedAt,
			&r.payment, &r.paid, &r.refunded, &r.held, &r.claimed, &r.subject, &r.session, &r.resumeKey, &r.item)
		return r, err
	},
)

type paidValues struct {
	subject string
	item    string
	// when it was proved, or later
	since  *time.Time
	tenant string
}

var sqlPaid = internals.ReadingOf(
	`SELECT urlmode.paid($1::text, $2::text, $3::timestamptz, $4::text)`,
	func(of paidValues) []any {
		return []any{of.subject, of.item, of.since, of.tenant}
	},
	pgx.RowTo[bool],
)

type deliveredValues struct {
	subject string
	item    string
	// when it was proved, or later
	since  *time.Time
	tenant string
}

var sqlDelivered = internals.ReadingOf(
	`SELECT urlmode.delivered($1::text, $2::text, $3::timestamptz, $4::text)`,
	func(of deliveredValues) []any {
		return []any{of.subject, of.item, of.since, of.tenant}
	},
	pgx.RowTo[bool],
)

type entitlementsValues struct {
	tenant  string
	subject string
	item    string
}

type entitlementRow struct {
	itemName string
	status   string
	// the end of what was paid; nil: the provider has not said it yet
	until *time.Time
	// whether the status is one of the first three
	entitled bool
	// whether it has ended until it is resumed
	paused       bool
	provider     string
	account      string
	subscription string
	elicitation  string
	openedAt     time.Time
}

var sqlEntitlements = internals.ReadingOf(
	`SELECT item_name, status, until, entitled, paused, provider, account, coalesce(subscription, ''), elicitation::text, opened_at
		FROM urlmode.entitlements($1::text, $2::text, $3::text)`,
	func(of entitlementsValues) []any {
		return []any{of.tenant, of.subject, orNull(of.item)}
	},
	func(from pgx.CollectableRow) (r entitlementRow, err error) {
		err = from.Scan(&r.itemName, &r.status, &r.until, &r.entitled, &r.paused, &r.provider, &r.account, &r.subscription, &r.elicitation,
			&r.openedAt)
		return r, err
	},
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

type beginLeaseValues struct {
	rowKey
	reference string
	leaseMs   int64
	keepMs    int64
	claimID   string
	// whether it may be one that does not match, or is held
	anyPayment bool
	// how old the last answer of a recheck may be; nil: the caller cannot ask
	recheckMs *int64
}

type claimRow struct {
	outcome          string
	claimedReference string
	fence            int64
	fulfilled        []byte
	leasedMs         int64
}

var sqlBeginLease = internals.StatementOf(
	`SELECT outcome, coalesce(claimed_reference, ''), coalesce(fence, 0), fulfilled, coalesce(leased_ms, 0) FROM
		urlmode.begin_lease($1::text::uuid, $2::bytea, $3::text, $4::bigint, $5::bigint, $6::text::uuid, $7::boolean, $8::bigint)`,
	func(of beginLeaseValues) []any {
		return []any{
			of.id,
			of.binding[:],
			orNull(of.reference),
			of.leaseMs,
			of.keepMs,
			orNull(of.claimID),
			of.anyPayment,
			of.recheckMs,
		}
	},
	func(from pgx.CollectableRow) (r claimRow, err error) {
		err = from.Scan(&r.outcome, &r.claimedReference, &r.fence, &r.fulfilled, &r.leasedMs)
		return r, err
	},
)

type renewLeaseValues struct {
	rowKey
	fence   int64
	leaseMs int64
}

var sqlRenewLease = internals.StatementOf(
	`SELECT urlmode.renew_lease($1::text::uuid, $2::bytea, $3::bigint, $4::bigint)`,
	func(of renewLeaseValues) []any {
		return []any{of.id, of.binding[:], of.fence, of.leaseMs}
	},
	pgx.RowTo[string],
)

type continueLeaseValues struct {
	rowKey
	fence   int64
	leaseMs int64
}

type continuedRow struct {
	outcome          string
	claimedReference string
	nextFence        int64
}

var sqlContinueLease = internals.StatementOf(
	`SELECT outcome, coalesce(claimed_reference, ''), coalesce(next_fence, 0) FROM urlmode.continue_lease($1::text::uuid, $2::bytea,
		$3::bigint, $4::bigint)`,
	func(of continueLeaseValues) []any {
		return []any{of.id, of.binding[:], of.fence, of.leaseMs}
	},
	func(from pgx.CollectableRow) (r continuedRow, err error) {
		err = from.Scan(&r.outcome, &r.claimedReference, &r.nextFence)
		return r, err
	},
)

type fulfilLeaseValues struct {
	rowKey
	fence int64
	// sealed; nil where the claim has both ends at once
	fulfilled []byte
	claimEnd  string
	// the provider's reference of the refund
	refund string
	keepMs int64
}

var sqlFulfilLease = internals.StatementOf(
	`SELECT urlmode.fulfil_lease($1::text::uuid, $2::bytea, $3::bigint, $4::bytea, $5::text, $6::text, $7::bigint)`,
	func(of fulfilLeaseValues) []any {
		return []any{of.id, of.binding[:], of.fence, of.fulfilled, orNull(of.claimEnd), orNull(of.refund), of.keepMs}
	},
	pgx.RowTo[string],
)

type confirmClaimValues struct {
	rowKey
	fence  int64
	keepMs int64
}

var sqlConfirmClaim = internals.StatementOf(
	`SELECT urlmode.confirm_claim($1::text::uuid, $2::bytea, $3::bigint, $4::bigint)`,
	func(of confirmClaimValues) []any {
		return []any{of.id, of.binding[:], of.fence, of.keepMs}
	},
	pgx.RowTo[bool],
)

type releaseClaimValues struct {
	rowKey
	fence int64
}

var sqlReleaseClaim = internals.StatementOf(
	`SELECT urlmode.release_claim($1::text::uuid, $2::bytea, $3::bigint)`,
	func(of releaseClaimValues) []any {
		return []any{of.id, of.binding[:], of.fence}
	},
	pgx.RowTo[bool],
)

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
		$21::bigint[]::integer[], $22::text[], items => $23::text[])`,
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

var sqlResumeFor = internals.StatementOf(
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
}

var sqlRead = internals.StatementOf(
	`SELECT id::text, provider, kind, status, coalesce(action, ''), reason, late, result, verifier, closes_in_ms, failed_attempts,
		coalesce(completed_from, ''), rechecks, rechecked, coalesce(recheck_in_ms, 0), coalesce(payment_reference, ''), refunded, held
		FROM urlmode.read($1::text[]::uuid[], $2::bytea[])`,
	func(all []rowKey) []any {
		return []any{
			column(all, func(r rowKey) string { return r.id }),
			column(all, func(r rowKey) []byte { return r.binding[:] }),
		}
	},
	func(from pgx.CollectableRow) (r row, err error) {
		err = from.Scan(&r.id, &r.provider, &r.kind, &r.status, &r.action, &r.reason, &r.late, &r.result, &r.verifier, &r.closesInMs,
			&r.failedAttempts, &r.completedFrom, &r.rechecks, &r.rechecked, &r.recheckInMs, &r.paymentReference, &r.refunded,
			&r.held)
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

type claimValues struct {
	rowKey
	// of the payment to claim; empty: the oldest that matches
	reference string
	// for which the result of a payment is kept afterwards
	keepMs int64
	action Action
	// whether to claim it although a part of it may have gone back
	held bool
}

var sqlClaim = internals.StatementOf(
	`SELECT urlmode.claim($1::text::uuid, $2::bytea, $3::text, $4::bigint, $5::text, $6::boolean)`,
	func(of claimValues) []any {
		return []any{of.id, of.binding[:], orNull(of.reference), of.keepMs, string(of.action), of.held}
	},
	pgx.RowTo[string],
)

type unclaimedPaymentsValues struct {
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

var sqlUnclaimedPayments = internals.StatementOf(
	`SELECT elicitation::text, provider_name, reference, amount, currency, matches, late, proven_at, refunded, held, subject,
		session, binding, coalesce(resume_key, ''), result, coalesce(item, '') FROM urlmode.unclaimed_payments($1::text,
		$2::timestamptz, $3::text::uuid)`,
	func(of unclaimedPaymentsValues) []any {
		return []any{orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r unclaimedRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.reference, &r.amount, &r.currency, &r.matches, &r.late, &r.provenAt,
			&r.refunded, &r.held, &r.subject, &r.session, &r.binding, &r.resumeKey, &r.result, &r.item)
		return r, err
	},
)

type undeliveredValues struct {
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
}

var sqlUndelivered = internals.StatementOf(
	`SELECT elicitation::text, provider_name, kind, coalesce(reference, ''), coalesce(amount, 0), coalesce(currency, ''),
		fulfilled_at, given_at, has_result, refunded, held, subject, session, coalesce(resume_key, '') FROM
		urlmode.undelivered($1::text, $2::timestamptz, $3::text::uuid)`,
	func(of undeliveredValues) []any {
		return []any{orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r undeliveredRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.kind, &r.reference, &r.amount, &r.currency, &r.fulfilledAt, &r.givenAt,
			&r.hasResult, &r.refunded, &r.held, &r.subject, &r.session, &r.resumeKey)
		return r, err
	},
)

type refundsValues struct {
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
}

var sqlRefunds = internals.StatementOf(
	`SELECT elicitation::text, provider_name, reference, amount, coalesce(currency, ''), coalesce(reversed, 0), received_at,
		changed_at, coalesce(payment, ''), coalesce(paid, 0), coalesce(refunded, 0), coalesce(held, false), claimed, coalesce(subject,
		''), coalesce(session, ''), coalesce(resume_key, '') FROM urlmode.refunds($1::text, $2::timestamptz, $3::text::uuid)`,
	func(of refundsValues) []any {
		return []any{orNull(of.provider), of.since, orNull(of.id)}
	},
	func(from pgx.CollectableRow) (r refundRow, err error) {
		err = from.Scan(&r.elicitation, &r.providerName, &r.reference, &r.amount, &r.currency, &r.reversed, &r.receivedAt, &r.changedAt,
			&r.payment, &r.paid, &r.refunded, &r.held, &r.claimed, &r.subject, &r.session, &r.resumeKey)
		return r, err
	},
)

type beginLedgerValues struct {
	consumer string
	leaseMs  int64
}

type begunLedger struct {
	// for what follows; nil: another instance reads for this consumer
	lease *int64
	// how long that lease lasts at most
	waitMs int64
}

var sqlBeginLedger = internals.StatementOf(
	`SELECT lease, coalesce(wait_ms, 0) FROM urlmode.begin_ledger($1::text, $2::bigint)`,
	func(of beginLedgerValues) []any {
		return []any{of.consumer, of.leaseMs}
	},
	func(from pgx.CollectableRow) (r begunLedger, err error) {
		err = from.Scan(&r.lease, &r.waitMs)
		return r, err
	},
)

type readLedgerValues struct {
	consumer string
	lease    int64
	// entries, at most 100
	most int
}

type ledgerRow struct {
	number        int64
	enteredAt     time.Time
	entryType     LedgerType
	kind          string
	provider      string
	elicitation   string
	subject       string
	item          string
	payment       string
	checkout      string
	reference     string
	amount        *int64
	currency      string
	refunded      *int64
	status        string
	occurredAt    *time.Time
	evidenceDueAt *time.Time
}

var sqlReadLedger = internals.StatementOf(
	`SELECT number, entered_at, entry_type, kind, provider, coalesce(elicitation::text, ''), coalesce(subject, ''), coalesce(item,
		''), coalesce(payment, ''), coalesce(checkout, ''), coalesce(reference, ''), amount, coalesce(currency, ''), refunded,
		coalesce(status, ''), occurred_at, evidence_due_at FROM urlmode.read_ledger($1::text, $2::bigint, $3::bigint::integer)`,
	func(of readLedgerValues) []any {
		return []any{of.consumer, of.lease, of.most}
	},
	func(from pgx.CollectableRow) (r ledgerRow, err error) {
		err = from.Scan(&r.number, &r.enteredAt, &r.entryType, &r.kind, &r.provider, &r.elicitation, &r.subject, &r.item, &r.payment,
			&r.checkout, &r.reference, &r.amount, &r.currency, &r.refunded, &r.status, &r.occurredAt, &r.evidenceDueAt)
		return r, err
	},
)

type acknowledgeLedgerValues struct {
	consumer string
	lease    int64
	// of the entry that was dealt with; nil: the lease is renewed alone
	number  *int64
	leaseMs int64
}

var sqlAcknowledgeLedger = internals.StatementOf(
	`SELECT urlmode.acknowledge_ledger($1::text, $2::bigint, $3::bigint, $4::bigint)`,
	func(of acknowledgeLedgerValues) []any {
		return []any{of.consumer, of.lease, of.number, of.leaseMs}
	},
	pgx.RowTo[bool],
)

type endLedgerValues struct {
	consumer string
	lease    int64
}

var sqlEndLedger = internals.StatementOf(
	`SELECT urlmode.end_ledger($1::text, $2::bigint)`,
	func(of endLedgerValues) []any {
		return []any{of.consumer, of.lease}
	},
	pgx.RowTo[bool],
)

type paidValues struct {
	subject string
	item    string
	// when it was proved, or later
	since *time.Time
}

var sqlPaid = internals.StatementOf(
	`SELECT urlmode.paid($1::text, $2::text, $3::timestamptz)`,
	func(of paidValues) []any {
		return []any{of.subject, of.item, of.since}
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

var sqlEntitlements = internals.StatementOf(
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

var sqlReconcile = internals.StatementOf(
	`SELECT what, kind, reference, payment, elicitation::text, coalesce(amount, 0), coalesce(currency, ''), coalesce(their_amount,
		0), coalesce(their_currency, '') FROM urlmode.reconcile($1::text, $2::timestamptz, $3::timestamptz, $4::text::jsonb,
		$5::text::jsonb)`,
	func(of reconcileValues) []any {
		return []any{of.provider, of.since, of.until, of.payments, of.refunds}
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

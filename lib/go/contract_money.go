// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
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

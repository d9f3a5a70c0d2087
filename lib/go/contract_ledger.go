// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type beginLedgerValues struct {
	consumer string
	leaseMs  int64
	tenant   string
}

type begunLedger struct {
	// for what follows; nil: another instance reads for this consumer
	lease *int64
	// how long that lease lasts at most
	waitMs int64
}

var sqlBeginLedger = internals.StatementOf(
	`SELECT lease, coalesce(wait_ms, 0) FROM urlmode.begin_ledger($1::text, $2::bigint, $3::text)`,
	func(of beginLedgerValues) []any {
		return []any{of.consumer, of.leaseMs, of.tenant}
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
	most   int
	tenant string
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
		coalesce(status, ''), occurred_at, evidence_due_at FROM urlmode.read_ledger($1::text, $2::bigint, $3::bigint::integer, $4::text)`,
	func(of readLedgerValues) []any {
		return []any{of.consumer, of.lease, of.most, of.tenant}
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
	tenant  string
}

var sqlAcknowledgeLedger = internals.StatementOf(
	`SELECT urlmode.acknowledge_ledger($1::text, $2::bigint, $3::bigint, $4::bigint, $5::text)`,
	func(of acknowledgeLedgerValues) []any {
		return []any{of.consumer, of.lease, of.number, of.leaseMs, of.tenant}
	},
	pgx.RowTo[bool],
)

type endLedgerValues struct {
	consumer string
	lease    int64
	tenant   string
}

var sqlEndLedger = internals.StatementOf(
	`SELECT urlmode.end_ledger($1::text, $2::bigint, $3::text)`,
	func(of endLedgerValues) []any {
		return []any{of.consumer, of.lease, of.tenant}
	},
	pgx.RowTo[bool],
)

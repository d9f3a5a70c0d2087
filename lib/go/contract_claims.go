// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
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

// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type leaderValues struct {
	// of the session that has a commit under way; 0: none
	process int
}

type leaderRow struct {
	// empty: it is in recovery
	timeline string
	// the process that has answered
	pid int
	// false: the commit waits for a standby; nil: it is not there
	works *bool
}

var sqlLeader = internals.ReadingOf(
	`SELECT coalesce(timeline, ''), pid, works FROM urlmode.leader($1::bigint::integer)`,
	func(of leaderValues) []any {
		return []any{of.process}
	},
	func(from pgx.CollectableRow) (r leaderRow, err error) {
		err = from.Scan(&r.timeline, &r.pid, &r.works)
		return r, err
	},
)

type holdValues struct {
	// key of the advisory lock of this instance
	holder int64
}

var sqlHold = internals.StatementOf(
	`SELECT urlmode.hold($1::bigint)`,
	func(of holdValues) []any {
		return []any{of.holder}
	},
	pgx.RowTo[bool],
)

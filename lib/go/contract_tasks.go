// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
)

type createTaskValues struct {
	rowKey
	// that it waits for
	elicitation string
	// sealed
	call []byte
}

type createdTask struct {
	createdAt time.Time
	expiresAt time.Time
}

var sqlCreateTask = internals.StatementOf(
	`SELECT created_at, expires_at FROM urlmode.create_task($1::text::uuid, $2::bytea, $3::text::uuid, $4::bytea)`,
	func(of createTaskValues) []any {
		return []any{of.id, of.binding[:], of.elicitation, of.call}
	},
	func(from pgx.CollectableRow) (r createdTask, err error) {
		err = from.Scan(&r.createdAt, &r.expiresAt)
		return r, err
	},
)

type readTaskValues struct {
	rowKey
}

type taskRow struct {
	elicitation string
	// sealed
	call []byte
	// how often its client was asked for something
	round int
	// the keys of this round that it has answered
	answered []string
	// sealed, in the order of `answered`
	answers [][]byte
	state   string
	// sealed
	result    []byte
	createdAt time.Time
	updatedAt time.Time
	expiresAt time.Time
	// of its elicitation; empty: it is deleted
	status string
	// whether its tool has something to do now
	isDue bool
	// whether an instance runs its tool
	isLeased bool
	// whether it has a result that was never read
	isUnread bool
	// why it has none any more
	withheld string
}

var sqlReadTask = internals.ReadingOf(
	`SELECT elicitation::text, call, round, answered, answers, state, result, created_at, updated_at, expires_at, status, is_due,
		is_leased, is_unread, coalesce(withheld, '') FROM urlmode.read_task($1::text::uuid, $2::bytea)`,
	func(of readTaskValues) []any {
		return []any{of.id, of.binding[:]}
	},
	func(from pgx.CollectableRow) (r taskRow, err error) {
		err = from.Scan(&r.elicitation, &r.call, &r.round, &r.answered, &r.answers, &r.state, &r.result, &r.createdAt, &r.updatedAt,
			&r.expiresAt, &r.status, &r.isDue, &r.isLeased, &r.isUnread, &r.withheld)
		return r, err
	},
)

type answerTaskInputValues struct {
	rowKey
	round int
	// of what was asked
	name string
	// what was answered
	sealed []byte
}

var sqlAnswerTaskInput = internals.StatementOf(
	`SELECT urlmode.answer_task_input($1::text::uuid, $2::bytea, $3::bigint::integer, $4::text, $5::bytea)`,
	func(of answerTaskInputValues) []any {
		return []any{of.id, of.binding[:], of.round, of.name, of.sealed}
	},
	pgx.RowTo[bool],
)

type beginTaskValues struct {
	rowKey
	leaseMs int64
	// its number, to make it longer; 0: a new one
	lease int
}

var sqlBeginTask = internals.StatementOf(
	`SELECT urlmode.begin_task($1::text::uuid, $2::bytea, $3::bigint, $4::bigint::integer)`,
	func(of beginTaskValues) []any {
		return []any{of.id, of.binding[:], of.leaseMs, of.lease}
	},
	pgx.RowTo[int],
)

type continueTaskValues struct {
	rowKey
	lease       int
	elicitation string
	// sealed
	call []byte
}

var sqlContinueTask = internals.StatementOf(
	`SELECT urlmode.continue_task($1::text::uuid, $2::bytea, $3::bigint::integer, $4::text::uuid, $5::bytea)`,
	func(of continueTaskValues) []any {
		return []any{of.id, of.binding[:], of.lease, orNull(of.elicitation), of.call}
	},
	pgx.RowTo[bool],
)

type endTaskValues struct {
	rowKey
	lease int
	// sealed
	result []byte
	// the elicitations whose outcomes it was made of
	claimed []string
	// of these claims
	fences []int64
	// from now until the results are purged
	keepMs int64
}

var sqlEndTask = internals.StatementOf(
	`SELECT urlmode.end_task($1::text::uuid, $2::bytea, $3::bigint::integer, $4::bytea, $5::text[]::uuid[], $6::bigint[], $7::bigint)`,
	func(of endTaskValues) []any {
		return []any{of.id, of.binding[:], of.lease, of.result, of.claimed, of.fences, of.keepMs}
	},
	pgx.RowTo[bool],
)

type confirmTaskValues struct {
	rowKey
	// from now until the results are purged
	keepMs int64
}

var sqlConfirmTask = internals.StatementOf(
	`SELECT urlmode.confirm_task($1::text::uuid, $2::bytea, $3::bigint)`,
	func(of confirmTaskValues) []any {
		return []any{of.id, of.binding[:], of.keepMs}
	},
	pgx.RowTo[bool],
)

type cancelTaskValues struct {
	rowKey
}

var sqlCancelTask = internals.StatementOf(
	`SELECT urlmode.cancel_task($1::text::uuid, $2::bytea)`,
	func(of cancelTaskValues) []any {
		return []any{of.id, of.binding[:]}
	},
	pgx.RowTo[bool],
)

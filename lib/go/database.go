// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

const (
	// channel is that on which every change of a row is announced.
	channel = "urlmode"
)

const (
	sqlCreate = `SELECT expires_at, outcome FROM urlmode.create_elicitation($1::text[]::uuid[], $2::text[], $3::text[], $4::text[],
		$5::text[], $6::bytea[], $7::text[], $8::text[], $9::text[]::jsonb[], $10::bytea[], $11::bigint[], $12::boolean[], $13::text[],
		$14::boolean[], $15::bytea[], $16::text[], $17::text[], $18::smallint[], $19::bytea[], $20::text[]::jsonb[], $21::bigint[]::integer[],
		$22::text[])`
	sqlResume = `SELECT id::text, provider, kind, expires_at, expires_in_ms, link_kid
		FROM urlmode.resume($1::bytea[], $2::text[], $3::boolean[], $4::bytea[])`
	sqlRead = `SELECT id::text, provider, kind, status, coalesce(action, ''), coalesce(reason, ''), late, coalesce(payment_reference, ''),
		coalesce(refunded, 0), coalesce(held, false), coalesce(completed_from, ''), result, verifier, closes_in_ms::bigint,
		failed_attempts, rechecks, rechecked, coalesce(recheck_in_ms, 0)::bigint
		FROM urlmode.read($1::text[]::uuid[], $2::bytea[])`
	sqlAbandon   = `SELECT outcome FROM urlmode.abandon($1::text[]::uuid[], $2::bytea[], $3::text[], $4::text[])`
	sqlExpire    = `SELECT count(*) FROM urlmode.expire($1::text[]::uuid[], $2::bytea[])`
	sqlMarkRead  = `SELECT urlmode.mark_read($1::text[]::uuid[], $2::bytea[], $3::bigint)::text`
	sqlSettle    = `SELECT urlmode.settle($1::uuid, $2::bytea, $3::text, $4::text, $5::bytea, $6::bigint, $7::text, $8::text)`
	sqlClaim     = `SELECT urlmode.claim($1::uuid, $2::bytea, $3::text, $4::bigint, $5::text, $6::boolean)`
	sqlUnclaimed = `SELECT elicitation::text, provider_name, subject, session, reference, amount, currency, matches,
		coalesce(resume_key, ''), late, proven_at, coalesce(refunded, 0), coalesce(held, false), binding, result
		FROM urlmode.unclaimed($1::text, $2::timestamptz, $3::uuid)`
	sqlRefunds = `SELECT elicitation::text, provider_name, coalesce(subject, ''), coalesce(session, ''), coalesce(resume_key, ''), reference,
		amount, coalesce(currency, ''), coalesce(reversed, 0), received_at, changed_at,
		payment, coalesce(paid, 0), coalesce(refunded, 0), coalesce(held, false), coalesce(claimed, false)
		FROM urlmode.refunds($1::text, $2::timestamptz, $3::uuid)`
	sqlTakeRecheck = `SELECT lease, rechecks, coalesce(event_type, ''), coalesce(unproven_references, '{}'), expected::text
		FROM urlmode.take_recheck($1::uuid, $2::bytea, $3::bigint)`
	sqlEndRecheck   = `SELECT urlmode.end_recheck($1::uuid, $2::bytea, $3::integer, $4::integer, $5::boolean)::text`
	sqlTakeCheck    = `SELECT lease, result, left_ms::bigint FROM urlmode.take_check($1::uuid, $2::bytea)`
	sqlEndCheck     = `SELECT urlmode.end_check($1::uuid, $2::bytea, $3::integer, $4::bytea, $5::boolean)`
	sqlPurgeResults = `SELECT urlmode.purge_results($1::bigint)::bigint`
	sqlPurge        = `SELECT urlmode.purge($1::bigint, $2::text)::bigint`
	sqlNotify       = `SELECT pg_notify($1::text, $2::text)::text`
)

// row is a row as the waiting side sees it.
type row struct {
	id               string
	provider         string
	kind             Kind
	status           Status
	action           Action
	reason           string
	late             bool
	paymentReference string
	refunded         int64
	held             bool
	completedFrom    Status
	result           []byte
	verifier         []byte
	closesInMs       int64
	failedAttempts   int
	rechecks         int
	rechecked        int
	recheckInMs      int64
}

func readRow(from pgx.CollectableRow) (read row, err error) {
	err = from.Scan(&read.id, &read.provider, &read.kind, &read.status, &read.action, &read.reason, &read.late,
		&read.paymentReference, &read.refunded, &read.held, &read.completedFrom, &read.result, &read.verifier,
		&read.closesInMs, &read.failedAttempts, &read.rechecks, &read.rechecked, &read.recheckInMs)
	return read, err
}

type newRow struct {
	key       rowKey
	request   Request
	requester string
	target    Target
	verifier  []byte
	digest    []byte
	linkKid   int16
	form      []byte
	approvers []string // of askedForm, as is verify
	verify    time.Duration
}

type resumeKey struct {
	binding    digest
	key        string
	canRecheck bool
	request    []byte
}

type resumed struct {
	id        *string
	provider  *string
	kind      *Kind
	expiresAt *time.Time
	ttlMs     *float64
	linkKid   *int16
}

type abandoned struct {
	key    rowKey
	action Action
	reason string
}

type created struct {
	expiresAt *time.Time
	outcome   string
}

// database calls the functions of the schema, one by one or, where many calls come, in batches.
type database struct {
	pool     *pool
	creates  batches[newRow, created]
	resumes  batches[resumeKey, resumed]
	abandons batches[abandoned, string]
}

func newDatabase(p *pool) *database {
	db := &database{pool: p}
	db.creates.run = db.createRows
	db.resumes.run = db.resumeRows
	db.abandons.run = db.abandonRows
	return db
}

// orNull is NULL for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func column[T, C any](elements []T, member func(T) C) []C {
	values := make([]C, len(elements))
	for i, each := range elements {
		values[i] = member(each)
	}
	return values
}

func keyColumns(rowKeys []rowKey) (ids []string, bindings [][]byte) {
	return column(rowKeys, func(k rowKey) string { return k.id }), column(rowKeys, func(k rowKey) []byte { return k.binding[:] })
}

// create returns when the row expires, or nil if another call of the same owner has created one that can be resumed.
func (db *database) create(ctx context.Context, made newRow) (*time.Time, error) {
	// Also the pauses between the attempts belong to the call, which close waits for.
	return call(ctx, db.pool, func(ctx context.Context) (*time.Time, error) {
		giveUp := time.Now().Add(limits.Query)
		for pause := limits.BusyMin; ; pause = min(2*pause, limits.BusyMax) {
			answer, err := db.creates.ask(ctx, made)
			switch {
			case sqlstate(err) == "23505":
				return nil, errorExists(made.key.id)
			case err != nil:
				return nil, err
			case answer.outcome == "full":
				return nil, errorLimit()
			case answer.outcome == "created":
				return answer.expiresAt, nil
			case answer.outcome != "busy":
				return nil, nil
			case time.Now().After(giveUp): // Another call creates for the same owner.
				return nil, errorBusy("other calls of this owner create elicitations all the time")
			}
			if err := timing.Sleep(ctx, timing.Jittered(pause)); err != nil {
				return nil, err
			}
		}
	})
}

func (db *database) createRows(ctx context.Context, made []newRow) ([]created, error) {
	ids, bindings := keyColumns(column(made, func(r newRow) rowKey { return r.key }))
	asked := func(member func(Request) string) []string {
		return column(made, func(r newRow) string { return member(r.request) })
	}
	optional := func(member func(newRow) string) []*string {
		return column(made, func(r newRow) *string { return orNull(member(r)) })
	}
	read := func(from pgx.CollectableRow) (answer created, err error) {
		err = from.Scan(&answer.expiresAt, &answer.outcome)
		return answer, err
	}
	return rows(ctx, db.pool, read, sqlCreate, ids,
		asked(func(r Request) string { return r.Provider }), asked(func(r Request) string { return string(r.Kind) }),
		asked(func(r Request) string { return r.Owner.Subject }), asked(func(r Request) string { return r.Owner.Session }), bindings,
		column(made, func(r newRow) string { return r.requester }), optional(func(r newRow) string { return r.target.URL }),
		optional(func(r newRow) string { return expectedJSON(r.request) }), column(made, func(r newRow) []byte { return r.verifier }),
		column(made, func(r newRow) int64 { return r.request.TTL.Milliseconds() }),
		column(made, func(r newRow) bool { return r.request.Exclusive }), optional(func(r newRow) string { return r.request.ResumeKey }),
		column(made, func(r newRow) bool { return !r.request.CannotRecheck }), column(made, func(r newRow) []byte { return r.digest }),
		optional(func(r newRow) string { return r.target.Checkout }), optional(func(r newRow) string { return r.request.ClientID }),
		column(made, func(r newRow) int16 { return r.linkKid }), column(made, func(r newRow) []byte { return r.form }),
		optional(func(r newRow) string { return approversJSON(r.approvers) }), column(made, func(r newRow) *int64 { return millisecondsOrNull(r.verify) }),
		optional(func(r newRow) string { return r.request.Traceparent }))
}

func expectedJSON(r Request) string {
	if r.Kind != Payment {
		return ""
	}
	text, _ := json.Marshal(r.Expected) // a text and a number can be written
	return string(text)
}

func approversJSON(approvers []string) string {
	if approvers == nil {
		return ""
	}
	text, _ := json.Marshal(approvers) // texts can be written
	return string(text)
}

func millisecondsOrNull(interval time.Duration) *int64 {
	if interval == 0 {
		return nil
	}
	milliseconds := interval.Milliseconds()
	return &milliseconds
}

func (db *database) resume(ctx context.Context, wanted resumeKey) (resumed, error) {
	return call(ctx, db.pool, func(ctx context.Context) (resumed, error) { return db.resumes.ask(ctx, wanted) })
}

func (db *database) resumeRows(ctx context.Context, wanted []resumeKey) ([]resumed, error) {
	read := func(from pgx.CollectableRow) (r resumed, err error) {
		err = from.Scan(&r.id, &r.provider, &r.kind, &r.expiresAt, &r.ttlMs, &r.linkKid)
		return r, err
	}
	return rows(ctx, db.pool, read, sqlResume,
		column(wanted, func(k resumeKey) []byte { return k.binding[:] }), column(wanted, func(k resumeKey) string { return k.key }),
		column(wanted, func(k resumeKey) bool { return k.canRecheck }), column(wanted, func(k resumeKey) []byte { return k.request }))
}

// abandon answers "completed" by this call, "already", or the status that stays as it is.
func (db *database) abandon(ctx context.Context, end abandoned) (string, error) {
	outcome, err := call(ctx, db.pool, func(ctx context.Context) (string, error) { return db.abandons.ask(ctx, end) })
	if err == nil && outcome == "unknown" {
		err = errorNotFound(end.key.id)
	}
	return outcome, err
}

func (db *database) abandonRows(ctx context.Context, ends []abandoned) ([]string, error) {
	ids, bindings := keyColumns(column(ends, func(a abandoned) rowKey { return a.key }))
	return rows(ctx, db.pool, pgx.RowTo[string], sqlAbandon, ids, bindings,
		column(ends, func(a abandoned) string { return string(a.action) }), column(ends, func(a abandoned) string { return a.reason }))
}

func (db *database) read(ctx context.Context, wanted rowKey) (*row, error) {
	return call(ctx, db.pool, func(ctx context.Context) (*row, error) {
		found, err := rows(ctx, db.pool, readRow, sqlRead, []string{wanted.id}, [][]byte{wanted.binding[:]})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	})
}

func (db *database) expire(ctx context.Context, rowKeys []rowKey) error {
	ids, bindings := keyColumns(rowKeys)
	_, err := one[int64](ctx, db.pool, sqlExpire, ids, bindings)
	return err
}

func (db *database) markRead(ctx context.Context, rowKeys []rowKey, keep time.Duration) error {
	ids, bindings := keyColumns(rowKeys)
	_, err := one[*string](ctx, db.pool, sqlMarkRead, ids, bindings, keep.Milliseconds())
	return err
}

// settle answers "completed", "already", or "late": it had ended otherwise, and the payment was recorded.
func (db *database) settle(ctx context.Context, k rowKey, answer checkedAnswer, result []byte) (string, error) {
	var amount *int64
	if answer.money {
		amount = &answer.Amount
	}
	outcome, err := one[string](ctx, db.pool, sqlSettle, k.id, k.binding[:], string(answer.Action), answer.Reason, result,
		amount, orNull(answer.Currency), orNull(answer.Reference))
	switch {
	case err != nil:
		return "", err
	case outcome == "unknown":
		return "", errorNotFound(k.id)
	case outcome == "mismatch":
		return "", errorMismatch(k.id)
	case outcome == "reference_taken":
		return "", errorReference(k.id)
	case outcome == "undecided":
		return "", argumentError("an approval is accepted by its approver alone, on its page")
	case outcome == "missing":
		return "", argumentError("to accept a payment, Amount (in minor units), Currency and Reference are required: " +
			"what was paid, according to the provider")
	}
	return outcome, nil
}

func (db *database) claim(ctx context.Context, k rowKey, o ClaimOptions, keep time.Duration) (bool, error) {
	outcome, err := one[string](ctx, db.pool, sqlClaim, k.id, k.binding[:], orNull(o.Reference), keep.Milliseconds(), string(o.Action), o.Held)
	if err == nil && outcome == "open" {
		err = openAgain(k.id)
	}
	return outcome == "claimed", err
}

func openAgain(id string) error {
	return errorOpen(id)
}

// filter selects payments or refunds. Empty members select all.
type filter struct {
	provider string
	since    time.Time
	id       string
}

func (f filter) values() []any {
	var since *time.Time
	if !f.since.IsZero() {
		since = &f.since
	}
	return []any{orNull(f.provider), since, orNull(f.id)}
}

// takenRecheck is the lease of a recheck.
type takenRecheck struct {
	lease      int
	rechecks   int
	eventType  string
	references []string
	expected   *string
}

// takeRecheck is nil if another instance is rechecking, or if there is nothing to recheck.
func (db *database) takeRecheck(ctx context.Context, k rowKey, lease time.Duration) (*takenRecheck, error) {
	return call(ctx, db.pool, func(ctx context.Context) (*takenRecheck, error) {
		read := func(from pgx.CollectableRow) (taken takenRecheck, err error) {
			err = from.Scan(&taken.lease, &taken.rechecks, &taken.eventType, &taken.references, &taken.expected)
			return taken, err
		}
		all, err := rows(ctx, db.pool, read, sqlTakeRecheck, k.id, k.binding[:], lease.Milliseconds())
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return &all[0], nil
	})
}

func (db *database) endRecheck(ctx context.Context, k rowKey, taken *takenRecheck, failed bool) error {
	_, err := one[*string](ctx, db.pool, sqlEndRecheck, k.id, k.binding[:], taken.lease, taken.rechecks, failed)
	return err
}

// takenCheck is the lease of a check, with the sealed values.
type takenCheck struct {
	lease  int
	result []byte
	left   time.Duration
}

// takeCheck is nil if another process verifies the values, or if there are none.
func (db *database) takeCheck(ctx context.Context, k rowKey) (*takenCheck, error) {
	return call(ctx, db.pool, func(ctx context.Context) (*takenCheck, error) {
		read := func(from pgx.CollectableRow) (taken takenCheck, err error) {
			var leftMs int64
			err = from.Scan(&taken.lease, &taken.result, &leftMs)
			taken.left = time.Duration(leftMs) * time.Millisecond
			return taken, err
		}
		all, err := rows(ctx, db.pool, read, sqlTakeCheck, k.id, k.binding[:])
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return &all[0], nil
	})
}

// endCheck completes the row, or opens the page again, with a sealed problem or because the check has failed.
func (db *database) endCheck(ctx context.Context, k rowKey, lease int, problem []byte, failed bool) error {
	_, err := one[string](ctx, db.pool, sqlEndCheck, k.id, k.binding[:], lease, problem, failed)
	return err
}

// purgeResults purges some of the results that are due, and says whether more may be due.
func (db *database) purgeResults(ctx context.Context, keepUnclaimed time.Duration) (bool, error) {
	count, err := one[int64](ctx, db.pool, sqlPurgeResults, keepUnclaimed.Milliseconds())
	return count > 0, err
}

// purge deletes purgeable data in batches, and says how much.
func (db *database) purge(ctx context.Context, keep time.Duration, kind string) (int64, error) {
	for deleted := int64(0); ; {
		count, err := one[int64](ctx, db.pool, sqlPurge, keep.Milliseconds(), orNull(kind))
		if err != nil || count == 0 {
			return deleted, err
		}
		deleted += count
	}
}

func (db *database) notify(ctx context.Context, to, payload string) error {
	_, err := one[*string](ctx, db.pool, sqlNotify, to, payload)
	return err
}

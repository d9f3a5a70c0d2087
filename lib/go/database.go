// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/statements"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// database calls the functions of the schema, one by one or, where many calls come, in batches.
type database struct {
	pool     *pool
	creates  batches[newRow, created]
	resumes  batches[resuming, resumedRow]
	abandons batches[abandoned, string]
	offset   atomic.Pointer[time.Duration] // of its clock, once it is known
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

// run runs one statement, and reads its rows.
func run[A, R any](ctx context.Context, p *pool, statement internals.Statement[A, R], of A) ([]R, error) {
	return rows(ctx, p, statement.Read, statement.Reads, statement.Text, statement.Values(of)...)
}

// runBatch is run for the elements of a batch that are wanted when there is a connection.
func runBatch[A, R any](ctx context.Context, p *pool, statement internals.Statement[[]A, R], elements func() []A) ([]R, error) {
	return rowsOf(ctx, p, statement.Read, statement.Reads, statement.Text, func() ([]any, bool) {
		of := elements()
		if len(of) == 0 {
			return nil, false
		}
		return statement.Values(of), true
	})
}

// one runs a statement that answers with one row.
func one[A, R any](ctx context.Context, p *pool, statement internals.Statement[A, R], of A) (R, error) {
	found, err := first(ctx, p, statement, of)
	if err != nil || found == nil {
		var none R
		return none, cmp.Or(err, unexpected("no row"))
	}
	return *found, nil
}

// first runs a statement that answers with at most one row, and is nil if there is none.
func first[A, R any](ctx context.Context, p *pool, statement internals.Statement[A, R], of A) (*R, error) {
	return call(ctx, p, func(ctx context.Context) (*R, error) {
		found, err := run(ctx, p, statement, of)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return &found[0], nil
	})
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
				return nil, errorExists(made.id)
			case err != nil:
				return nil, err
			case answer.outcome == "full":
				return nil, errorLimit()
			case answer.outcome == "subscribed":
				return nil, errorSubscribed(made.item)
			case answer.outcome == "created":
				return answer.expiresAt, nil
			case answer.outcome != "busy":
				return nil, nil
			case time.Now().After(giveUp): // Another call creates for the same owner.
				return nil, errorBusy(texts.OwnerIsBusy)
			}
			if err := timing.Sleep(ctx, timing.Jittered(pause)); err != nil {
				return nil, err
			}
		}
	})
}

func (db *database) createRows(ctx context.Context, made func() []newRow) ([]created, error) {
	return runBatch(ctx, db.pool, sqlCreateElicitation, made)
}

func (db *database) resume(ctx context.Context, wanted resuming) (resumedRow, error) {
	return call(ctx, db.pool, func(ctx context.Context) (resumedRow, error) { return db.resumes.ask(ctx, wanted) })
}

func (db *database) resumeRows(ctx context.Context, wanted func() []resuming) ([]resumedRow, error) {
	return runBatch(ctx, db.pool, sqlResumeFor, wanted)
}

// abandon answers "completed" by this call, "already", or the status that stays as it is.
func (db *database) abandon(ctx context.Context, end abandoned) (string, error) {
	outcome, err := call(ctx, db.pool, func(ctx context.Context) (string, error) { return db.abandons.ask(ctx, end) })
	if err == nil && outcome == "unknown" {
		err = errorNotFound(end.id)
	}
	return outcome, err
}

func (db *database) abandonRows(ctx context.Context, ends func() []abandoned) ([]string, error) {
	return runBatch(ctx, db.pool, sqlAbandon, ends)
}

func (db *database) read(ctx context.Context, wanted rowKey) (*row, error) {
	return first(ctx, db.pool, sqlReadPaid, []rowKey{wanted})
}

func (db *database) expire(ctx context.Context, rowKeys []rowKey) error {
	_, err := first(ctx, db.pool, sqlExpire, rowKeys)
	return err
}

func (db *database) markRead(ctx context.Context, rowKeys []rowKey, keep time.Duration) error {
	_, err := first(ctx, db.pool, sqlMarkRead, markReadValues{all: rowKeys, keepMs: keep.Milliseconds()})
	return err
}

// settle answers "completed", "already", or "late": it had ended otherwise, and the payment was recorded.
func (db *database) settle(ctx context.Context, k rowKey, answer checkedAnswer, result []byte) (string, error) {
	var amount *int64
	if answer.money {
		amount = &answer.Amount
	}
	outcome, err := one(ctx, db.pool, sqlSettle, settleValues{rowKey: k, action: answer.Action, reason: answer.Reason, result: result,
		amount: amount, currency: answer.Currency, reference: answer.Reference})
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
		return "", argumentError(texts.Undecided)
	case outcome == "missing":
		return "", argumentError(texts.PaymentWithoutPrice)
	}
	return outcome, nil
}

// claim is with both ends at once. recheckMs: how old the last answer of a recheck may be; nil: nobody can ask.
func (db *database) claim(ctx context.Context, k rowKey, o ClaimOptions, keep time.Duration, recheckMs *int64) (claimedRow, error) {
	answer, err := one(ctx, db.pool, sqlClaimAtOnce, claimAtOnceValues{rowKey: k, reference: o.Reference, keepMs: keep.Milliseconds(),
		action: o.Action, held: o.Held, recheckMs: recheckMs})
	if err == nil && answer.outcome == "open" {
		err = openAgain(k.id)
	}
	return answer, err
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

func (f filter) values(of tenant) unclaimedOfValues {
	var since *time.Time
	if !f.since.IsZero() {
		since = &f.since
	}
	return unclaimedOfValues{tenant: string(of), provider: f.provider, since: since, id: f.id}
}

// beginRecheck is nil if another instance is rechecking, or if there is nothing to recheck. maxAge: before a claim.
func (db *database) beginRecheck(ctx context.Context, k rowKey, lease time.Duration, maxAge *time.Duration) (*takenRecheck, error) {
	values := beginRecheckValues{rowKey: k, leaseMs: lease.Milliseconds()}
	if maxAge != nil {
		ms := maxAge.Milliseconds()
		values.maxAgeMs = &ms
	}
	return first(ctx, db.pool, sqlBeginRecheck, values)
}

// answerRecheck returns what each payment and then each refund has done.
func (db *database) answerRecheck(ctx context.Context, k rowKey, taken *takenRecheck, payments, refunds []entryRow) ([]string, error) {
	return call(ctx, db.pool, func(ctx context.Context) ([]string, error) {
		return run(ctx, db.pool, sqlAnswerRecheck, answerRecheckValues{rowKey: k, lease: taken.lease, rechecks: taken.rechecks,
			payments: rowsJSON(payments), refunds: rowsJSON(refunds)})
	})
}

func (db *database) endRecheck(ctx context.Context, k rowKey, taken *takenRecheck, failed bool) error {
	_, err := one(ctx, db.pool, sqlEndRecheck, endRecheckValues{rowKey: k, lease: taken.lease, rechecks: taken.rechecks, failed: failed})
	return err
}

// takeCheck is nil if another process verifies the values, or if there are none.
func (db *database) takeCheck(ctx context.Context, k rowKey) (*takenCheck, error) {
	return first(ctx, db.pool, sqlTakeCheck, takeCheckValues{k})
}

// endCheck completes the row, or opens the page again, with a sealed problem or because the check has failed.
func (db *database) endCheck(ctx context.Context, k rowKey, lease int, problem []byte, failed bool) error {
	_, err := one(ctx, db.pool, sqlEndCheck, endCheckValues{rowKey: k, lease: lease, problem: problem, failed: failed})
	return err
}

// purgeResults purges some of the results that are due, and says whether more may be due.
func (db *database) purgeResults(ctx context.Context, keepUnclaimed time.Duration) (bool, error) {
	count, err := one(ctx, db.pool, sqlPurgeResults, purgeResultsValues{keepUnclaimed.Milliseconds()})
	return count > 0, err
}

// purge deletes purgeable data in batches, and says how much.
func (db *database) purge(ctx context.Context, keep time.Duration, kind string) (int64, error) {
	for deleted := int64(0); ; {
		count, err := one(ctx, db.pool, sqlPurge, purgeValues{keepMs: keep.Milliseconds(), kind: kind})
		if err != nil || count == 0 {
			return deleted, err
		}
		deleted += count
	}
}

func (db *database) notify(ctx context.Context, to, payload string) error {
	_, err := call(ctx, db.pool, func(ctx context.Context) ([]struct{}, error) {
		return rows(ctx, db.pool, internals.Nothing, false, statements.Notify, to, payload)
	})
	return err
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// The server is asked back by functions of its own: Recheck, about an event that proves nothing, and Verify,
// about what a user has typed. For one elicitation each runs in one process at a time: a process takes a lease
// in the row before it begins, and ends it with what the function has said, or with its failure.

// question is one of the two.
type question struct {
	needs func(*row) bool
	can   func(ws *waits, w *wait, provider string) bool
	// ask asks the function of this wait, unless another process asks: then taken is false. failure is its error,
	// or that of an answer that is not valid; err is one of PostgreSQL.
	ask func(ws *waits, k rowKey, provider string, asking *wait) (taken bool, failure, err error)
	// then is for what the waits hear of the end. False: there is no reason to read the row. The caller holds the lock.
	then func(ws *waits, k rowKey, asking *wait, taken bool, failure error) bool
	// outcomeCounts: a failure is nothing to a row that somebody has completed meanwhile.
	outcomeCounts bool
}

// needsRecheck reports whether an event has asked for a recheck that nobody has answered. A payment that has
// ended may have been paid late, or have gone back.
func needsRecheck(read *row) bool {
	return read.rechecks > read.rechecked && (read.status != Completed || read.kind == Payment)
}

var aboutEvent = &question{
	needs: needsRecheck,
	can:   (*waits).canRecheck,
	ask: func(ws *waits, k rowKey, provider string, asking *wait) (bool, error, error) {
		ask := asking.options.Recheck
		if ask == nil {
			ask = ws.rechecks.of(provider)
		}
		return ws.askProvider(lastingOf(ws.ctx, asking.ctx), k, ask, nil)
	},
	then: func(_ *waits, _ rowKey, asking *wait, _ bool, failure error) bool {
		asking.rechecked = true
		if failure != nil {
			asking.reject(failure)
		}
		return true
	},
	outcomeCounts: true,
}

var aboutTyped = &question{
	needs: func(read *row) bool { return read.kind == Input && read.status == Processing },
	can:   func(_ *waits, w *wait, _ string) bool { return w.canVerify() },
	ask: func(ws *waits, k rowKey, provider string, asking *wait) (bool, error, error) {
		return ws.verify(lastingOf(ws.ctx, asking.ctx), k, provider, asking.options.Verify)
	},
	then: func(ws *waits, k rowKey, asking *wait, taken bool, failure error) bool {
		if failure != nil {
			asking.reject(failure)
		}
		if !taken {
			// Another process verifies it, and its end is announced.
			ws.lookOnce(k)
		}
		return taken
	},
}

// askBack asks if the row needs it. True while that runs in this process: its end makes the row due again. The
// caller holds the lock.
func (ws *waits) askBack(q *question, e *entry, read *row) bool {
	if !q.needs(read) {
		return false
	}
	key := asked{q, e.key.id}
	if begunOn, running := ws.asking[key]; running {
		// An outcome that the row got meanwhile needs no answer.
		return read.status != Completed || begunOn == Completed
	}
	for each := e.first; each != nil; each = each.next {
		if !q.can(ws, each, read.provider) {
			continue
		}
		if q == aboutEvent && read.recheckInMs > 0 {
			k := e.key
			e.nextRecheck = time.AfterFunc(time.Duration(read.recheckInMs)*time.Millisecond, func() { ws.wakeKeys(k) })
			return false
		}
		ws.asking[key] = read.status
		ws.run(func() { ws.runQuestion(q, e.key, read.provider, each) })
		return true
	}
	return false
}

// recheck asks the provider if an event asks for it.
func (ws *waits) recheck(e *entry, read *row) bool {
	if e.nextRecheck != nil {
		e.nextRecheck.Stop()
		e.nextRecheck = nil
	}
	return ws.askBack(aboutEvent, e, read)
}

func (ws *waits) runQuestion(q *question, k rowKey, provider string, asking *wait) {
	taken, failure, err := q.ask(ws, k, provider, asking)
	if err == nil && failure != nil && q.outcomeCounts {
		var now *row
		if now, err = ws.db.read(ws.ctx, k); err == nil && now != nil && now.status == Completed {
			failure = nil
		}
	}
	ws.mu.Lock()
	delete(ws.asking, asked{q, k.id})
	reads := true
	if err == nil {
		reads = q.then(ws, k, asking, taken, failure)
	}
	ws.mu.Unlock()
	if err != nil {
		if isRefusedChange(err) {
			ws.failKeys([]rowKey{k}, err)
		}
		timing.Sleep(ws.ctx, timing.Jittered(limits.ReadRetry))
	}
	if reads {
		ws.wakeKeys(k)
	}
}

// askProvider records the answer. maxAge is for a claim: how old the last one may be.
func (ws *waits) askProvider(ctx context.Context, k rowKey, ask RecheckFunc, maxAge *time.Duration) (isTaken bool, failure, err error) {
	taken, err := ws.db.beginRecheck(ctx, k, limits.RecheckLease, maxAge)
	if err != nil || taken == nil {
		return false, nil, err
	}
	failure, err = ws.answerTaken(ctx, k, taken, ask)
	return true, failure, err
}

// answerTaken asks about what was taken, and records the answer. The end of the context, and the time limit, end what awaits the
// function, which may never come back.
func (ws *waits) answerTaken(ctx context.Context, k rowKey, taken *takenRecheck, ask RecheckFunc) (failure, err error) {
	event := Recheck{ElicitationID: k.id, Provider: taken.provider, Type: taken.eventType, References: taken.unprovenReferences,
		Checkout: taken.checkout}
	if taken.expected != "" {
		json.Unmarshal([]byte(taken.expected), &event.Expected) // as the database has checked it
	}
	open, stop := context.WithCancelCause(ctx)
	defer context.AfterFunc(ws.ctx, func() { stop(errorClosed()) })()
	limited, cancel := context.WithTimeoutCause(open, ws.recheckLimit, fmt.Errorf("recheck of elicitation %s has not answered within %s: %w",
		k.id, ws.recheckLimit, context.DeadlineExceeded))
	defer cancel()
	answer, failure := awaited(limited, ws.log, "URLMODE_RECHECK", func() (*Answer, error) { return ask(limited, event) })
	ctx = context.WithoutCancel(ctx) // Others need not wait for the end of the lease.
	// With neither, the provider has nothing.
	if failure == nil && answer != nil && (answer.Payments != nil || answer.Refunds != nil || !answer.isShort()) {
		failure, err = ws.recordEntries(ctx, k, taken, answer)
		if failure == nil {
			return nil, err
		}
	} else if failure == nil && answer != nil {
		failure = ws.complete(ctx, k, *answer)
	}
	if errors.Is(failure, ErrMismatch) || errors.Is(failure, ErrReference) {
		// A stranger may have sent the reference. The wait continues.
		warn(ws.log, "URLMODE_RECHECK", "recheck changed nothing: "+failure.Error())
		failure = nil
	}
	return failure, ws.db.endRecheck(ctx, k, taken, failure != nil)
}

// notRecorded says why an entry was not, by what has become of it.
var notRecorded = map[string]string{
	"foreign":         texts.EntryIsForeign,
	"reference_taken": texts.EntryIsTaken,
}

// isShort reports whether it says one outcome.
func (a *Answer) isShort() bool {
	return a.Action != "" || a.Reason != "" || a.Result != nil || a.Amount != 0 || a.Currency != "" || a.Reference != ""
}

// recordEntries ends a recheck with what the provider has. failure: that is not valid.
func (ws *waits) recordEntries(ctx context.Context, k rowKey, taken *takenRecheck, answer *Answer) (failure, err error) {
	if answer.isShort() {
		return argumentError("an Answer with Payments or Refunds has no other fields"), nil
	}
	payments, refunds, failure := entryRows(answer.Payments, answer.Refunds, limits.EntriesMax)
	if failure != nil {
		return failure, nil
	}
	for n, paid := range payments {
		// What an event would have told.
		text, err := toJSON(map[string]any{"reference": paid.Reference, "amount": paid.Amount, "currency": paid.Currency})
		if err != nil {
			return err, nil
		}
		payments[n].Result = seal(ws.ring, useResult, k, text, nil)
	}
	outcomes, err := ws.db.answerRecheck(ctx, k, taken, payments, refunds)
	for n, entry := range append(payments, refunds...) {
		if n < len(outcomes) && notRecorded[outcomes[n]] != "" {
			warn(ws.log, "URLMODE_RECHECK", fmt.Sprintf(texts.RecheckNotRecorded, k.id, entry.Reference, notRecorded[outcomes[n]]))
		}
	}
	return nil, err
}

// lookOnce ends the waits for a row that look once. The caller holds the lock.
func (ws *waits) lookOnce(k rowKey) {
	for e := ws.entries[k.id]; e != nil; e = e.next {
		for each := e.first; e.key == k && each != nil; each = each.next {
			if each.options.Once {
				each.look(Processing)
			}
		}
	}
}

// verify completes the row, or shows the problem on the page.
func (ws *waits) verify(ctx context.Context, k rowKey, provider string, ask func(context.Context, Typed) (*Problem, error)) (isTaken bool, failure, err error) {
	taken, err := ws.db.takeCheck(ctx, k)
	if err != nil || taken == nil {
		return false, nil, err
	}
	problem, failed, failure := ws.askVerify(ctx, k, provider, taken, ask)
	var sealed []byte
	if problem != nil {
		sealed = seal(ws.ring, useProblem, k, problem, nil)
	}
	return true, failure, ws.db.endCheck(ctx, k, taken.lease, sealed, failed)
}

// askVerify returns the problem as JSON. failed: the function has not answered. Then the page is open again.
func (ws *waits) askVerify(
	ctx context.Context, k rowKey, provider string, taken *takenCheck, ask func(context.Context, Typed) (*Problem, error),
) (problem []byte, failed bool, failure error) {
	var result struct {
		Values map[string]any `json:"values"`
	}
	if err := unseal(ws.ring, useResult, k, taken.result, &result); err != nil {
		return nil, true, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(taken.leftMs)*time.Millisecond)
	defer cancel()
	found, err := awaited(limited, ws.log, "URLMODE_VERIFY", func() (*Problem, error) {
		return ask(limited, Typed{ElicitationID: k.id, Provider: provider, Values: result.Values})
	})
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		warn(ws.log, "URLMODE_VERIFY", fmt.Sprintf(texts.VerifyOverdue, k.id))
		return nil, true, nil
	}
	if err == nil && found != nil {
		problem, err = found.check()
	}
	return problem, err != nil, err
}

// awaited is what the function answers before the context ends; it may go on after that.
func awaited[T any](ctx context.Context, log *slog.Logger, code string, ask func() (T, error)) (answer T, err error) {
	answered := make(chan struct{})
	var said T
	var failure error
	go func() {
		defer close(answered)
		said, failure = guarded(log, code, ask)
	}()
	select {
	case <-answered:
		if ctx.Err() == nil {
			return said, failure
		}
	case <-ctx.Done():
	}
	return answer, context.Cause(ctx)
}

// guarded makes an error of a panic, which would end the process: no function of the caller is below. What the caller has panicked
// with may be secret.
func guarded[T any](log *slog.Logger, code string, ask func() (T, error)) (answer T, err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		err = fmt.Errorf("%w (%T)", errPanicked, value)
		if of, is := value.(runtime.Error); is {
			err = fmt.Errorf("%w: %w", errPanicked, of)
		}
		warn(log, code, err.Error(), slog.String("stack", string(debug.Stack())))
	}()
	return ask()
}

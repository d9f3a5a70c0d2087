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
	"urlmode.example/urlmode/internal/timing"
)

// needsRecheck reports whether an event has asked for a recheck that nobody has answered. A payment that
// ended without an accept may have been paid late. One that is held was paid.
func needsRecheck(read *row) bool {
	if read.rechecks <= read.rechecked {
		return false
	}
	return read.status != Completed || read.kind == Payment && read.action != Accept && !read.held
}

// recheck begins a recheck if an event asks for one. True while one is running: its
// end makes the row due again. The caller holds the lock.
func (w *waits) recheck(of *entry, read *row) bool {
	if of.nextRecheck != nil {
		of.nextRecheck.Stop()
		of.nextRecheck = nil
	}
	if !needsRecheck(read) {
		return false
	}
	if begunOn, running := w.rechecking[of.key.id]; running {
		// An outcome that the row got meanwhile needs no answer.
		return read.status != Completed || begunOn == Completed
	}
	var asking *wait
	for each := of.first; each != nil; each = each.next {
		if each.canRecheck() {
			asking = each
			break
		}
	}
	if asking == nil {
		return false
	}
	if read.recheckInMs > 0 {
		key := of.key
		of.nextRecheck = time.AfterFunc(time.Duration(read.recheckInMs)*time.Millisecond, func() { w.wakeKeys(key) })
		return false
	}
	w.rechecking[of.key.id] = read.status
	w.run(func() { w.runRecheck(of.key, read.provider, asking) })
	return true
}

func (w *waits) runRecheck(k rowKey, provider string, asking *wait) {
	failure, err := w.askProvider(k, provider, asking.options.Recheck)
	w.mu.Lock()
	delete(w.rechecking, k.id)
	asking.rechecked = err == nil
	w.mu.Unlock()
	if err == nil && failure != nil {
		// Somebody else may have completed the row meanwhile. That outcome counts.
		var now *row
		if now, err = w.db.read(w.ctx, k); err == nil && (now == nil || now.status != Completed) {
			w.mu.Lock()
			asking.reject(failure)
			w.mu.Unlock()
		}
	}
	if err != nil {
		if isRefusal(err) {
			w.failKeys([]rowKey{k}, err)
		}
		timing.Sleep(w.ctx, timing.Jittered(limits.ReadRetry))
	}
	w.wakeKeys(k)
}

// askProvider asks, unless somebody else is asking, and completes the row with the
// answer. failure is the error of the function, or of an answer that is not valid; err is one of PostgreSQL.
func (w *waits) askProvider(k rowKey, provider string, ask func(context.Context, Recheck) (*Answer, error)) (failure, err error) {
	taken, err := w.db.takeRecheck(w.ctx, k, limits.RecheckLease)
	if err != nil || taken == nil {
		return nil, err
	}
	event := Recheck{ElicitationID: k.id, Provider: provider, Type: taken.eventType, References: taken.references}
	if taken.expected != nil {
		json.Unmarshal([]byte(*taken.expected), &event.Expected) // as the database has checked it
	}
	slow := time.AfterFunc(limits.RecheckLease, func() {
		warn(w.log, "URLMODE_RECHECK", fmt.Sprintf("recheck of elicitation %s takes more than %s: another instance may begin one meanwhile",
			k.id, limits.RecheckLease))
	})
	answer, failure := guarded(w.log, "URLMODE_RECHECK", func() (*Answer, error) { return ask(w.ctx, event) })
	if failure == nil && answer != nil {
		failure = w.complete(w.ctx, k, *answer)
	}
	slow.Stop()
	if errors.Is(failure, ErrMismatch) || errors.Is(failure, ErrReference) {
		// A stranger may have sent the reference. The wait continues.
		warn(w.log, "URLMODE_RECHECK", "recheck changed nothing: "+failure.Error())
		failure = nil
	}
	return failure, w.db.endRecheck(w.ctx, k, taken, failure != nil)
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

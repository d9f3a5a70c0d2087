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
func (ws *waits) recheck(e *entry, read *row) bool {
	if e.nextRecheck != nil {
		e.nextRecheck.Stop()
		e.nextRecheck = nil
	}
	if !needsRecheck(read) {
		return false
	}
	if begunOn, running := ws.rechecking[e.key.id]; running {
		// An outcome that the row got meanwhile needs no answer.
		return read.status != Completed || begunOn == Completed
	}
	var asking *wait
	for each := e.first; each != nil; each = each.next {
		if each.canRecheck() {
			asking = each
			break
		}
	}
	if asking == nil {
		return false
	}
	if read.recheckInMs > 0 {
		key := e.key
		e.nextRecheck = time.AfterFunc(time.Duration(read.recheckInMs)*time.Millisecond, func() { ws.wakeKeys(key) })
		return false
	}
	ws.rechecking[e.key.id] = read.status
	ws.run(func() { ws.runRecheck(e.key, read.provider, asking) })
	return true
}

func (ws *waits) runRecheck(k rowKey, provider string, asking *wait) {
	failure, err := ws.askProvider(k, provider, asking.options.Recheck)
	ws.mu.Lock()
	delete(ws.rechecking, k.id)
	asking.rechecked = err == nil
	ws.mu.Unlock()
	if err == nil && failure != nil {
		// Somebody else may have completed the row meanwhile. That outcome counts.
		var now *row
		if now, err = ws.db.read(ws.ctx, k); err == nil && (now == nil || now.status != Completed) {
			ws.mu.Lock()
			asking.reject(failure)
			ws.mu.Unlock()
		}
	}
	if err != nil {
		if isRefusal(err) {
			ws.failKeys([]rowKey{k}, err)
		}
		timing.Sleep(ws.ctx, timing.Jittered(limits.ReadRetry))
	}
	ws.wakeKeys(k)
}

// askProvider asks, unless somebody else is asking, and completes the row with the
// answer. failure is the error of the function, or of an answer that is not valid; err is one of PostgreSQL.
func (ws *waits) askProvider(k rowKey, provider string, ask func(context.Context, Recheck) (*Answer, error)) (failure, err error) {
	taken, err := ws.db.takeRecheck(ws.ctx, k, limits.RecheckLease)
	if err != nil || taken == nil {
		return nil, err
	}
	event := Recheck{ElicitationID: k.id, Provider: provider, Type: taken.eventType, References: taken.unprovenReferences}
	if taken.expected != "" {
		json.Unmarshal([]byte(taken.expected), &event.Expected) // as the database has checked it
	}
	slow := time.AfterFunc(limits.RecheckLease, func() {
		warn(ws.log, "URLMODE_RECHECK", fmt.Sprintf("recheck of elicitation %s takes more than %s: another instance may begin one meanwhile",
			k.id, limits.RecheckLease))
	})
	answer, failure := guarded(ws.log, "URLMODE_RECHECK", func() (*Answer, error) { return ask(ws.ctx, event) })
	if failure == nil && answer != nil {
		failure = ws.complete(ws.ctx, k, *answer)
	}
	slow.Stop()
	if errors.Is(failure, ErrMismatch) || errors.Is(failure, ErrReference) {
		// A stranger may have sent the reference. The wait continues.
		warn(ws.log, "URLMODE_RECHECK", "recheck changed nothing: "+failure.Error())
		failure = nil
	}
	return failure, ws.db.endRecheck(ws.ctx, k, taken, failure != nil)
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

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// errPanicked is how a wait has ended for the metrics, or, of a function that no goroutine of the caller has called, its error.
var errPanicked = errors.New("a function of the caller has panicked")

// wait is one call of Wait. waits.mu protects it; whatever happens first settles it. There may be very many, so it has 128 bytes,
// the next larger size of which is 144.
type wait struct {
	ctx     context.Context
	forget  func() bool  // that it is woken when ctx ends
	entry   *entry       // nil: it could not begin
	next    *wait        // of the same entry
	at      **wait       // what points to it: the entry, or the wait before
	options *WaitOptions // of the caller, or defaultWaitOptions
	// Something has changed: answer looks what.
	signal chan struct{}

	outcome  *Outcome // nil after an error
	err      error
	progress []Progress    // not told yet
	began    time.Duration // in the time of waits

	failedAttempts int16 // -1: the row was not read
	seen           byte  // of statuses
	done           bool
	closed         bool // by Close
	rechecked      bool // A wait that looks once asks once.
	isSecret       bool // The outcome has something that is purged soon after it was read.
	looked         bool // The row was open. What the wait abandons is still to be ended.
}

// defaultWaitOptions are the options of Wait. Nobody changes them.
var defaultWaitOptions = &WaitOptions{}

// statuses are those of a row that is open, in their order.
var statuses = []Status{Pending, Opened, Processing}

func newWait(ctx context.Context, o *WaitOptions) *wait {
	return &wait{ctx: ctx, options: o, signal: make(chan struct{}, 1), failedAttempts: -1}
}

// canRecheck reports whether a function of the wait, or of the provider, can be asked for it now.
func (ws *waits) canRecheck(w *wait, provider string) bool {
	return !w.done && !(w.options.Once && w.rechecked) && (w.options.Recheck != nil || ws.rechecks.of(provider) != nil)
}

func (w *wait) canVerify() bool { return !w.done && w.options.Verify != nil }

func (w *wait) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

func (w *wait) resolve(outcome *Outcome) {
	if !w.done {
		w.done, w.outcome = true, outcome
		w.wake()
	}
}

func (w *wait) reject(err error) {
	if !w.done {
		w.done, w.err = true, err
		w.wake()
	}
}

// look ends a wait that looks once, for a row that is open.
func (w *wait) look(status Status) {
	if w.options.Abandon {
		w.looked = true
		w.wake()
	} else {
		w.reject(timedOut(w.entry.key.id, status, nil))
	}
}

// report keeps each status for OnProgress at most once, and never an earlier one after a later one;
// and each attempt that has failed since the wait began.
func (w *wait) report(read *row) {
	before := len(w.progress)
	if now := slices.Index(statuses, read.status); now > int(w.seen) {
		w.seen = byte(now)
		w.progress = append(w.progress, Progress(read.status))
	}
	failed := int16(min(read.failedAttempts, math.MaxInt16)) // of which nobody is told more
	if w.failedAttempts >= 0 {
		for range failed - w.failedAttempts {
			w.progress = append(w.progress, ProgressAttemptFailed)
		}
	}
	w.failedAttempts = failed
	if w.options.Progress == nil {
		w.progress = nil
	} else if len(w.progress) > before {
		w.wake()
	}
}

// take returns what is to be told, whether the wait has ended, whether it has looked, and whether the instance was closed.
func (ws *waits) take(w *wait) (progress []Progress, done, looked, closed bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	progress, w.progress = w.progress, nil
	return progress, w.done, w.looked, w.closed
}

// await waits in the goroutine of its caller, of whose stack it needs little: see starter. A select needs 200 bytes more. With
// those, a stack of 2 KB has to grow to 4. This would cost 200 MB for 100,000 waits.
func (ws *waits) await(w *wait) error {
	for <-w.signal; !ws.answer(w); <-w.signal {
	}
	return w.err
}

// answer tells what is to be told, and ends the wait if it is to end.
//
//go:noinline
func (ws *waits) answer(w *wait) bool {
	if w.entry == nil {
		return true
	}
	progress, done, looked, closed := ws.take(w)
	if len(progress) > 0 {
		isReported := false
		defer func() {
			if !isReported { // The function of the caller has panicked.
				ws.remove(w, nil, errPanicked)
			}
		}()
		for _, each := range progress {
			w.options.Progress(each)
		}
		isReported = true
	}
	var outcome *Outcome
	var err error
	switch {
	case done: // From then on nobody writes them.
		outcome, err = w.outcome, w.err
	case w.ctx.Err() != nil:
		outcome, err = ws.giveUp(w, w.ctx.Err())
	case looked:
		outcome, err = ws.giveUp(w, nil)
	case closed:
		outcome, err = ws.giveUpClosed(w)
	default:
		return false
	}
	ws.remove(w, outcome, err)
	return true
}

// giveUp ends a wait whose context has ended, with its error as the cause, or one that has looked once, which has none. If it
// abandons its elicitation and somebody else has completed that meanwhile, a wait that was in time ends with that outcome.
func (ws *waits) giveUp(w *wait, cause error) (*Outcome, error) {
	late := cause == nil || errors.Is(cause, context.DeadlineExceeded)
	ws.mu.Lock()
	if w.done {
		ws.mu.Unlock()
		return w.outcome, w.err
	}
	status := statuses[w.seen]
	ws.mu.Unlock()
	reason := "aborted"
	if late {
		reason = "timeout"
	}
	if w.options.Abandon {
		ended := ws.abandon(w.entry.key, reason)
		switch {
		case !late:
		case ended == "already":
			// Somebody else has completed it just now: the row is about to be read.
			if ws.isSettledSoon(w) && w.err == nil {
				return w.outcome, nil
			}
		case ended == "opened" || ended == "processing":
			status = Status(ended)
		}
	}
	if late {
		return nil, timedOut(w.entry.key.id, status, cause)
	}
	return nil, cause
}

// giveUpClosed ends a wait because the instance is closed. Only an accept or a decline counts, because other waits that end
// at the same moment cancel the same elicitation.
func (ws *waits) giveUpClosed(w *wait) (*Outcome, error) {
	if w.options.Abandon {
		ws.abandon(w.entry.key, "closed")
	}
	if _, done, _, _ := ws.take(w); done && w.err == nil && w.outcome.Action != Cancel {
		return w.outcome, nil
	}
	return nil, errorClosed()
}

func (ws *waits) abandon(k rowKey, reason string) string {
	ctx, cancel := context.WithTimeout(context.Background(), limits.Abandon)
	defer cancel()
	ended, _ := ws.db.abandon(ctx, abandoned{k, Cancel, reason})
	return ended
}

func (ws *waits) isSettledSoon(w *wait) bool {
	ws.wakeKeys(w.entry.key)
	timer := time.NewTimer(limits.Abandon)
	defer timer.Stop()
	for {
		if _, done, _, closed := ws.take(w); done || closed {
			return done
		}
		select {
		case <-w.signal:
		case <-timer.C:
			return false
		}
	}
}

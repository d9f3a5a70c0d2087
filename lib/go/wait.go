// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"slices"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// errPanicked is how a wait has ended for the metrics, or, of a function that no goroutine of the caller has called, its error.
var errPanicked = errors.New("a function of the caller has panicked")

// wait is one call of Wait. waits.mu protects it; whatever happens first settles it. There may be very many, so it is small.
type wait struct {
	ctx     context.Context
	forget  func() bool  // that it is woken when ctx ends
	entry   *entry       // nil: it could not begin
	next    *wait        // of the same entry
	options *WaitOptions // of the caller, or plainly
	// Something has changed: answer looks what.
	signal chan struct{}

	outcome  *Outcome // nil after an error
	err      error
	progress []Progress    // not told yet
	began    time.Duration // in the time of waits

	failedAttempts int32 // -1: the row was not read
	seen           byte  // of statuses
	done           bool
	closed         bool // by Close
	rechecked      bool // A wait that looks once asks once.
	isSecret       bool // The outcome has something that is purged soon after it was read.
	looked         bool // The row was open. What the wait abandons is still to be ended.
}

// plainly are the options of Wait. Nobody changes them.
var plainly = &WaitOptions{}

// statuses are those of a row that is open, in their order.
var statuses = []Status{Pending, Opened, Processing}

func newWait(ctx context.Context, o *WaitOptions) *wait {
	return &wait{ctx: ctx, options: o, signal: make(chan struct{}, 1), failedAttempts: -1}
}

func (w *wait) canRecheck() bool {
	return !w.done && w.options.Recheck != nil && !(w.options.Once && w.rechecked)
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

// hear reports each status at most once, and never an earlier one after a later one;
// and each attempt that has failed since the wait began.
func (w *wait) hear(read *row) {
	before := len(w.progress)
	if now := slices.Index(statuses, read.status); now > int(w.seen) {
		w.seen = byte(now)
		w.progress = append(w.progress, Progress(read.status))
	}
	if w.failedAttempts >= 0 {
		for range int32(read.failedAttempts) - w.failedAttempts {
			w.progress = append(w.progress, ProgressAttemptFailed)
		}
	}
	w.failedAttempts = int32(read.failedAttempts)
	if w.options.Progress == nil {
		w.progress = nil
	} else if len(w.progress) > before {
		w.wake()
	}
}

// take returns what is to be told, whether the wait has ended, whether it has looked, and whether the instance was closed.
func (w *waits) take(one *wait) (progress []Progress, done, looked, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	progress, one.progress = one.progress, nil
	return progress, one.done, one.looked, one.closed
}

// await waits in the goroutine of its caller, of whose stack it needs little: see beginnings. A select needs 200 bytes more. With
// those, a stack of 2 KB has to grow to 4. This would cost 200 MB for 100,000 waits.
func (w *waits) await(one *wait) error {
	for <-one.signal; !w.answer(one); <-one.signal {
	}
	return one.err
}

// answer tells what is to be told, and ends the wait if it is to end.
//
//go:noinline
func (w *waits) answer(one *wait) bool {
	if one.entry == nil {
		return true
	}
	progress, done, looked, closed := w.take(one)
	if len(progress) > 0 {
		isTold := false
		defer func() {
			if !isTold { // The function of the caller has panicked.
				w.remove(one, nil, errPanicked)
			}
		}()
		for _, each := range progress {
			one.options.Progress(each)
		}
		isTold = true
	}
	var outcome *Outcome
	var err error
	switch {
	case done: // From then on nobody writes them.
		outcome, err = one.outcome, one.err
	case one.ctx.Err() != nil:
		outcome, err = w.giveUp(one, one.ctx.Err())
	case looked:
		outcome, err = w.giveUp(one, nil)
	case closed:
		outcome, err = w.giveUpClosed(one)
	default:
		return false
	}
	w.remove(one, outcome, err)
	return true
}

// giveUp ends a wait whose context has ended, with its error as the cause, or one that has looked once, which has none. If it
// abandons its elicitation and somebody else has completed that meanwhile, a wait that was in time ends with that outcome.
func (w *waits) giveUp(one *wait, cause error) (*Outcome, error) {
	late := cause == nil || errors.Is(cause, context.DeadlineExceeded)
	w.mu.Lock()
	if one.done {
		w.mu.Unlock()
		return one.outcome, one.err
	}
	status := statuses[one.seen]
	w.mu.Unlock()
	reason := "aborted"
	if late {
		reason = "timeout"
	}
	if one.options.Abandon {
		ended := w.abandon(one.entry.key, reason)
		switch {
		case !late:
		case ended == "already":
			// Somebody else has completed it just now: the row is about to be read.
			if w.isSettledSoon(one) && one.err == nil {
				return one.outcome, nil
			}
		case ended == "opened" || ended == "processing":
			status = Status(ended)
		}
	}
	if late {
		return nil, timedOut(one.entry.key.id, status, cause)
	}
	return nil, cause
}

// giveUpClosed ends a wait because the instance is closed. Only an accept or a decline counts, because other waits that end
// at the same moment cancel the same elicitation.
func (w *waits) giveUpClosed(one *wait) (*Outcome, error) {
	if one.options.Abandon {
		w.abandon(one.entry.key, "closed")
	}
	if _, done, _, _ := w.take(one); done && one.err == nil && one.outcome.Action != Cancel {
		return one.outcome, nil
	}
	return nil, errorClosed()
}

func (w *waits) abandon(k rowKey, reason string) string {
	ctx, cancel := context.WithTimeout(context.Background(), limits.Abandon)
	defer cancel()
	ended, _ := w.db.abandon(ctx, abandoned{k, Cancel, reason})
	return ended
}

func (w *waits) isSettledSoon(one *wait) bool {
	w.wakeKeys(one.entry.key)
	timer := time.NewTimer(limits.Abandon)
	defer timer.Stop()
	for {
		if _, done, _, closed := w.take(one); done || closed {
			return done
		}
		select {
		case <-one.signal:
		case <-timer.C:
			return false
		}
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// batches makes one statement of what is asked for while others are under way. One alone is not delayed.
type batches[T, A any] struct {
	// run is one statement, in a transaction of its own, with an answer for each element, in their order. It asks for the elements when it
	// has a connection; if there is none, it sends nothing.
	run func(ctx context.Context, elements func() []T) ([]A, error)
	// after is the clock of a test, in place of time.After.
	after func(time.Duration) <-chan time.Time

	mu       sync.Mutex
	queued   []*queued[T, A]
	underWay int
}

type queued[T, A any] struct {
	ctx     context.Context
	element T
	done    chan struct{}
	answer  A
	err     error
	// Whoever asks has given up before the element was sent. Protected by batches.mu, as are the next two.
	gone bool
	sent bool
	// Why it is not sent once more: it has waited as long as it may, or its caller has given up.
	late error
}

// ask is given a context that ends with the instance. With the end of its caller's, an element that was not sent leaves the queue.
func (b *batches[T, A]) ask(ctx context.Context, element T) (A, error) {
	one := &queued[T, A]{ctx: ctx, element: element, done: make(chan struct{})}
	var given <-chan struct{}
	caller := callerOf(ctx)
	if caller != nil {
		if err := caller.Err(); err != nil {
			return one.answer, err
		}
		given = caller.Done()
	}
	after := time.After
	if b.after != nil {
		after = b.after
	}
	overdue := after(limits.BatchWait)
	b.mu.Lock()
	b.queued = append(b.queued, one)
	if b.underWay < limits.BatchesAtOnce {
		b.underWay++
		go b.work()
	}
	b.mu.Unlock()
	var why error
	select {
	case <-one.done:
		return one.answer, one.err
	case <-overdue:
		why = errorOverdue()
	case <-given:
		why = caller.Err()
	}
	b.mu.Lock()
	isGone := !one.sent
	one.late, one.gone = why, isGone
	b.mu.Unlock()
	if isGone {
		var none A
		return none, why
	}
	<-one.done
	return one.answer, one.err
}

func (b *batches[T, A]) work() {
	for {
		b.mu.Lock()
		if len(b.queued) == 0 {
			b.underWay--
			b.mu.Unlock()
			return
		}
		size := min(limits.BatchMax, len(b.queued))
		batch := b.queued[:size:size]
		b.queued = b.queued[size:]
		b.mu.Unlock()
		b.answer(batch)
	}
}

// answer runs the statement for some elements. One bad element fails alone, because a batch that is refused is tried again in halves,
// as long as its callers wait. That never happens after an error that leaves open whether the statement was carried out.
// Its context has the values of the first one's caller.
func (b *batches[T, A]) answer(all []*queued[T, A]) {
	wanted := b.wanted(all)
	if len(wanted) == 0 {
		return
	}
	var batch []*queued[T, A]
	ctx, cancel := context.WithCancel(context.WithValue(wanted[0].ctx, callerKey{}, nil))
	defer cancel()
	answers, err := b.run(ctx, func() []T {
		batch = b.send(wanted)
		elements := make([]T, len(batch))
		for i, one := range batch {
			elements[i] = one.element
		}
		return elements
	})
	if batch == nil { // No connection was to be had.
		batch = b.send(wanted)
	}
	if err == nil && len(answers) != len(batch) {
		err = unexpected(fmt.Sprintf("%d of %d elements", len(answers), len(batch)))
	}
	if err != nil && len(batch) > 1 && isOfAnElement(err) {
		b.mu.Lock()
		for _, one := range batch {
			one.sent = false
			if one.late != nil {
				one.gone, one.err = true, one.late
				close(one.done)
			}
		}
		b.mu.Unlock()
		half := (len(batch) + 1) / 2
		b.answer(batch[:half])
		b.answer(batch[half:])
		return
	}
	for i, one := range batch {
		if one.err = err; err == nil {
			one.answer = answers[i]
		}
		close(one.done)
	}
}

// wanted are those whose callers still wait.
func (b *batches[T, A]) wanted(all []*queued[T, A]) (wanted []*queued[T, A]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range all {
		if !one.gone {
			wanted = append(wanted, one)
		}
	}
	return wanted
}

// send are those that are still wanted. From now on they are awaited.
func (b *batches[T, A]) send(all []*queued[T, A]) (sent []*queued[T, A]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range all {
		if !one.gone {
			one.sent = true
			sent = append(sent, one)
		}
	}
	return sent
}

func errorOverdue() error {
	return errorBusy(fmt.Sprintf("the call has waited %s for others", limits.BatchWait))
}

// isOfAnElement reports whether the server has refused a statement for the sake of one of its elements, or of another transaction: data,
// constraints, RAISE, deadlocks, locks that take too long. Nothing of the statement has happened then.
func isOfAnElement(err error) bool {
	state := sqlstate(err)
	return slices.ContainsFunc(elementClasses, func(start string) bool { return strings.HasPrefix(state, start) })
}

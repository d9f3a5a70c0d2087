// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// batches makes one statement of what is asked for while others are under way. One alone is not delayed.
type batches[T, A any] struct {
	// run is one statement, in a transaction of its own, with an answer for each element, in their order.
	run func(context.Context, []T) ([]A, error)
	// after is the clock of a test, in place of time.After.
	after func(time.Duration) <-chan time.Time

	mu       sync.Mutex
	queued   []*queued[T, A]
	underWay int
}

type queued[T, A any] struct {
	element T
	done    chan struct{}
	answer  A
	err     error
	// Whoever asks has given up before the element was sent. Protected by batches.mu, as are the next two.
	gone bool
	sent bool
	// It has waited as long as it may. It is not sent once more.
	overdue bool
}

// ask is given a context that ends with the instance, not with a caller.
func (b *batches[T, A]) ask(ctx context.Context, element T) (A, error) {
	one := &queued[T, A]{element: element, done: make(chan struct{})}
	after := time.After
	if b.after != nil {
		after = b.after
	}
	overdue := after(limits.BatchWait)
	b.mu.Lock()
	b.queued = append(b.queued, one)
	if b.underWay < limits.BatchesAtOnce {
		b.underWay++
		go b.work(ctx)
	}
	b.mu.Unlock()
	select {
	case <-one.done:
	case <-overdue:
		b.mu.Lock()
		isGone := !one.sent
		one.overdue, one.gone = true, isGone
		b.mu.Unlock()
		if isGone {
			var none A
			return none, errorOverdue()
		}
		<-one.done
	}
	return one.answer, one.err
}

func (b *batches[T, A]) work(ctx context.Context) {
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
		b.answer(ctx, batch)
	}
}

// answer runs the statement for some elements. One bad element fails alone, because a batch that is refused is tried again in halves,
// as long as its callers wait. That never happens after an error that leaves open whether the statement was carried out.
func (b *batches[T, A]) answer(ctx context.Context, all []*queued[T, A]) {
	var batch []*queued[T, A]
	var elements []T
	b.mu.Lock()
	for _, one := range all {
		if !one.gone {
			one.sent = true
			batch, elements = append(batch, one), append(elements, one.element)
		}
	}
	b.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	answers, err := b.run(ctx, elements)
	if err == nil && len(answers) != len(batch) {
		err = fmt.Errorf("PostgreSQL has answered %d of %d elements", len(answers), len(batch))
	}
	if err != nil && len(batch) > 1 && isOfAnElement(err) {
		b.mu.Lock()
		for _, one := range batch {
			one.sent = false
			if one.overdue {
				one.gone, one.err = true, errorOverdue()
				close(one.done)
			}
		}
		b.mu.Unlock()
		half := (len(batch) + 1) / 2
		b.answer(ctx, batch[:half])
		b.answer(ctx, batch[half:])
		return
	}
	for i, one := range batch {
		if one.err = err; err == nil {
			one.answer = answers[i]
		}
		close(one.done)
	}
}

func errorOverdue() error {
	return errorBusy(fmt.Sprintf("the call has waited %s for others", limits.BatchWait))
}

// isOfAnElement reports whether the server has refused a statement for the sake of one of its elements, or of another transaction: data,
// constraints, RAISE, deadlocks, locks that take too long. Nothing of the statement has happened then.
func isOfAnElement(err error) bool {
	state := sqlstate(err)
	if len(state) != 5 {
		return false
	}
	switch state[:2] {
	case "22", "23", "P0", "40":
		return true
	}
	return state == "55P03" || state == "57014"
}

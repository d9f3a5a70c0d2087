// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"iter"
	"math"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// Ledger is everything about money, in order: each entry at least once, and acknowledged when the loop asks for the next one. A loop
// that breaks or returns leaves its entry unacknowledged. It waits for entries until ctx ends or the instance is closed, and for its turn
// while another instance reads for this consumer. An error is the last thing that it yields: an argument, ErrClosed, or a database
// without the function; while PostgreSQL is unavailable, it waits.
func (m *Instance) Ledger(ctx context.Context, o LedgerOptions) iter.Seq2[LedgerEntry, error] {
	return func(yield func(LedgerEntry, error) bool) {
		if err := checkContext(ctx); err != nil {
			yield(LedgerEntry{}, err)
			return
		}
		if !consumerForm.MatchString(o.Consumer) {
			yield(LedgerEntry{}, argumentError(texts.ConsumerName))
			return
		}
		m.rechecks.start()
		reading, err := m.ledger.begin(ctx, m, o.Consumer)
		if err != nil {
			yield(LedgerEntry{}, err)
			return
		}
		defer m.ledger.end(reading)
		if err := reading.follow(yield); err != nil {
			yield(LedgerEntry{}, err)
		}
	}
}

// Paid says whether this user has paid for this item: a payment that was as expected, and that did not go back as a whole. One that is
// held counts once a call has claimed it; with Delivered, each counts only then.
func (m *Instance) Paid(ctx context.Context, o PaidOptions) (paid bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	if err := checkText("Subject", o.Subject, 1, limits.SubjectMax); err != nil {
		return false, err
	}
	if err := checkText("Item", o.Item, 1, limits.ItemMax); err != nil {
		return false, err
	}
	values := paidValues{subject: o.Subject, item: o.Item, tenant: string(m.tenant)}
	if !o.Since.IsZero() {
		values.since = &o.Since
	}
	if o.Delivered {
		return one(ctx, m.pool, sqlDelivered, deliveredValues(values))
	}
	return one(ctx, m.pool, sqlPaid, values)
}

// ledger has the loops of an instance.
type ledger struct {
	mu       sync.Mutex
	readings map[*reading]struct{}
	closed   bool
}

func (l *ledger) begin(ctx context.Context, m *Instance, consumer string) (*reading, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errorClosed()
	}
	r := &reading{pool: m.pool, listener: m.listener, tenant: string(m.tenant), consumer: consumer, woken: make(chan struct{}, 1), ended: make(chan struct{}), interval: limits.PollMin}
	r.ctx, r.cancel = context.WithCancel(ctx)
	l.readings[r] = struct{}{}
	m.listener.subscribe(r)
	return r, nil
}

func (l *ledger) end(r *reading) {
	r.cancel()
	r.listener.unsubscribe(r)
	r.giveBack()
	l.mu.Lock()
	delete(l.readings, r)
	l.mu.Unlock()
	close(r.ended)
}

// close ends the loops that wait for an entry. One that is at an entry ends when it asks for the next, and the entry comes again.
func (l *ledger) close() {
	l.mu.Lock()
	l.closed = true
	var all []*reading
	for r := range l.readings {
		all = append(all, r)
	}
	l.mu.Unlock()
	var ending sync.WaitGroup
	for _, r := range all {
		r.cancel()
		if !r.isBusy() {
			ending.Add(1)
			go func() {
				defer ending.Done()
				<-r.ended
			}()
		}
	}
	// It gives its lease back while there are connections.
	waitBriefly(&ending)
}

// reading is one loop over the ledger.
type reading struct {
	pool     *pool
	listener *listener
	tenant   string
	consumer string
	ctx      context.Context
	cancel   context.CancelFunc
	woken    chan struct{} // there may be more than was read
	ended    chan struct{} // closed when it has given its lease back
	interval time.Duration // of the next pause

	mu       sync.Mutex
	lease    int64 // 0: another instance may read for the consumer
	renewing context.CancelFunc
	busy     bool // somebody deals with an entry
}

func (r *reading) notified(all []notification) {
	for _, each := range all {
		if each.Status == string(Completed) || each.Late || each.Refunded {
			r.wake()
			return
		}
	}
}

func (r *reading) listening() { r.wake() }

func (r *reading) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

func (r *reading) isBusy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

func (r *reading) setBusy(busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = busy
}

func (r *reading) current() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lease
}

// follow returns an error that does not pass.
func (r *reading) follow(yield func(LedgerEntry, error) bool) error {
	for r.ctx.Err() == nil {
		begun, err := untilAnswered(r, func() (begunLedger, error) {
			return one(r.ctx, r.pool, sqlBeginLedger, beginLedgerValues{r.consumer, limits.LedgerLease.Milliseconds(), r.tenant})
		})
		if err != nil {
			return err
		}
		if begun.lease == nil {
			r.pause(min(time.Duration(begun.waitMs)*time.Millisecond, r.nextInterval()))
			continue
		}
		r.interval = limits.PollMin
		r.hold(*begun.lease)
		if goesOn, err := r.read(*begun.lease, yield); err != nil || !goesOn {
			return err
		}
	}
	return nil
}

// read yields entries until another instance reads. It returns false if the loop has ended.
func (r *reading) read(lease int64, yield func(LedgerEntry, error) bool) (bool, error) {
	for r.ctx.Err() == nil && r.current() == lease {
		page, err := untilAnswered(r, func() ([]ledgerRow, error) {
			return call(r.ctx, r.pool, func(ctx context.Context) ([]ledgerRow, error) {
				return run(ctx, r.pool, sqlReadLedger, readLedgerValues{r.consumer, lease, limits.LedgerPageMax, r.tenant})
			})
		})
		if err != nil {
			return false, err
		}
		for _, row := range page {
			if r.ctx.Err() != nil {
				return false, nil
			}
			r.setBusy(true)
			goesOn := yield(toLedgerEntry(row), nil)
			if !goesOn {
				r.setBusy(false)
				return false, nil
			}
			// It was dealt with, also where the context has ended meanwhile.
			kept, err := untilAnswered(r, func() (bool, error) { return r.acknowledge(lease, &row.number) })
			r.setBusy(false)
			if err != nil {
				return false, err
			}
			if !kept {
				r.lose(lease)
				return true, nil
			}
		}
		if len(page) > 0 {
			r.interval = limits.PollMin
		} else {
			r.pause(r.nextInterval())
		}
	}
	return true, nil
}

// acknowledge renews the lease alone if there is no number. The end of the context does not end it.
func (r *reading) acknowledge(lease int64, number *int64) (bool, error) {
	return one(context.WithoutCancel(r.ctx), r.pool, sqlAcknowledgeLedger,
		acknowledgeLedgerValues{r.consumer, lease, number, limits.LedgerLease.Milliseconds(), r.tenant})
}

// hold renews the lease until it is lost or given back.
func (r *reading) hold(lease int64) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.ctx))
	r.mu.Lock()
	r.lease, r.renewing = lease, cancel
	r.mu.Unlock()
	go func() {
		for timing.Sleep(ctx, limits.LedgerLease/limits.ClaimRenewals) == nil {
			// After a failure the next renewal, or the next statement, tells.
			if kept, err := r.acknowledge(lease, nil); err == nil && !kept {
				r.lose(lease)
			}
		}
	}()
}

// lose notes that another instance reads. It returns whether this one had the lease.
func (r *reading) lose(lease int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lease == 0 || r.lease != lease {
		return false
	}
	r.lease = 0
	r.renewing()
	r.wake()
	return true
}

// giveBack lets another instance begin at once. If it fails, the lease ends by itself.
func (r *reading) giveBack() {
	if lease := r.current(); r.lose(lease) {
		_, _ = one(context.WithoutCancel(r.ctx), r.pool, sqlEndLedger, endLedgerValues{r.consumer, lease, r.tenant})
	}
}

// untilAnswered asks again while PostgreSQL is unavailable, as waits do, and until the loop is to end.
func untilAnswered[T any](r *reading, ask func() (T, error)) (T, error) {
	for {
		answer, err := ask()
		switch {
		case err == nil:
			return answer, nil
		case r.ctx.Err() != nil:
			return answer, nil
		case isRefusal(err):
			return answer, err
		}
		r.pause(timing.Jittered(limits.ReadRetry))
	}
}

func (r *reading) nextInterval() time.Duration {
	interval := r.interval
	r.interval = time.Duration(math.Min(float64(limits.PollMax), float64(interval)*limits.PollGrowth))
	return timing.Jittered(interval)
}

func (r *reading) pause(interval time.Duration) {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.woken:
	case <-r.ctx.Done():
	}
}

func toLedgerEntry(r ledgerRow) LedgerEntry {
	e := LedgerEntry{Number: r.number, Type: r.entryType, EnteredAt: r.enteredAt, Kind: r.kind, Provider: r.provider, ElicitationID: r.elicitation,
		Subject: r.subject, Item: r.item, Reference: r.reference, Payment: r.payment, Checkout: r.checkout, Amount: r.amount, Currency: r.currency,
		Refunded: r.refunded, Status: r.status}
	if r.occurredAt != nil {
		e.OccurredAt = *r.occurredAt
	}
	if r.evidenceDueAt != nil {
		e.EvidenceDueAt = *r.evidenceDueAt
	}
	return e
}

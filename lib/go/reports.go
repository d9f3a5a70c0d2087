// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// LatePayments is each payment that is proved after the end of its elicitation, from this call on until
// the context or the instance ends. The loop may begin later. Where notifications do not arrive, it polls.
func (m *Instance) LatePayments(ctx context.Context) iter.Seq[ProvenPayment] {
	type name struct{ provider, reference string }
	reports := reportsOf(ctx, m, kindOfReport[UnclaimedPayment, name, int64]{
		matches: func(a notification) bool { return a.Late },
		read: func(ctx context.Context, f filter) ([]UnclaimedPayment, error) {
			all, err := m.readUnclaimed(ctx, f)
			return slices.DeleteFunc(all, func(p UnclaimedPayment) bool { return !p.Late }), err
		},
		reported: func(p UnclaimedPayment) (name, int64) { return name{p.Provider, p.Reference}, p.Amount },
	})
	return func(yield func(ProvenPayment) bool) {
		for each := range reports {
			if !yield(each.ProvenPayment) {
				return
			}
		}
	}
}

// NewRefunds is each change of Refunds, from this call on until the context or the instance ends. The loop may begin later. Where
// notifications do not arrive, it polls.
func (m *Instance) NewRefunds(ctx context.Context) iter.Seq[Refund] {
	type name struct{ provider, reference, elicitation string }
	type state struct {
		payment          string
		amount, reversed int64
	}
	return reportsOf(ctx, m, kindOfReport[Refund, name, state]{
		matches: func(a notification) bool { return a.Refunded },
		read:    m.readRefunds,
		reported: func(r Refund) (name, state) {
			now := state{amount: -1, reversed: r.Reversed}
			if r.Amount != nil {
				now.amount = *r.Amount
			}
			if r.Payment != nil {
				now.payment = r.Payment.Reference
			}
			return name{r.Provider, r.Reference, r.ElicitationID}, now
		},
	})
}

// kindOfReport is what is reported: its function reported returns what it is about, and the state that is reported when it changes, also to
// what it was before.
type kindOfReport[R any, N, S comparable] struct {
	matches  func(notification) bool
	read     func(context.Context, filter) ([]R, error)
	reported func(R) (N, S)
}

// announced collects the elicitations whose notifications tell of money. A list of all that is new is read as well: once LISTEN is in
// force, where more was announced than is kept, and regularly, which is a poll where notifications do not arrive.
type announced struct {
	matches     func(notification) bool
	woken       chan struct{}
	began       time.Time
	unsubscribe func()

	mu      sync.Mutex
	pending []string
	list    bool
}

func (a *announced) notified(all []notification) {
	for _, each := range all {
		if !a.matches(each) {
			continue
		}
		a.mu.Lock()
		if len(a.pending) < limits.ReportsPendingMax {
			a.pending = append(a.pending, each.ID)
		} else {
			a.list = true
		}
		a.mu.Unlock()
		a.wake()
	}
}

func (a *announced) listening() {
	a.mu.Lock()
	a.list = true
	a.mu.Unlock()
	a.wake()
}

func (a *announced) wake() {
	select {
	case a.woken <- struct{}{}:
	default:
	}
}

// next is the id that is to be read, or whether the list is.
func (a *announced) next() (id string, list bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending) > 0 {
		id, a.pending = a.pending[0], a.pending[1:]
		return id, false
	}
	list, a.list = a.list, false
	return "", list
}

// putBack is for what could not be read.
func (a *announced) putBack(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id != "" {
		a.pending = append([]string{id}, a.pending...)
	} else {
		a.list = true
	}
}

// reportsOf subscribes at once, so that nothing is missed that happens before the loop begins.
func reportsOf[R any, N, S comparable](ctx context.Context, m *Instance, kind kindOfReport[R, N, S]) iter.Seq[R] {
	if ctx == nil {
		return func(func(R) bool) {}
	}
	subscribe := func() *announced {
		a := &announced{matches: kind.matches, woken: make(chan struct{}, 1), began: time.Now(), list: true}
		m.listener.subscribe(a)
		end := sync.OnceFunc(func() { m.listener.unsubscribe(a) })
		forget := context.AfterFunc(ctx, end)
		a.unsubscribe = func() {
			forget()
			end()
		}
		return a
	}
	var first atomic.Pointer[announced]
	first.Store(subscribe())
	return func(yield func(R) bool) {
		a := first.Swap(nil)
		if a == nil { // another loop
			a = subscribe()
		}
		defer a.unsubscribe()
		m.rechecks.start()
		r := &reporting[R, N, S]{kind: kind, m: m, ctx: ctx, announced: a, known: map[N]S{}, cursor: a.began, interval: limits.PollMin}
		r.run(yield)
	}
}

// reporting is one loop. It asks one query at a time, however many notifications there are, because anyone in the database can forge them.
type reporting[R any, N, S comparable] struct {
	kind      kindOfReport[R, N, S]
	m         *Instance
	ctx       context.Context
	announced *announced

	known map[N]S
	order []N
	// cursor is when the last list was read, by the clock of this process.
	cursor   time.Time
	listAt   time.Time
	interval time.Duration
}

func (r *reporting[R, N, S]) run(yield func(R) bool) {
	for r.ctx.Err() == nil {
		id, list := r.announced.next()
		if id == "" && !list && time.Now().Before(r.listAt) {
			if !r.pause(time.Until(r.listAt), r.announced.woken) {
				return
			}
			continue
		}
		all, err := r.read(id)
		if err != nil {
			r.announced.putBack(id)
			if !r.pause(timing.Jittered(limits.ReadRetry), nil) {
				return
			}
			continue
		}
		for _, each := range all {
			if r.isNew(each) && !yield(each) {
				return
			}
		}
	}
}

// read reads what is said of an elicitation, or, without one, all that is new.
func (r *reporting[R, N, S]) read(id string) ([]R, error) {
	if id != "" {
		return r.kind.read(r.ctx, filter{id: id})
	}
	offset, err := r.m.db.clockOffset(r.ctx)
	if err != nil {
		return nil, err
	}
	begun, from := time.Now(), r.announced.began.Add(offset)
	since := r.cursor.Add(offset - limits.ReportsOverlap)
	if since.Before(from) {
		since = from
	}
	all, err := r.kind.read(r.ctx, filter{since: since})
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		r.interval = limits.PollMin
	}
	pause := limits.Routine
	if !r.m.listener.isReceiving() {
		pause = r.interval
		r.interval = min(limits.PollMax, time.Duration(float64(r.interval)*limits.PollGrowth))
	}
	r.cursor, r.listAt = begun, time.Now().Add(timing.Jittered(pause))
	return all, nil
}

func (r *reporting[R, N, S]) isNew(each R) bool {
	name, state := r.kind.reported(each)
	before, known := r.known[name]
	if known && before == state {
		return false
	}
	r.known[name] = state
	if known {
		return true
	}
	if r.order = append(r.order, name); len(r.order) > limits.ReportedMax {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	return true
}

// pause is false if the loop is to end.
func (r *reporting[R, N, S]) pause(interval time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-woken:
	case <-r.ctx.Done():
		return false
	case <-r.m.waits.closing:
		return false
	}
	return true
}

// clockOffset is by how much PostgreSQL's clock is before that of this process, or less, by the time of its answer.
func (db *database) clockOffset(ctx context.Context) (time.Duration, error) {
	if known := db.offset.Load(); known != nil {
		return *known, nil
	}
	return call(ctx, db.pool, func(ctx context.Context) (time.Duration, error) {
		now, err := rows(ctx, db.pool, pgx.RowTo[time.Time], true, "SELECT clock_timestamp()")
		if err != nil || len(now) == 0 {
			return 0, cmp.Or(err, unexpected("no row"))
		}
		offset := time.Until(now[0])
		db.offset.Store(&offset)
		return offset, nil
	})
}

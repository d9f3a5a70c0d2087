// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// queue is that in which an entry waits to be read.
type queue byte

const (
	unqueued queue = iota
	due
	routine // after those that are due
)

// entry is what all waits for one row share. waits.mu protects it.
type entry struct {
	key   rowKey
	first *wait
	next  *entry // of another owner who waits for the same id
	queue queue
	// Whether the row was read for this owner while it was open, and what it is.
	isRead      bool
	kind        byte // of rowKinds
	verifier    *verifier
	closesAt    time.Duration // when the row is to be read because it may have expired, in the time of waits; or zero
	nextRecheck *time.Timer
}

// rowKinds are the kinds of rows. An entry has its place here, because there may be very many.
var rowKinds = []Kind{OAuth, Payment, Signature, Input, Approval}

// waits are all open waits of an instance. A notification, a new wait and a new
// listening connection each make rows due. Rows that are due are read together, one
// read at a time; rows that become due during a read belong to the next one. The row
// alone counts, and a notification is a reason to read it. One that carries the sealed
// outcome saves the read, where the row was read before for this owner.
type waits struct {
	ring     keys
	db       *database
	listener *listener
	purger   *purger
	complete func(context.Context, rowKey, Answer) error
	log      *slog.Logger
	ctx      context.Context
	tasks    sync.WaitGroup
	open     sync.WaitGroup
	asked    beginnings

	start time.Time // from which its time is counted

	mu       sync.Mutex
	entries  map[string]*entry // by id
	due      []*entry
	routine  []*entry
	closesAt time.Time // the earliest, or zero
	isNew    bool      // a wait began, or a connection, since the last call of next
	size     int
	// Rechecks that run in this process: the status in which each has begun, by id.
	rechecking map[string]Status
	checking   map[string]bool // what users have typed is verified in this process, by id
	closing    chan struct{}
	ends       map[string]int // how many waits have ended how
}

// close ends all waits.
func (w *waits) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.closing)
	w.all(func(of *entry) {
		for each := of.first; each != nil; each = each.next {
			each.closed = true
			each.wake()
		}
	})
}

// now is the time of these waits, which is smaller than a time.Time.
func (w *waits) now() time.Duration { return time.Since(w.start) }

// add begins a wait for a row.
func (w *waits) add(k rowKey, made *wait) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.closing:
		return errorClosed()
	default:
	}
	of := w.entries[k.id]
	for of != nil && of.key != k {
		of = of.next
	}
	if of == nil {
		of = &entry{key: k, next: w.entries[k.id]}
		w.entries[k.id] = of
	}
	made.entry, made.began = of, w.now()
	if made.ctx.Done() != nil {
		made.forget = context.AfterFunc(made.ctx, made.wake)
	}
	made.next, of.first = of.first, made
	w.size++
	w.open.Add(1)
	w.isNew = true
	w.listener.acquire()
	w.wake(of)
	return nil
}

// remove ends a wait, which nothing changes any more. A result counts as read when its caller gets it.
func (w *waits) remove(one *wait, outcome *Outcome, err error) {
	if one.forget != nil {
		one.forget()
	}
	if err == nil && one.isSecret {
		w.purger.markRead(one.entry.key)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one.done, one.outcome, one.err = true, outcome, err
	of := one.entry
	at := &of.first
	for *at != one {
		at = &(*at).next
	}
	*at = one.next
	w.size--
	if !one.options.Once {
		w.ends[endOf(outcome, err)]++
	}
	w.open.Done()
	w.listener.release()
	if of.first != nil {
		return
	}
	if of.nextRecheck != nil {
		of.nextRecheck.Stop()
	}
	of.queue = unqueued
	first := w.entries[of.key.id]
	if first == of {
		first = of.next
	} else {
		for each := first; each != nil; each = each.next {
			if each.next == of {
				each.next = of.next
			}
		}
	}
	if first == nil {
		delete(w.entries, of.key.id)
	} else {
		w.entries[of.key.id] = first
	}
	if len(w.entries) == 0 {
		w.due, w.routine, w.closesAt = nil, nil, time.Time{}
	}
}

// all calls a function with each entry.
func (w *waits) all(each func(*entry)) {
	for _, first := range w.entries {
		for of := first; of != nil; of = of.next {
			each(of)
		}
	}
}

// wake makes the row of an entry due. The caller holds the lock.
func (w *waits) wake(of *entry) {
	if of.first == nil || of.queue == due {
		return
	}
	of.queue = due
	w.due = append(w.due, of)
	w.listener.kick()
}

func (w *waits) wakeKeys(rowKeys ...rowKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range rowKeys {
		for of := w.entries[k.id]; of != nil; of = of.next {
			w.wake(of)
		}
	}
}

// wakeAll makes each row due, because LISTEN is in force since this moment.
func (w *waits) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isNew = true
	w.all(w.wake)
}

// readAll reads each row, after those that are due.
func (w *waits) readAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all(func(of *entry) {
		if of.queue == unqueued {
			of.queue = routine
			w.routine = append(w.routine, of)
		}
	})
}

// lost ends the waits that read the row only once with the error of the connection. The others continue without one.
func (w *waits) lost(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all(func(of *entry) {
		for each := of.first; each != nil; each = each.next {
			if each.options.Once {
				each.reject(err)
			}
		}
	})
}

func (w *waits) isDue() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.due) > 0 || len(w.routine) > 0
}

// next says when a row is to be read because it may have expired, whether anybody waits, and whether that is new.
func (w *waits) next() (closesAt time.Time, isWaited, isNew bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isNew, w.isNew = w.isNew, false
	return w.closesAt, len(w.entries) > 0, isNew
}

// setAlarm keeps the earliest of many times, but not one that is at once. The caller holds the lock.
func (w *waits) setAlarm(after time.Duration) {
	at := w.start.Add(max(after, w.now()+limits.AlarmMin))
	if w.closesAt.IsZero() || at.Before(w.closesAt) {
		w.closesAt = at
	}
}

func (w *waits) wakeOverdue() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.closesAt = time.Time{}
	w.all(func(of *entry) {
		switch {
		case of.closesAt == 0:
		case of.closesAt > now:
			w.setAlarm(of.closesAt)
		default:
			of.closesAt = 0
			w.wake(of)
		}
	})
}

func (w *waits) run(task func()) {
	w.tasks.Add(1)
	go func() {
		defer w.tasks.Done()
		task()
	}()
}

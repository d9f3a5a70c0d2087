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
	kind        byte // of kinds: there may be very many entries
	verifier    *verifier
	expected    string        // of a payment: the price that was asked, as the database has it
	closesAt    time.Duration // when the row is to be read because it may have expired, in the time of waits; or zero
	nextRecheck *time.Timer
}

// waits are all open waits of an instance. A notification, a new wait and a new
// listening connection each make rows due. Rows that are due are read together, one
// read at a time; rows that become due during a read belong to the next one. The row
// alone counts, and a notification is a reason to read it. One that carries the sealed
// outcome saves the read, where the row was read before for this owner.
type waits struct {
	tenant   tenant
	ring     keys
	db       *database
	listener *listener
	purger   *purger
	rechecks *rechecks
	complete func(context.Context, rowKey, Answer) error
	log      *slog.Logger
	ctx      context.Context
	tasks    sync.WaitGroup
	open     sync.WaitGroup
	starter  starter

	start        time.Time     // from which its time is counted
	recheckLimit time.Duration // of a RecheckFunc: that of its lease

	mu       sync.Mutex
	entries  map[string]*entry // by id
	due      []*entry
	routine  []*entry
	closesAt time.Time // the earliest, or zero
	isNew    bool      // a wait began, or a connection, since the last call of next
	size     int
	// What this process is asking its server: the status of the row when each has begun.
	asking  map[asked]Status
	closing chan struct{}
	ends    map[string]int // how many waits have ended how
}

// asked is a question about one elicitation.
type asked struct {
	question *question
	id       string
}

// close ends all waits.
func (ws *waits) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	close(ws.closing)
	ws.all(func(e *entry) {
		for each := e.first; each != nil; each = each.next {
			each.closed = true
			each.wake()
		}
	})
}

// now is the time of these waits, which is smaller than a time.Time.
func (ws *waits) now() time.Duration { return time.Since(ws.start) }

// add begins a wait for a row.
func (ws *waits) add(k rowKey, made *wait) error {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	select {
	case <-ws.closing:
		return errorClosed()
	default:
	}
	e := ws.entries[k.id]
	for e != nil && e.key != k {
		e = e.next
	}
	if e == nil {
		e = &entry{key: k, next: ws.entries[k.id]}
		ws.entries[k.id] = e
	}
	made.entry, made.began = e, ws.now()
	if made.ctx.Done() != nil {
		made.forget = context.AfterFunc(made.ctx, made.wake)
	}
	if made.next, made.at = e.first, &e.first; made.next != nil {
		made.next.at = &made.next
	}
	e.first = made
	ws.size++
	ws.open.Add(1)
	ws.isNew = true
	ws.listener.acquire()
	ws.wake(e)
	return nil
}

// remove ends a wait, which nothing changes any more. A result counts as read when its caller gets it.
func (ws *waits) remove(w *wait, outcome *Outcome, err error) {
	if w.forget != nil {
		w.forget()
	}
	if err == nil && w.isSecret {
		ws.purger.markRead(w.entry.key)
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.done, w.outcome, w.err = true, outcome, err
	e := w.entry
	if *w.at = w.next; w.next != nil {
		w.next.at = w.at
	}
	ws.size--
	if !w.options.Once {
		ws.ends[endOf(outcome, err)]++
	}
	ws.open.Done()
	ws.listener.release()
	if e.first != nil {
		return
	}
	if e.nextRecheck != nil {
		e.nextRecheck.Stop()
	}
	e.queue = unqueued
	first := ws.entries[e.key.id]
	if first == e {
		first = e.next
	} else {
		for each := first; each != nil; each = each.next {
			if each.next == e {
				each.next = e.next
			}
		}
	}
	if first == nil {
		delete(ws.entries, e.key.id)
	} else {
		ws.entries[e.key.id] = first
	}
	if len(ws.entries) == 0 {
		ws.due, ws.routine, ws.closesAt = nil, nil, time.Time{}
	}
}

// all calls a function with each entry.
func (ws *waits) all(each func(*entry)) {
	for _, first := range ws.entries {
		for e := first; e != nil; e = e.next {
			each(e)
		}
	}
}

// wake makes the row of an entry due. The caller holds the lock.
func (ws *waits) wake(e *entry) {
	if e.first == nil || e.queue == due {
		return
	}
	e.queue = due
	ws.due = append(ws.due, e)
	ws.listener.kick()
}

func (ws *waits) wakeKeys(rowKeys ...rowKey) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, k := range rowKeys {
		for e := ws.entries[k.id]; e != nil; e = e.next {
			ws.wake(e)
		}
	}
}

// wakeAll makes each row due, because LISTEN is in force since this moment.
func (ws *waits) wakeAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.isNew = true
	ws.all(ws.wake)
}

// readAll reads each row, after those that are due.
func (ws *waits) readAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all(func(e *entry) {
		if e.queue == unqueued {
			e.queue = routine
			ws.routine = append(ws.routine, e)
		}
	})
}

// lost ends the waits that read the row only once with the error of the connection. The others continue without one.
func (ws *waits) lost(err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.all(func(e *entry) {
		for each := e.first; each != nil; each = each.next {
			if each.options.Once {
				each.reject(err)
			}
		}
	})
}

func (ws *waits) isDue() bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.due) > 0 || len(ws.routine) > 0
}

// next says when a row is to be read because it may have expired, whether anybody waits, and whether that is new.
func (ws *waits) next() (closesAt time.Time, isWaited, isNew bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	isNew, ws.isNew = ws.isNew, false
	return ws.closesAt, len(ws.entries) > 0, isNew
}

// setAlarm keeps the earliest of many times, but not one that is at once. The caller holds the lock.
func (ws *waits) setAlarm(after time.Duration) {
	at := ws.start.Add(max(after, ws.now()+limits.AlarmMin))
	if ws.closesAt.IsZero() || at.Before(ws.closesAt) {
		ws.closesAt = at
	}
}

func (ws *waits) wakeOverdue() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now := ws.now()
	ws.closesAt = time.Time{}
	ws.all(func(e *entry) {
		switch {
		case e.closesAt == 0:
		case e.closesAt > now:
			ws.setAlarm(e.closesAt)
		default:
			e.closesAt = 0
			ws.wake(e)
		}
	})
}

func (ws *waits) run(task func()) {
	ws.tasks.Add(1)
	go func() {
		defer ws.tasks.Done()
		task()
	}()
}

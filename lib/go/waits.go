// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	readBatchSize = 1000
	retryAfter    = time.Second
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

// wakeAll: LISTEN is in force, so each row must be read now.
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

// lost: waits continue without a connection, except those that read the row only once.
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

// setAlarm: the earliest of many times, but not at once. The caller holds the lock.
func (w *waits) setAlarm(after time.Duration) {
	at := w.start.Add(max(after, w.now()+alarmMin))
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

func (w *waits) announced(all []announcement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, each := range all {
		for of := w.entries[each.ID]; of != nil; of = of.next {
			if each.Outcome == "" || !w.takeOutcome(of, each.Outcome) {
				w.wake(of)
			}
		}
	}
}

// takeOutcome ends the waits with an outcome that was announced. False: the row must be read.
func (w *waits) takeOutcome(of *entry, sealed string) bool {
	if !of.isRead {
		return false // That read checks the owner.
	}
	outcome := openOutcome(w.ring, of.key, sealed)
	kind := rowKinds[of.kind]
	// A payment that was not accepted may be asked about once more.
	if outcome == nil || kind == Payment && outcome.Action != Accept {
		return false
	}
	completed := row{id: of.key.id, kind: kind, status: Completed, action: outcome.Action, reason: outcome.Reason}
	if kind == Payment {
		completed.paymentReference = outcome.Reference
	}
	w.end(of, &completed, outcome.Result)
	return true
}

// takeBatch takes the entries to read next. No id occurs twice, because the rows that come back do not have the binding.
func (w *waits) takeBatch() []*entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	var batch []*entry
	taken := map[string]bool{}
	take := func(from []*entry, kind queue) []*entry {
		var left []*entry
		for i, of := range from {
			if len(batch) == readBatchSize {
				return append(left, from[i:]...)
			}
			switch {
			case of.queue != kind: // It has ended, or is in the other queue.
			case taken[of.key.id]:
				left = append(left, of)
			default:
				taken[of.key.id] = true
				of.queue = unqueued
				batch = append(batch, of)
			}
		}
		return left
	}
	w.due = take(w.due, due)
	w.routine = take(w.routine, routine)
	return batch
}

// read reads one batch over the connection that listens. An error is the end of the connection.
func (w *waits) read(over *listener, conn *pgx.Conn) error {
	batch := w.takeBatch()
	if len(batch) == 0 {
		return nil
	}
	found, err := over.query(conn, column(batch, func(of *entry) rowKey { return of.key }))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if isRefusal(err) {
			for _, of := range batch {
				of.fail(err)
			}
			return nil
		}
		return err // The next connection starts by reading all rows.
	}
	byID := make(map[string]*row, len(found))
	for i := range found {
		byID[found[i].id] = &found[i]
	}
	var overdue []rowKey
	for _, of := range batch {
		read := byID[of.key.id]
		switch {
		case read != nil && read.status == Completed:
			w.end(of, read, nil)
		case of.first == nil || of.queue == due:
			// It has become due again since this read began: the next read decides.
		case read == nil:
			of.fail(notFound(of.key.id))
		case read.closesInMs <= 0:
			overdue = append(overdue, of.key)
		default:
			w.goOn(of, read)
		}
	}
	if len(overdue) > 0 {
		w.run(func() { w.expire(overdue) })
	}
	return nil
}

func (w *waits) run(task func()) {
	w.tasks.Add(1)
	go func() {
		defer w.tasks.Done()
		task()
	}()
}

// end: the row is completed. result is that of an outcome that was announced. Each wait gets maps of its own, which its caller
// may change.
func (w *waits) end(of *entry, completed *row, result map[string]any) {
	rechecking := w.recheck(of, completed)
	for each := of.first; each != nil; each = each.next {
		if each.done || rechecking && each.canRecheck() {
			continue
		}
		its := result
		if each.next != nil {
			its, _ = cloned(result).(map[string]any)
		}
		outcome, err := toOutcome(w.ring, completed, of.key, its, of.verifier)
		if err != nil {
			each.reject(err)
			continue
		}
		each.isSecret = completed.result != nil || completed.verifier != nil || result != nil
		each.resolve(&outcome)
	}
}

// cloned copies what json.Unmarshal has made.
func cloned(value any) any {
	switch of := value.(type) {
	case map[string]any:
		made := make(map[string]any, len(of))
		for name, each := range of {
			made[name] = cloned(each)
		}
		return made
	case []any:
		return column(of, cloned)
	}
	return value
}

// goOn: the row is open.
func (w *waits) goOn(of *entry, read *row) {
	of.isRead, of.kind = true, byte(max(0, slices.Index(rowKinds, read.kind)))
	if of.verifier == nil && read.verifier != nil {
		// It is an error only when it is needed.
		of.verifier, _ = openVerifier(w.ring, read.verifier, of.key)
	}
	of.closesAt = w.now() + time.Duration(read.closesInMs)*time.Millisecond
	w.setAlarm(of.closesAt)
	rechecking, checking := w.recheck(of, read), w.check(of, read)
	for each := of.first; each != nil; each = each.next {
		each.hear(read)
		if each.options.Once && !(rechecking && each.canRecheck()) && !(checking && each.canVerify()) {
			each.look(read.status)
		}
	}
}

func (w *waits) expire(rowKeys []rowKey) {
	if err := w.db.expire(w.ctx, rowKeys); err != nil {
		if isRefusal(err) {
			w.failKeys(rowKeys, err)
		}
		sleep(w.ctx, jittered(retryAfter))
	}
	w.wakeKeys(rowKeys...)
}

func (w *waits) failKeys(rowKeys []rowKey, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range rowKeys {
		for of := w.entries[k.id]; of != nil; of = of.next {
			of.fail(err)
		}
	}
}

func (of *entry) fail(err error) {
	for each := of.first; each != nil; each = each.next {
		each.reject(err)
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

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
			if len(batch) == limits.ReadBatchMax {
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
			of.fail(errorNotFound(of.key.id))
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

// end ends the waits for a row that is completed. result is that of an outcome that was announced. Each wait gets maps of its own,
// which its caller may change.
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

// goOn keeps the waits for a row that is open, and reports its status.
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
		timing.Sleep(w.ctx, timing.Jittered(limits.ReadRetry))
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

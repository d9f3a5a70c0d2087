// SPDX-License-Identifier: MIT

package urlmode

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

func (ws *waits) notified(all []notification) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, each := range all {
		for e := ws.entries[each.ID]; e != nil; e = e.next {
			if each.Outcome == "" || !ws.takeOutcome(e, each.Outcome) {
				ws.wake(e)
			}
		}
	}
}

// takeOutcome ends the waits with an outcome that was announced. False: the row must be read.
func (ws *waits) takeOutcome(e *entry, sealed string) bool {
	if !e.isRead {
		return false // That read checks the owner.
	}
	outcome := openOutcome(ws.ring, e.key, sealed)
	kind := Kind(kinds[e.kind])
	// A payment that was not accepted may be asked about once more.
	if outcome == nil || kind == Payment && outcome.Action != Accept {
		return false
	}
	completed := row{id: e.key.id, kind: kind, status: Completed, action: outcome.Action, reason: outcome.Reason}
	if kind == Payment {
		completed.paymentReference = outcome.Reference
		completed.expected = e.expected
		completed.amount, completed.currency, completed.tax = paidOf(outcome.Result)
	}
	ws.end(e, &completed, outcome.Result)
	return true
}

// paidOf is what an event that was announced says of the payment.
func paidOf(result map[string]any) (amount int64, currency string, tax *int64) {
	paid, _ := result["amount"].(float64)
	currency, _ = result["currency"].(string)
	if part, isSaid := result["tax"].(float64); isSaid {
		tax = new(int64)
		*tax = int64(part)
	}
	return int64(paid), currency, tax
}

// takeBatch takes the entries to read next. No id occurs twice, because the rows that come back do not have the binding.
func (ws *waits) takeBatch() []*entry {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	var batch []*entry
	taken := map[string]bool{}
	take := func(from []*entry, kind queue) []*entry {
		var left []*entry
		for i, e := range from {
			if len(batch) == limits.ReadBatchMax {
				return append(left, from[i:]...)
			}
			switch {
			case e.queue != kind: // It has ended, or is in the other queue.
			case taken[e.key.id]:
				left = append(left, e)
			default:
				taken[e.key.id] = true
				e.queue = unqueued
				batch = append(batch, e)
			}
		}
		return left
	}
	ws.due = take(ws.due, due)
	ws.routine = take(ws.routine, routine)
	return batch
}

// read reads one batch over the connection that listens. An error is the end of the connection.
func (ws *waits) read(over *listener, conn *pgx.Conn) error {
	batch := ws.takeBatch()
	if len(batch) == 0 {
		return nil
	}
	found, err := over.query(conn, column(batch, func(e *entry) rowKey { return e.key }))
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if err != nil {
		if isRefusal(err) {
			for _, e := range batch {
				e.fail(err)
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
	for _, e := range batch {
		read := byID[e.key.id]
		switch {
		case read != nil && read.status == Completed:
			ws.end(e, read, nil)
		case e.first == nil || e.queue == due:
			// It has become due again since this read began: the next read decides.
		case read == nil:
			e.fail(errorNotFound(e.key.id))
		case read.closesInMs <= 0:
			overdue = append(overdue, e.key)
		default:
			ws.keepWaiting(e, read)
		}
	}
	if len(overdue) > 0 {
		ws.run(func() { ws.expire(overdue) })
	}
	return nil
}

// end ends the waits for a row that is completed. result is that of an outcome that was announced. Each wait gets maps of its own,
// which its caller may change.
func (ws *waits) end(e *entry, completed *row, result map[string]any) {
	rechecking := ws.recheck(e, completed)
	for each := e.first; each != nil; each = each.next {
		if completed.provider != "" {
			each.options.events.read(completed)
		}
		if each.done || rechecking && ws.canRecheck(each, completed.provider) {
			continue
		}
		its := result
		if each.next != nil {
			its, _ = cloned(result).(map[string]any)
		}
		outcome, err := toOutcome(ws.ring, completed, e.key, its, e.verifier)
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

// keepWaiting keeps the waits for a row that is open, and reports its status.
func (ws *waits) keepWaiting(e *entry, read *row) {
	e.isRead, e.kind = true, byte(max(0, slices.Index(kinds, string(read.kind))))
	e.expected = read.expected
	if e.verifier == nil && read.verifier != nil {
		// It is an error only when it is needed.
		e.verifier, _ = openVerifier(ws.ring, read.verifier, e.key)
	}
	e.closesAt = ws.now() + time.Duration(read.closesInMs)*time.Millisecond
	ws.setAlarm(e.closesAt)
	rechecking, checking := ws.recheck(e, read), ws.askBack(aboutTyped, e, read)
	for each := e.first; each != nil; each = each.next {
		each.options.events.read(read)
		each.report(read)
		if each.options.Once && !(rechecking && ws.canRecheck(each, read.provider)) && !(checking && each.canVerify()) {
			each.look(read.status)
		}
	}
}

func (ws *waits) expire(rowKeys []rowKey) {
	if err := ws.db.expire(ws.ctx, rowKeys); err != nil {
		if isRefusedChange(err) {
			ws.failKeys(rowKeys, err)
		}
		timing.Sleep(ws.ctx, timing.Jittered(limits.ReadRetry))
	}
	ws.wakeKeys(rowKeys...)
}

func (ws *waits) failKeys(rowKeys []rowKey, err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, k := range rowKeys {
		for e := ws.entries[k.id]; e != nil; e = e.next {
			e.fail(err)
		}
	}
}

func (e *entry) fail(err error) {
	for each := e.first; each != nil; each = each.next {
		each.reject(err)
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/base64"
	"reflect"
	"testing"
	"unsafe"
)

// The outcome of an event is bound to the id alone. The first read checks who waits, so an
// outcome that is announced before it ends no wait.
func TestAnnouncedOutcomeIsForWhoHasRead(t *testing.T) {
	m := offline(t)
	k := rowKey{newID(), bindingOf(Owner{"stranger", ""})}
	sealed := seal(m.ring, useEventOutcome, k, []byte(`{"action":"accept","reason":"","reference":"cs_1","result":{"amount":1}}`), nil)
	paid := []notification{{ID: k.id, Outcome: base64.StdEncoding.EncodeToString(sealed)}}
	w := newWait(t.Context(), defaultWaitOptions)
	if err := m.waits.add(k, w); err != nil {
		t.Fatal(err)
	}
	defer m.waits.remove(w, nil, errorClosed())
	m.waits.notified(paid)
	if _, done, _, _ := m.waits.take(w); done {
		t.Fatal("it ends the wait of whoever has the id")
	}
	m.waits.mu.Lock()
	m.waits.keepWaiting(w.entry, &row{id: k.id, kind: Payment, status: Pending, closesInMs: 60_000})
	m.waits.mu.Unlock()
	m.waits.notified([]notification{{ID: newID(), Outcome: paid[0].Outcome}, {ID: k.id, Outcome: "AgE="}})
	if _, done, _, _ := m.waits.take(w); done {
		t.Fatal("what is not genuine ends the wait")
	}
	m.waits.notified(paid)
	if _, done, _, _ := m.waits.take(w); !done || w.outcome.Action != Accept || w.outcome.Reference != "cs_1" {
		t.Fatalf("it does not save the read: %v", w.outcome)
	}
}

// Each of those who wait for one row may change what it gets. A result counts as read when one of them has got it.
func TestOutcomesShareNothing(t *testing.T) {
	m := offline(t)
	k := rowKey{newID(), bindingOf(Owner{"me", ""})}
	text := []byte(`{"values":{"many":[{"a":1},2]}}`)
	notified := seal(m.ring, useOutcome, k, []byte(`{"action":"accept","reason":"","result":`+string(text)+`}`), nil)
	completed := &row{id: k.id, kind: Input, status: Completed, action: Accept, result: seal(m.ring, useResult, k, text, nil)}
	for name, end := range map[string]func(*entry){
		"announced": func(*entry) {
			m.waits.notified([]notification{{ID: k.id, Outcome: base64.StdEncoding.EncodeToString(notified)}})
		},
		"read": func(e *entry) {
			m.waits.mu.Lock()
			defer m.waits.mu.Unlock()
			m.waits.end(e, completed, nil)
		},
	} {
		marked := func() int {
			m.purger.mu.Lock()
			defer m.purger.mu.Unlock()
			return len(m.purger.unmarked)
		}
		before := marked()
		var all [3]*wait
		for i := range all {
			all[i] = newWait(t.Context(), defaultWaitOptions)
			if err := m.waits.add(k, all[i]); err != nil {
				t.Fatal(err)
			}
		}
		m.waits.mu.Lock()
		m.waits.keepWaiting(all[0].entry, &row{id: k.id, kind: Input, status: Pending, closesInMs: 60_000})
		m.waits.mu.Unlock()
		end(all[0].entry)
		m.waits.remove(all[2], nil, errorClosed()) // It has given up meanwhile.
		if marked() != before {
			t.Errorf("%s: nobody has got it, and it is read", name)
		}
		for _, one := range all[:2] {
			values := one.outcome.Values
			if !reflect.DeepEqual(values, map[string]any{"many": []any{map[string]any{"a": 1.0}, 2.0}}) || len(one.outcome.Result) != 1 {
				t.Errorf("%s: it has got %v", name, values)
			}
			values["many"].([]any)[0].(map[string]any)["a"] = 5
			values["other"] = 5
			one.outcome.Result["other"] = 5
		}
		m.waits.remove(all[0], all[0].outcome, nil)
		if marked() != before+1 {
			t.Errorf("%s: it is not read", name)
		}
		m.waits.remove(all[1], nil, errorClosed())
	}
}

// The end of a wait touches its neighbours alone, whichever of those for one row it is.
func TestWaitsForOneRowEndInAnyOrder(t *testing.T) {
	m := offline(t)
	k := rowKey{newID(), bindingOf(Owner{"me", ""})}
	for first := range 4 {
		for step := 1; step < 4; step += 2 { // with which each of the four has its turn
			var all [4]*wait
			for i := range all {
				all[i] = newWait(t.Context(), defaultWaitOptions)
				if err := m.waits.add(k, all[i]); err != nil {
					t.Fatal(err)
				}
			}
			e, left := all[0].entry, len(all)
			for turn := range all {
				m.waits.remove(all[(first+turn*step)%4], nil, errorClosed())
				left--
				found := 0
				for at := &e.first; *at != nil; at = &(*at).next {
					if found++; (*at).at != at || (*at).done {
						t.Fatalf("from %d by %d: what is left is not linked", first, step)
					}
				}
				if found != left || m.OpenWaits() != left {
					t.Fatalf("from %d by %d: %d are left of %d", first, step, found, left)
				}
			}
		}
	}
	if len(m.waits.entries) != 0 {
		t.Fatal("the row is still watched")
	}
}

func TestSizeOfAWait(t *testing.T) {
	if size := unsafe.Sizeof(wait{}); size > 128 {
		t.Errorf("%d bytes: the runtime gives it 144", size)
	}
}

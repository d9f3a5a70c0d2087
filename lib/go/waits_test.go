// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/base64"
	"testing"
)

// The outcome of an event is bound to the id alone. The first read checks who waits, so an
// outcome that is announced before it ends no wait.
func TestAnnouncedOutcomeIsForWhoHasRead(t *testing.T) {
	m := offline(t)
	k := rowKey{newID(), bindingOf(Owner{"stranger", ""})}
	sealed := seal(m.ring, useEventOutcome, k, []byte(`{"action":"accept","reason":"","reference":"cs_1","result":{"amount":1}}`), nil)
	paid := []announcement{{ID: k.id, Outcome: base64.StdEncoding.EncodeToString(sealed)}}
	one := newWait(plainly)
	if err := m.waits.add(k, one); err != nil {
		t.Fatal(err)
	}
	defer m.waits.remove(one, nil, errorClosed())
	m.waits.announced(paid)
	if _, done, _, _ := m.waits.take(one); done {
		t.Fatal("it ends the wait of whoever has the id")
	}
	m.waits.mu.Lock()
	m.waits.goOn(one.entry, &row{id: k.id, kind: Payment, status: Pending, closesInMs: 60_000})
	m.waits.mu.Unlock()
	m.waits.announced([]announcement{{ID: newID(), Outcome: paid[0].Outcome}, {ID: k.id, Outcome: "AgE="}})
	if _, done, _, _ := m.waits.take(one); done {
		t.Fatal("what is not genuine ends the wait")
	}
	m.waits.announced(paid)
	if _, done, _, _ := m.waits.take(one); !done || one.outcome.Action != Accept || one.outcome.Reference != "cs_1" {
		t.Fatalf("it does not save the read: %v", one.outcome)
	}
}

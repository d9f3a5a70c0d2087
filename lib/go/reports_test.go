// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/statements"
)

// latePayment is proved after its elicitation was cancelled.
func latePayment(t *testing.T, m *Instance, p *programs, me Owner) (reference string) {
	t.Helper()
	id := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), TargetURL: "https://pay.example", Expected: Expected{Amount: 1050, Currency: "EUR"}}).ElicitationID
	if _, err := m.Cancel(t.Context(), id, me, ""); err != nil {
		t.Fatal(err)
	}
	p.event(t, id, "paid", 1050, "cs_"+id)
	return "cs_" + id
}

func refunded(t *testing.T, m *Instance, p *programs, me Owner) (id string) {
	t.Helper()
	id, claim := paid(t, m, p, me, LeaseOptions{})
	claim.Release(t.Context())
	p.event(t, id, "refunded", 1050, "cs_"+id)
	return id
}

func within[T any](t *testing.T, what string, from <-chan T) (one T) {
	t.Helper()
	select {
	case one = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("%s is not reported", what)
	}
	return one
}

// heard are the late payments and the refunds of an owner, as two loops are told of them.
func heard(me Owner, lates iter.Seq[ProvenPayment], refunds iter.Seq[Refund]) (late, back chan string) {
	late, back = make(chan string, 100), make(chan string, 100)
	go func() {
		for each := range lates {
			if each.Owner == me {
				late <- each.Reference
			}
		}
	}()
	go func() {
		for each := range refunds {
			if each.Owner == me {
				back <- each.ElicitationID
			}
		}
	}()
	return late, back
}

// What happens between the call and the loop is told, and what happened before is not; also where no notification arrives.
func TestReportsBeginWithTheCall(t *testing.T) {
	for name, noListen := range map[string]bool{"notified": false, "polled": true} {
		t.Run(name, func(t *testing.T) {
			m, p, me := open(t, func(c *Config) { c.NoListen = noListen }), openPrograms(t), someone()
			earlier := open(t) // m does not listen yet
			latePayment(t, earlier, p, me)
			refunded(t, earlier, p, me)
			// The clocks are compared by a query, and agree to within the time that it took.
			time.Sleep(time.Second)
			lates, refunds := m.LatePayments(t.Context()), m.NewRefunds(t.Context())
			late, back := latePayment(t, m, p, me), refunded(t, m, p, me)
			heardLate, heardBack := heard(me, lates, refunds)
			for range 2 {
				if got := within(t, "a late payment", heardLate); got != late {
					t.Errorf("%s, not %s", got, late)
				}
				if got := within(t, "a refund", heardBack); got != back {
					t.Errorf("%s, not %s", got, back)
				}
				late, back = latePayment(t, m, p, me), refunded(t, m, p, me)
			}
			if len(heardLate)+len(heardBack) > 2 {
				t.Errorf("%d and %d more", len(heardLate), len(heardBack))
			}
		})
	}
}

// Where no notification arrives, what is new is read long before it is read in any case.
func TestReportsArePolled(t *testing.T) {
	for name, noListen := range map[string]bool{"notified": false, "polled": true} {
		m := open(t, func(c *Config) { c.NoListen = noListen })
		kind := kindOfReport[string, string, bool]{matches: func(notification) bool { return false }, reported: func(n string) (string, bool) { return n, true },
			read: func(context.Context, filter) ([]string, error) { return nil, nil }}
		a := &announced{matches: kind.matches, woken: make(chan struct{}, 1), began: time.Now()}
		m.listener.subscribe(a)
		if !noListen {
			until(t, "notifications arrive", m.listener.isReceiving)
		}
		r := &reporting[string, string, bool]{kind: kind, m: m, ctx: t.Context(), announced: a, known: map[string]bool{}, cursor: a.began, interval: limits.PollMin}
		for range 20 {
			if _, err := r.read(""); err != nil {
				t.Fatal(err)
			}
			if isSoon := time.Until(r.listAt) < 2*limits.PollMax; isSoon != noListen {
				t.Errorf("%s: the next one is in %s", name, time.Until(r.listAt))
			}
		}
		m.listener.unsubscribe(a)
	}
}

// An event whose read fails is read again.
func TestReportsAreReadAgain(t *testing.T) {
	m := open(t)
	id, tries := newID(), 0
	kind := kindOfReport[string, string, bool]{matches: func(a notification) bool { return a.ID == id }, reported: func(n string) (string, bool) { return n, true },
		read: func(_ context.Context, f filter) ([]string, error) {
			if f.id == "" {
				return nil, nil
			}
			if tries++; tries == 1 {
				return nil, errors.New("PostgreSQL is away")
			}
			return []string{f.id}, nil
		}}
	reports, reported := reportsOf(t.Context(), m, kind), make(chan string, 1)
	go func() {
		for each := range reports {
			reported <- each
		}
	}()
	until(t, "notifications arrive", func() bool { return m.listener.isReceiving() })
	if err := m.db.notify(t.Context(), statements.Channel, `{"id":"`+id+`","late":true}`); err != nil {
		t.Fatal(err)
	}
	if got := within(t, "the event", reported); got != id {
		t.Error(got)
	}
}

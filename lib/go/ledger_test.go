// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// startsHere is a consumer that begins at the next entry, as if it had read those of the other tests.
func startsHere(t *testing.T) string {
	t.Helper()
	consumer, operator := "of-"+newID(), asOperator(t)
	for _, statement := range []string{
		"SELECT urlmode.number_ledger() FROM generate_series(1, (SELECT 1 + count(*) / 1000 FROM urlmode.ledger WHERE number IS NULL))",
		"INSERT INTO urlmode.ledger_consumer (tenant, consumer, number) SELECT '', '" + consumer + "', coalesce(max(number), 0) FROM urlmode.ledger",
	} {
		if _, err := operator.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return consumer
}

// bought is a payment of 10.50 for an item.
func bought(t *testing.T, m *Instance, me Owner, item string) (id, reference string) {
	t.Helper()
	id = create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: item, TargetURL: "https://pay.example", Expected: Expected{Amount: 1050, Currency: "EUR"}}).ElicitationID
	reference = "pay-" + newID()
	if _, err := m.Complete(t.Context(), id, me, Answer{Action: Accept, Amount: 1050, Currency: "EUR", Reference: reference}); err != nil {
		t.Fatal(err)
	}
	return id, reference
}

// sendBack lets a refund of the payment come from its provider.
func sendBack(t *testing.T, p *programs, id, reference string, amount int) {
	t.Helper()
	if outcome := p.ask(t, `SELECT outcome FROM urlmode.record_events(ARRAY[$1::uuid], ARRAY['stripe'], ARRAY[$2], ARRAY['refund'], ARRAY['refunded'],
		ARRAY[$3::bigint], ARRAY['EUR'], ARRAY[$4], ARRAY[NULL::bytea], refunds => ARRAY[$2])`, id, "re-"+newID(), amount, reference); outcome != "refunded" {
		t.Fatal(outcome)
	}
}

func TestLedger(t *testing.T) {
	m, other, p, me, consumer := open(t), open(t), openPrograms(t), someone(), startsHere(t)
	id, reference := bought(t, m, me, "report:42")
	sendBack(t, p, id, reference, 1050)
	read := func(from *Instance, count int) (types []LedgerType) {
		for entry, err := range from.Ledger(t.Context(), LedgerOptions{consumer}) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.ElicitationID != id {
				continue
			}
			if entry.Payment != reference || entry.Subject != me.Subject || entry.Item != "report:42" || *entry.Amount != 1050 || entry.EnteredAt.IsZero() {
				t.Errorf("%+v", entry)
			}
			if types = append(types, entry.Type); len(types) == count {
				break
			}
		}
		return types
	}
	for _, from := range []*Instance{m, other} {
		if types := read(from, 1); !slices.Equal(types, []LedgerType{LedgerPaid}) {
			t.Errorf("an entry at which a loop has ended comes again, at once: %v", types)
		}
	}
	if types := read(m, 2); !slices.Equal(types, []LedgerType{LedgerPaid, LedgerRefunded}) {
		t.Error(types)
	}

	for entry, err := range m.Ledger(t.Context(), LedgerOptions{"Books"}) {
		refused(t, "Ledger", err, "Consumer")
		if entry != (LedgerEntry{}) {
			t.Error(entry)
		}
	}
}

// A loop waits for what comes, and ends with its context or its instance, whose lease another one gets at once.
func TestLedgerWaits(t *testing.T) {
	consumer := newID()
	// Of a tenant, so that no entries come of what else is tested at the same time.
	tenant := func(c *Config) { c.Tenant = consumer }
	m, other, me := open(t, tenant), open(t, tenant), someone()
	seen, ended := make(chan LedgerEntry), make(chan error, 1)
	go func() {
		for entry, err := range m.Ledger(context.Background(), LedgerOptions{consumer}) {
			if err != nil {
				ended <- err
				return
			}
			seen <- entry
		}
		ended <- nil
	}()
	id, _ := bought(t, m, me, "x")
	for entry := range seen {
		if entry.ElicitationID == id {
			break
		}
	}
	operator := asOperator(t)
	until(t, "the last entry is acknowledged", func() bool {
		var done bool
		err := operator.QueryRow(t.Context(), "SELECT c.number >= (SELECT max(number) FROM urlmode.ledger WHERE elicitation = $2::text::uuid) FROM urlmode.ledger_consumer c WHERE c.consumer = $1",
			consumer, id).Scan(&done)
		return err == nil && done
	})
	waiting, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	for entry := range other.Ledger(waiting, LedgerOptions{consumer}) {
		t.Errorf("another instance reads: %+v", entry)
	}
	go func() {
		for range seen {
		}
	}()
	m.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var free bool
	if err := operator.QueryRow(t.Context(), "SELECT leased_until IS NULL FROM urlmode.ledger_consumer WHERE consumer = $1", consumer).Scan(&free); err != nil || !free {
		t.Errorf("%t, %v", free, err)
	}
	for _, err := range m.Ledger(t.Context(), LedgerOptions{consumer}) {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	close(seen)
}

func TestPaid(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	asks := func(o PaidOptions, wanted bool) {
		t.Helper()
		if paid, err := m.Paid(t.Context(), o); err != nil || paid != wanted {
			t.Errorf("%+v: %t, %v", o, paid, err)
		}
	}
	asks(PaidOptions{Subject: me.Subject, Item: "report:42"}, false)
	id, reference := bought(t, m, me, "report:42")
	asks(PaidOptions{Subject: me.Subject, Item: "report:42"}, true)
	asks(PaidOptions{Subject: me.Subject, Item: "report:43"}, false)
	asks(PaidOptions{Subject: me.Subject, Item: "report:42", Since: time.Now().Add(time.Hour)}, false)
	asks(PaidOptions{Subject: me.Subject, Item: "report:42", Delivered: true}, false)
	if claimed, err := m.Claim(t.Context(), id, me, ClaimOptions{}); err != nil || !claimed {
		t.Fatal(claimed, err)
	}
	asks(PaidOptions{Subject: me.Subject, Item: "report:42", Delivered: true}, true)
	sendBack(t, p, id, reference, 1050)
	asks(PaidOptions{Subject: me.Subject, Item: "report:42"}, false)
	_, err := m.Paid(t.Context(), PaidOptions{Item: "report:42"})
	refused(t, "Paid", err, "Subject")
	_, err = m.Paid(t.Context(), PaidOptions{Subject: "ann"})
	refused(t, "Paid", err, "Item")
}

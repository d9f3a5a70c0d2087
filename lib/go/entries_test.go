// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func payment(of Owner, provider string) Request {
	return Request{Provider: provider, Kind: Payment, Owner: of, Item: newID(), Expected: Expected{Amount: 1050, Currency: "EUR"},
		TargetURL: "https://checkout.example/"}
}

func entryOf(id, reference string) PaymentEntry {
	return PaymentEntry{Reference: reference, Amount: 1050, Currency: "eur", Status: EntryPaid, ElicitationID: id}
}

// askedPayment is an elicitation of which an event has asked for a recheck.
func askedPayment(t testing.TB, m *Instance, p *programs, of Owner) string {
	t.Helper()
	id := create(t, m, payment(of, "stripe")).ElicitationID
	p.rechecks(t, id)
	return id
}

func (p *programs) rechecks(t testing.TB, id string) {
	t.Helper()
	p.ask(t, `SELECT outcome FROM urlmode.record_events($1::text[]::uuid[], '{stripe}', $2::text[], '{checkout}', '{recheck}', '{NULL}', '{NULL}',
		'{cs_1}', '{NULL}')`, []string{id}, []string{newID()})
}

// What is paid counts, whether it matches or not, and what went back after the accept.
func TestRecheckSaysWhatThereIs(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id, reference := askedPayment(t, m, p, me), "tr_"+newID()
	answer := &Answer{Payments: []PaymentEntry{entryOf(id, reference)}}
	options := WaitOptions{Recheck: func(context.Context, Recheck) (*Answer, error) { return answer, nil }}
	outcome, err := m.WaitWith(t.Context(), id, me, options)
	if err != nil || outcome.Action != Accept || outcome.Reference != reference || outcome.Result["currency"] != "EUR" {
		t.Fatalf("%+v, %v", outcome, err)
	}
	answer.Refunds = []RefundEntry{{Reference: "re_" + newID(), Payment: reference, Amount: 1050, Status: EntryProcessing}}
	p.rechecks(t, id)
	if outcome, err = m.WaitWith(t.Context(), id, me, options); err != nil || !outcome.Refunded {
		t.Fatalf("%+v, %v", outcome, err)
	}

	id, reference = askedPayment(t, m, p, me), "tr_"+newID()
	dear := entryOf(id, reference)
	dear.Amount = 2000
	answer = &Answer{Payments: []PaymentEntry{dear}}
	if outcome, err = m.WaitWith(t.Context(), id, me, options); err != nil || outcome.Reason != "amount_mismatch" {
		t.Fatalf("%+v, %v", outcome, err)
	}
	listed, err := m.Unclaimed(t.Context(), ListOptions{})
	if n := slices.IndexFunc(listed, func(each UnclaimedPayment) bool { return each.Reference == reference }); err != nil || n < 0 || listed[n].Matches {
		t.Fatalf("%+v, %v", listed, err)
	}
}

// A payment of somebody else is not recorded, and a warning says so.
func TestRecheckNamesAnotherElicitation(t *testing.T) {
	log := &lines{}
	m, p, me := open(t, func(c *Config) { c.Logger = log.logger() }), openPrograms(t), someone()
	id, stranger, nobody := askedPayment(t, m, p, me), "tr_"+newID(), "tr_"+newID()
	_, err := m.WaitWith(t.Context(), id, me, WaitOptions{Once: true, Recheck: func(context.Context, Recheck) (*Answer, error) {
		return &Answer{Payments: []PaymentEntry{entryOf(newID(), stranger), entryOf("", nobody)}}, nil
	}})
	if !errors.Is(err, ErrTimeout) {
		t.Fatal(err)
	}
	log.mu.Lock()
	said := log.text.String()
	log.mu.Unlock()
	for _, reference := range []string{stranger, nobody} {
		if text := "did not record " + reference + ", which does not name this elicitation or its checkout"; !strings.Contains(said, text) {
			t.Errorf("%s is not in %s", text, said)
		}
	}
}

func TestEntriesAreChecked(t *testing.T) {
	for message, change := range map[string]func(*PaymentEntry){
		"Payments[0].Reference must have 1 to 800 bytes":                          func(e *PaymentEntry) { e.Reference = "" },
		"the amount of Payments[0] must be a whole number of minor units (cents)": func(e *PaymentEntry) { e.Amount = -1 },
		"the currency of Payments[0] must be one of ISO 4217":                     func(e *PaymentEntry) { e.Currency = "EURO" },
		"Payments[0].Status must be one of paid, processing, failed, cancelled":   func(e *PaymentEntry) { e.Status = "open" },
		"Payments[0].Checkout must be valid UTF-8 without NUL":                    func(e *PaymentEntry) { e.Checkout = "\x00" },
	} {
		entry := entryOf("", "tr_1")
		change(&entry)
		if _, _, err := entryRows([]PaymentEntry{entry}, nil, 100); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", message, err)
		}
	}
	if _, _, err := entryRows(nil, []RefundEntry{{Reference: "r", Amount: 1, Status: EntryPaid}}, 100); err == nil || !strings.Contains(err.Error(), "Refunds[0].Payment") {
		t.Error(err)
	}
	if _, _, err := entryRows(make([]PaymentEntry, 101), nil, 100); err == nil || !strings.Contains(err.Error(), "at most 100 entries") {
		t.Error(err)
	}
}

func TestReconcile(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	provider := "shop-" + newID()[:8]
	var ids, references []string
	for range 3 {
		ids, references = append(ids, create(t, m, payment(me, provider)).ElicitationID), append(references, "tr_"+newID())
	}
	for n := range 2 {
		p.ask(t, `SELECT outcome FROM urlmode.record_events($1::text[]::uuid[], $2::text[], $3::text[], '{paid}', '{paid}', '{1050}', '{EUR}', $3::text[],
			'{x}')`, []string{ids[n]}, []string{provider}, []string{references[n]})
	}
	cheap := entryOf(ids[0], references[0])
	cheap.Amount = 1
	found, err := m.Reconcile(t.Context(), ReconcileOptions{Provider: provider, Since: time.Now().Add(-time.Hour),
		List: func(context.Context, ReconcileOptions) ([]PaymentEntry, []RefundEntry, error) {
			return []PaymentEntry{cheap, entryOf(ids[2], references[2]), entryOf("", "tr_"+newID())}, nil, nil
		}})
	price := Expected{Amount: 1050, Currency: "EUR"}
	if err != nil || len(found.MissingHere) != 1 || len(found.MissingThere) != 1 || len(found.Differs) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	if here := found.MissingHere[0]; here.Reference != references[2] || here.Here != nil || *here.There != price || here.ElicitationID != ids[2] {
		t.Errorf("%+v", here)
	}
	if there := found.MissingThere[0]; there.Reference != references[1] || *there.Here != price || there.There != nil {
		t.Errorf("%+v", there)
	}
	if differs := found.Differs[0]; differs.Reference != references[0] || *differs.Here != price || differs.There.Amount != 1 || differs.Kind != "payment" {
		t.Errorf("%+v", differs)
	}
	if _, err := m.Reconcile(t.Context(), ReconcileOptions{Provider: provider}); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"urlmode.example/urlmode/internal/limits"
)

func TestEventsOfAnElicitation(t *testing.T) {
	type key struct{}
	var mu sync.Mutex
	var reported []Event
	config := Config{DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: "https://callback.example"}
	config.OnEvent = func(ctx context.Context, event Event) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, event)
		if event.Type != EventLate && event.Type != EventRefunded && ctx.Value(key{}) != "the call's" {
			t.Error(event.Type, "has another context than its call")
		}
	}
	m, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx := context.WithValue(t.Context(), key{}, "the call's")
	of := func(me Owner) (kinds []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, each := range reported {
			if each.Owner == me {
				kinds = append(kinds, string(each.Type)+" "+each.Provider+" "+string(each.Kind)+" "+string(each.Action)+" "+each.Reason)
			}
		}
		return kinds
	}
	want := func(me Owner, wanted ...string) {
		t.Helper()
		if got := of(me); strings.Join(got, "\n") != strings.Join(wanted, "\n") {
			t.Errorf("%q", got)
		}
	}

	// Seen by two waits, each change once.
	me := someone()
	request := Request{Provider: "stripe", Kind: Payment, Owner: me, Item: "a", Expected: Expected{Amount: 5, Currency: "EUR"}, TargetURL: "https://checkout.example"}
	elicitation, err := m.Create(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	var waits sync.WaitGroup
	for range 2 {
		waits.Go(func() {
			if _, err := m.Wait(ctx, elicitation.ElicitationID, me); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, "both wait", func() bool { return m.OpenWaits() == 2 })
	other := open(t)
	if done, err := other.Complete(t.Context(), elicitation.ElicitationID, me, Answer{
		Action: Accept, Amount: 5, Currency: "EUR", Reference: newID()}); err != nil || !done {
		t.Fatal(err)
	}
	waits.Wait()
	want(me, "created stripe payment  ", "completed stripe payment accept ")

	// What is resumed is not created again, and what this instance ends needs no wait.
	her := someone()
	request.Owner = her
	for range 2 {
		if elicitation, err = m.Create(ctx, request); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := m.Cancel(ctx, elicitation.ElicitationID, her, "sold_out"); err != nil {
			t.Fatal(err)
		}
	}
	want(her, "created stripe payment  ", "completed stripe payment cancel sold_out")

	// A payment that comes after the end is told by each instance.
	if done, err := other.Complete(t.Context(), elicitation.ElicitationID, her, Answer{
		Action: Accept, Amount: 5, Currency: "EUR", Reference: newID()}); err != nil || !done {
		t.Fatal(err)
	}
	until(t, "the late payment is reported", func() bool { return len(of(her)) == 3 })
	want(her, "created stripe payment  ", "completed stripe payment cancel sold_out", "late stripe   ")

	// A form that is abandoned.
	him := someone()
	form, err := m.CreateInput(ctx, InputRequest{Provider: "intake", Owner: him, Form: InputForm{Title: Text("Key"), Fields: []Field{{Name: "k", Type: SecretField, Label: Text("Key")}}}})
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := m.Abandon(ctx, form.ElicitationID, him, Cancel, ""); err != nil || !ended {
		t.Fatal(err)
	}
	want(him, "created intake input  ", "completed intake input cancel abandoned")
}

func TestEventsTellOnlyWhatIsLater(t *testing.T) {
	var reported []EventType
	es := &events{report: func(_ context.Context, event Event) { reported = append(reported, event.Type) }, ranks: map[string]byte{}}
	for _, each := range []EventType{EventOpened, EventCreated, EventOpened, EventCompleted, EventProcessing} {
		es.once(t.Context(), Event{Type: each, ElicitationID: "a"})
	}
	if len(reported) != 2 || reported[0] != EventOpened || reported[1] != EventCompleted {
		t.Error(reported)
	}
	for range 3 * limits.RememberedMin {
		es.once(t.Context(), Event{Type: EventCreated, ElicitationID: newID()})
	}
	if remembered := len(es.ranks) + len(es.older); remembered > 2*limits.RememberedMin {
		t.Error(remembered)
	}
}

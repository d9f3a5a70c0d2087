// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// shop is the provider of a user's subscription.
type shop struct {
	t            *testing.T
	operator     *pgx.Conn
	subscription string
	at           int64
}

// send sends an event. A first payment names its elicitation, and the later events the subscription.
func (s *shop) send(id *string, effect, reference, said string) (outcome string) {
	s.t.Helper()
	s.at++
	details := fmt.Sprintf(`{"subscription": {"id": %q, "at_ms": %d%s}}`, s.subscription, s.at, said)
	err := s.operator.QueryRow(s.t.Context(), `SELECT outcome FROM urlmode.receive_events(ARRAY[$1::uuid], ARRAY['stripe'], ARRAY[$2::text], ARRAY['t'],
		ARRAY[$3::text], ARRAY[1050::bigint], ARRAY['EUR'], ARRAY[$4::text], ARRAY[NULL::bytea], details => ARRAY[$5::jsonb])`,
		id, rand.Text(), effect, reference, details).Scan(&outcome)
	if err != nil {
		s.t.Fatal(err)
	}
	return outcome
}

// A user subscribes once, goes on at once from then on, and is sent to the page of ManageURL instead of being asked again.
func TestRequirePaid(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a := New(m, Options{})
	s := &shop{t: t, operator: adaptertest.AsOperator(t), subscription: "sub_" + rand.Text(), at: time.Now().UnixMilli()}
	asked := 0
	call := Call{Client: Client{Name: "tests", URL: true}, Channel: &Channel{
		Session: s, Life: t.Context(),
		Request: func(ctx context.Context, ask Ask) (string, error) {
			asked++
			if said := s.send(nil, "subscription", "", fmt.Sprintf(`, "payment": "pay_%s", "status": "active"`, ask.ElicitationID)); said != "subscription" {
				t.Error(said)
			}
			if _, err := m.Complete(ctx, ask.ElicitationID, me, urlmode.Answer{Action: urlmode.Accept, Amount: 1050, Currency: "EUR",
				Reference: "pay_" + ask.ElicitationID}); err != nil {
				t.Error(err)
			}
			return "accept", nil
		},
		Complete: func(context.Context, string) error { return nil },
	}}
	request := PaidToolRequest{ToolRequest: ToolRequest{Message: "Pro is 10.50 a month.", Round: 20 * time.Second, Request: urlmode.Request{
		Provider: "stripe", Owner: me, Item: "pro", Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"},
		TargetURL: "https://shop.example/checkout"}}}
	use := func(request PaidToolRequest) string {
		t.Helper()
		end, err := a.RequirePaid(t.Context(), call, request, func(_ context.Context, e urlmode.Entitlement) (json.RawMessage, error) {
			return json.RawMessage(`"` + e.Item + " is " + string(e.Status) + `"`), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(end.Result)
	}
	for range 3 {
		if said := use(request); said != `"pro is active"` || asked != 1 {
			t.Fatalf("%s, asked %d times", said, asked)
		}
	}
	s.send(nil, "subscription", "", `, "status": "trialing", "until_ms": 4102444800000`)
	found, err := m.Entitlements(t.Context(), me.Subject, "")
	if err != nil || len(found) != 1 || found[0].Status != urlmode.Trialing || !found[0].Entitled || found[0].Until.Year() != 2100 || found[0].Subscription != s.subscription {
		t.Errorf("%+v, %v", found, err)
	}
	unclaimed, err := m.Unclaimed(t.Context(), urlmode.ListOptions{})
	for _, each := range unclaimed {
		if each.Owner.Subject == me.Subject {
			t.Errorf("%+v is unclaimed", each)
		}
	}
	if err != nil {
		t.Error(err)
	}

	s.send(nil, "subscription", "", `, "status": "past_due"`)
	if said := use(request); !strings.Contains(said, "Not done: the last payment of the subscription has failed or is missing.") {
		t.Error(said)
	}
	request.ManageURL = func(_ context.Context, e urlmode.Entitlement) (string, error) {
		return "https://shop.example/" + string(e.Status), nil
	}
	if said := use(request); !strings.Contains(said, `\n\nhttps://shop.example/past_due\n\n`) {
		t.Error(said)
	}
	s.send(nil, "subscription", "", `, "status": "cancelled", "until_ms": 4102444800000`)
	for manage, page := range map[bool]string{true: "https://shop.example/cancelled", false: ""} {
		with := request
		if !manage {
			with.ManageURL = nil
		}
		if _, err := a.RequirePaid(t.Context(), call, with, func(ctx context.Context, e urlmode.Entitlement) (json.RawMessage, error) {
			if url, err := e.ManageURL(ctx); err != nil || url != page {
				t.Errorf("who is %s manages it at %q, %v", e.Status, url, err)
			}
			return json.RawMessage(`"done"`), nil
		}); err != nil {
			t.Error(err)
		}
	}
	s.send(nil, "subscription", "", `, "status": "paused"`)
	if said := use(request); !strings.Contains(said, "the subscription is paused") || asked != 1 {
		t.Error(said)
	}
	s.send(nil, "subscription", "", `, "status": "ended"`)
	if said := use(request); said != `"pro is active"` && asked != 2 {
		t.Errorf("%s, asked %d times", said, asked)
	}
}

// Another call has subscribed since this one has looked, and while it makes the checkout.
func TestRequirePaidMeanwhile(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a := New(m, Options{})
	request := urlmode.Request{Provider: "stripe", Owner: me, Item: "pro", Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"}}
	toolRequest := PaidToolRequest{ToolRequest: ToolRequest{Message: "Pro.", Round: time.Second, Request: request}}
	found, err := a.subscribed(t.Context(), toolRequest)
	if found != nil || err != nil {
		t.Fatal(found, err)
	}
	bought := request
	bought.Kind, bought.Subscription, bought.TargetURL = urlmode.Payment, true, "https://shop.example/checkout"
	elicitation, err := m.Create(t.Context(), bought)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), elicitation.ElicitationID, me, urlmode.Answer{Action: urlmode.Accept, Amount: 1050, Currency: "EUR",
		Reference: "pay_" + elicitation.ElicitationID}); err != nil {
		t.Fatal(err)
	}
	toolRequest.Target = func(context.Context, urlmode.TargetArguments) (urlmode.Target, error) {
		return urlmode.Target{}, errors.New("a second checkout")
	}
	bought.ID = ""
	if _, err := m.Create(t.Context(), bought); !errors.Is(err, urlmode.ErrSubscribed) {
		t.Error(err)
	}
	end, used, err := a.subscribe(t.Context(), Call{}, toolRequest)
	if err != nil || used == nil || !used.Entitled {
		t.Errorf("%s, %v, %v", end.Result, used, err)
	}
}

// Another call subscribes while this one makes its checkout: the database refuses the second subscription.
func TestRequirePaidWhileCheckout(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a := New(m, Options{})
	request := urlmode.Request{Provider: "stripe", Owner: me, Item: "pro", Kind: urlmode.Payment, Subscription: true,
		Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"}, TargetURL: "https://shop.example/checkout"}
	buy := func(ctx context.Context, _ urlmode.TargetArguments) (urlmode.Target, error) {
		other, err := m.Create(ctx, request)
		if err == nil {
			_, err = m.Complete(ctx, other.ElicitationID, me, urlmode.Answer{Action: urlmode.Accept, Amount: 1050, Currency: "EUR",
				Reference: "pay_" + other.ElicitationID})
		}
		return urlmode.Target{URL: "https://shop.example/checkout"}, err
	}
	second := request
	second.TargetURL, second.Target = "", buy
	toolRequest := PaidToolRequest{ToolRequest: ToolRequest{Message: "Pro.", Round: time.Second, Request: second}}
	end, used, err := a.subscribe(t.Context(), Call{}, toolRequest)
	if err != nil || used == nil || !used.Entitled {
		t.Errorf("%s, %v, %v", end.Result, used, err)
	}
	request.Item = "team"
	second.Item = "team"
	if _, err := m.Create(t.Context(), second); !errors.Is(err, urlmode.ErrSubscribed) {
		t.Error(err)
	}
}

func TestRequirePaidRefuses(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a := New(m, Options{})
	request := urlmode.Request{Provider: "stripe", Owner: me, Kind: urlmode.Payment, Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"},
		TargetURL: "https://shop.example/checkout", Subscription: true}
	if _, err := m.Create(t.Context(), request); !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
	request.Item, request.Expected = "pro", urlmode.Expected{Any: true}
	if _, err := m.Create(t.Context(), request); !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
	if _, err := a.Elicit(t.Context(), Call{}, ToolRequest{Request: request, Message: "Pro."}, nil); !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
	if _, err := a.RequirePaid(t.Context(), Call{}, PaidToolRequest{ToolRequest: ToolRequest{Message: "Pro."}}, nil); !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
}

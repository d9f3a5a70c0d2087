// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLinkAndVerifier(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	request := account(me)
	request.PKCE, request.TTL = true, 10*time.Minute
	request.TargetURL = "https://provider.example/a?scope=openid+x"
	elicitation := create(t, m, request)
	link, _ := url.Parse(elicitation.URL)
	if id, kid, err := openLink(p.ring, "connect", "github", link.Query().Get("state")); err != nil || id != elicitation.ElicitationID || kid != 1 {
		t.Fatalf("the link is %s: %v", elicitation.URL, err)
	}
	if rest := time.Until(elicitation.ExpiresAt); rest < 9*time.Minute || rest > 11*time.Minute || elicitation.Resumed || elicitation.CancelURL != "" {
		t.Fatalf("%+v", elicitation)
	}
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	p.open(t, elicitation.ElicitationID, me)
	p.comeBack(t, elicitation.ElicitationID, me, "é<&>")
	got := <-wait
	if got.err != nil || got.outcome.Result["code"] != "é<&>" || len(got.outcome.CodeVerifier) != 43 || len(got.outcome.Nonce) != 22 {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	for _, text := range []string{fmt.Sprint(got.outcome), fmt.Sprintf("%+v %#v", got.outcome, got.outcome)} {
		if strings.Contains(text, "é") || strings.Contains(text, got.outcome.CodeVerifier) {
			t.Fatalf("it prints as %s", text)
		}
	}
	again, err := m.Wait(t.Context(), elicitation.ElicitationID, me)
	if err != nil || again.CodeVerifier != got.outcome.CodeVerifier || again.Result["code"] != "é<&>" {
		t.Fatalf("%#v, %v", again, err)
	}
}

func TestTraceOfTheCallIsKept(t *testing.T) {
	m := open(t)
	operator := asOperator(t)
	for _, trace := range []string{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ""} {
		request := account(someone())
		request.Traceparent = trace
		var kept string
		err := operator.QueryRow(t.Context(), "SELECT coalesce(traceparent, '') FROM urlmode.elicitation WHERE id = $1::text::uuid",
			create(t, m, request).ElicitationID).Scan(&kept)
		if err != nil || kept != trace {
			t.Fatalf("%s, %v", kept, err)
		}
	}
}

func TestPaymentURLs(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	var seen TargetArguments
	elicitation := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), Expected: Expected{Amount: 5, Currency: "isk"},
		Target: func(_ context.Context, a TargetArguments) (Target, error) {
			seen = a
			return Target{URL: "https://checkout.example/pay", Checkout: "cs_1"}, nil
		}})
	if seen.Amount != "500" || seen.CallbackURLs != elicitation.CallbackURLs {
		t.Fatalf("%+v, %+v", seen, elicitation)
	}
	for purpose, address := range map[string]string{"return": elicitation.ReturnURL, "cancel": elicitation.CancelURL, "webhook": elicitation.WebhookURL} {
		parts, _ := url.Parse(address)
		if opened, err := openState(p.ring, purpose, "stripe", parts.Query().Get("state"), time.Now()); err != nil || opened.id != elicitation.ElicitationID {
			t.Errorf("%s: %v", purpose, err)
		}
	}
	wanted := errors.New("no checkout")
	if _, err := m.Create(t.Context(), Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), Expected: Expected{Any: true},
		Target: func(context.Context, TargetArguments) (Target, error) { return Target{}, wanted }}); !errors.Is(err, wanted) {
		t.Fatalf("the error of Target: %v", err)
	}
}

func TestOneBadCreateFailsAlone(t *testing.T) {
	m, me := open(t), someone()
	first := create(t, m, account(me))
	var group sync.WaitGroup
	errs := make([]error, 41)
	for i := range errs {
		group.Go(func() {
			request := account(someone())
			if i == 20 {
				request.ID = strings.ToUpper(first.ElicitationID)
			}
			_, errs[i] = m.Create(t.Context(), request)
		})
	}
	group.Wait()
	for i, err := range errs {
		if errors.Is(err, ErrExists) != (i == 20) || i != 20 && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestWhatAShippedDescriptionCannotBe(t *testing.T) {
	var found struct{ Cases [][3]any }
	readJSON(t, "../../tests/vectors/described-kinds.json", &found)
	for _, c := range found.Cases {
		request := &Request{Provider: c[0].(string), Kind: Kind(c[1].(string)), Owner: someone(), TargetURL: "https://a.example/"}
		if request.Kind == Payment {
			request.Expected = Expected{Any: true}
		}
		if request.Kind.hasItem() {
			request.Item = "report:42"
		}
		_, err := checkTargetRequest(request, nil)
		refused := err != nil && errors.Is(err, ErrArgument) && strings.Contains(err.Error(), "cannot be of kind")
		if (err == nil) != c[2].(bool) || (err != nil) != refused {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"errors"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// A requestState is good for its owner and for what was asked for, and for nothing else.
func TestRequestState(t *testing.T) {
	m := offline(t)
	me := Owner{"ada", "s"}
	request := Request{Provider: "stripe", Kind: Payment, Owner: me, Expected: Expected{Amount: 5, Currency: "eur"}, Item: "report:42",
		RequestOptions: RequestOptions{ResumeKey: "k", About: map[string]any{"a": 1}, ClientID: "c"}}
	k := rowKey{newID(), bindingOf(me)}
	asked := m.elicitation(m.urls(k, "stripe", Payment, time.Minute), placed{key: k, provider: "stripe", expiresAt: time.Now().Add(time.Minute)})
	text, err := m.RequestState(Retry{asked, 2}, request)
	if err != nil {
		t.Fatal(err)
	}
	again := request
	again.Expected.Amount, again.ResumeKey = 6, "l"
	opened, err := m.OpenRequestState(text, again)
	if err != nil || opened.Round != 2 || opened.Elicitation.URL != asked.URL || !opened.Elicitation.Resumed ||
		opened.Elicitation.ExpiresAt.Before(asked.ExpiresAt) || opened.Elicitation.ExpiresAt.After(asked.ExpiresAt.Add(time.Second)) {
		t.Fatalf("%+v, %v", opened, err)
	}
	for name, change := range map[string]func(*Request){
		"subject":  func(r *Request) { r.Owner.Subject = "eve" },
		"session":  func(r *Request) { r.Owner.Session = "other" },
		"item":     func(r *Request) { r.Item = "report:43" },
		"provider": func(r *Request) { r.Provider = "paddle" },
		"about":    func(r *Request) { r.About = nil },
		"client":   func(r *Request) { r.SameClient = true },
	} {
		other := request
		change(&other)
		if _, err := m.OpenRequestState(text, other); !errors.Is(err, ErrRequestState) || errors.Is(err, ErrExpired) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for _, bad := range []string{"", ".", text[:len(text)-2], text + "1", "B" + text[1:], strings.Replace(text, ".2", ".0", 1), strings.ToUpper(text)} {
		if _, err := m.OpenRequestState(bad, request); !errors.Is(err, ErrRequestState) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	asked.ExpiresAt = time.Now().Add(-limits.GraceMax - 2*time.Second)
	if text, err = m.RequestState(Retry{asked, 1}, request); err != nil {
		t.Fatal(err)
	}
	if _, err := m.OpenRequestState(text, request); !errors.Is(err, ErrRequestState) || !errors.Is(err, ErrExpired) {
		t.Errorf("expired: %v", err)
	}
	for _, bad := range []Retry{{asked, 0}, {asked, RoundsMax + 1}, {Elicitation{}, 1}} {
		if _, err := m.RequestState(bad, request); !errors.Is(err, ErrArgument) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// One of a package that has sent no item is good for the same price and the same key.
func TestRequestStateWithoutItem(t *testing.T) {
	m := offline(t)
	me := Owner{"ada", "s"}
	earlier := Request{Provider: "stripe", Kind: Payment, Owner: me, Expected: Expected{Amount: 5, Currency: "EUR"}, RequestOptions: RequestOptions{ResumeKey: "k"}}
	k := rowKey{newID(), bindingOf(me)}
	asked := m.elicitation(m.urls(k, "stripe", Payment, time.Minute), placed{key: k, provider: "stripe", expiresAt: time.Now().Add(time.Minute)})
	text, err := m.RequestState(Retry{asked, 1}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		change func(*Request)
		good   bool
	}{
		"the same":      {func(*Request) {}, true},
		"another price": {func(r *Request) { r.Expected.Amount = 4 }, false},
		"another key":   {func(r *Request) { r.ResumeKey = "l" }, false},
	} {
		request := earlier
		request.Item = "report:42"
		row.change(&request)
		if _, err := m.OpenRequestState(text, request); (err == nil) != row.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What goes on with the claim of a body is sealed with it, for its elicitation, owner and item.
func TestRoundState(t *testing.T) {
	m := offline(t)
	me := Owner{"ada", "s"}
	request := Request{Provider: "stripe", Kind: Payment, Owner: me, Expected: Expected{Amount: 5, Currency: "EUR"}, Item: "report:42"}
	made := func() (Elicitation, string) {
		k := rowKey{newID(), bindingOf(me)}
		asked := m.elicitation(m.urls(k, "stripe", Payment, time.Minute), placed{key: k, provider: "stripe", expiresAt: time.Now().Add(time.Minute)})
		text, err := m.RoundState(asked, Round{Reference: "pay_1", Fence: 7, State: "theirs"}, request)
		if err != nil {
			t.Fatal(err)
		}
		return asked, text
	}
	asked, text := made()
	got, round, err := m.OpenRoundState(text, request)
	if err != nil || got.ElicitationID != asked.ElicitationID || *round != (Round{Reference: "pay_1", Fence: 7, State: "theirs"}) || strings.Contains(text, "theirs") {
		t.Fatalf("%+v, %+v, %v", got, round, err)
	}
	other := request
	other.Item = "report:43"
	if _, _, err := m.OpenRoundState(text, other); !errors.Is(err, ErrRequestState) {
		t.Errorf("another item: %v", err)
	}
	_, second := made()
	at := strings.LastIndexByte(text, '.')
	for _, bad := range []string{text[:at] + second[at:], text[:at+1], text + "A", text[:at+1] + "B" + text[at+2:]} {
		if _, _, err := m.OpenRoundState(bad, request); !errors.Is(err, ErrRequestState) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, none := range []string{"", text[:at], "a.b.c.d"} {
		if _, round, err := m.OpenRoundState(none, request); round != nil || err != nil {
			t.Errorf("%q: %v, %v", none, round, err)
		}
	}
	if _, err := m.RoundState(asked, Round{State: strings.Repeat("x", limits.BodyStateMax+1)}, request); !errors.Is(err, ErrArgument) {
		t.Errorf("a large state: %v", err)
	}
}

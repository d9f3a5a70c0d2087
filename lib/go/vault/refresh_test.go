// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// A listener may ask for a token of the account that it hears of.
func TestListenerAsks(t *testing.T) {
	for _, row := range []struct {
		status     int
		event      EventName
		says, asks string
	}{
		{200, EventRefreshed, "access-2", "access-2"},
		{400, EventReconnect, "the account at demo must be connected again: invalid_grant", "the account at demo must be connected again: invalid_grant"},
		{500, EventFailed, "the token at demo cannot be refreshed just now: invalid_grant, status 500", "the token at demo cannot be refreshed just now: paused"},
	} {
		b := newBed(t)
		b.store()
		b.expire()
		if row.status != 200 {
			b.endpoint.always(row.status, `{"error":"invalid_grant"}`)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		heard := ""
		b.vault.onEvent = func(event Event) {
			if event.Name == row.event {
				heard = b.tokenFor(ctx, 0)
			}
		}
		b.is("the token", b.token(), row.says)
		b.is("what the listener gets", heard, row.asks)
	}
}

func TestExpiredWithoutRefreshToken(t *testing.T) {
	b := newBed(t)
	b.store(tokens{"refresh_token": nil})
	b.change("expires_at = now() + interval '30 seconds', refreshed_at = now() - interval '1 hour'")
	b.is("a token that is still valid", b.token(), "access-1")
	b.expire()
	b.is("the error", b.token(), "the account at demo must be connected again: expired")
}

// reused says for how long the provider takes a refresh token again.
func reused(within any) func(*bed) {
	return func(b *bed) { b.described.ReuseWithin = within }
}

// A provider that is away leaves a token that is still valid in use, and is not asked all the time. Whatever it answers, an outage
// counts as one answer that is lost, and costs no account: the token is sent again at once, and then after a minute.
func TestProviderIsAway(t *testing.T) {
	for _, row := range []struct {
		status     int
		text, says string
		after      string // Retry-After
		within     any    // reuse_within
		times      int    // that it is asked at once
		paused     int    // for about so many seconds nobody asks again
	}{
		{status: 500, says: "invalid_response, status 500, no known type", times: 2, paused: 60},
		{status: 503, text: `{"error":"temporarily_unavailable"}`, says: "temporarily_unavailable, status 503", times: 2, paused: 60},
		{status: 504, says: "invalid_response, status 504, no known type", times: 2, paused: 60},
		{status: 522, text: "<html>", says: "invalid_response, status 522, no known type", times: 2, paused: 60},
		{status: 408, text: `{"error":"invalid_grant"}`, says: "invalid_grant, status 408", times: 2, paused: 60},
		{status: 429, says: "invalid_response, status 429, no known type", times: 2, paused: 60},
		{status: 400, text: `{}`, says: "invalid_response, status 400, application/json", times: 2, paused: 60},
		{status: 503, says: "invalid_response, status 503, no known type", within: "never", times: 1, paused: 60},
		{status: 503, says: "invalid_response, status 503, no known type", within: 60.0, times: 2, paused: 2},
		{status: 429, text: `{"error":"slow_down"}`, says: "slow_down, status 429", times: 1, paused: 1},
		{status: 429, text: `{"error":"slow_down"}`, says: "slow_down, status 429", after: "120", times: 1, paused: 120},
		{status: 503, says: "invalid_response, status 503, no known type", after: time.Now().Add(400 * time.Second).UTC().Format(http.TimeFormat), within: 60.0, times: 1, paused: 400},
		{status: 503, says: "invalid_response, status 503, no known type", after: "99999999999999999999", times: 1, paused: 3600},
		{status: 503, says: "invalid_response, status 503, no known type", after: "soon", times: 2, paused: 60},
	} {
		b := newBed(t, reused(row.within))
		b.store()
		b.change("expires_at = now() + interval '30 seconds', refreshed_at = now() - interval '1 hour'")
		b.endpoint.answers(func(w http.ResponseWriter, _ *http.Request) bool {
			if row.after != "" {
				w.Header().Set("Retry-After", row.after)
			}
			if !strings.HasPrefix(row.text, "{") {
				w.Header().Set("Content-Type", "")
				w.WriteHeader(row.status)
				w.Write([]byte(row.text))
				return true
			}
			respond(w, row.status, row.text)
			return true
		})
		b.is("a token that is still valid", b.tokenFor(t.Context(), time.Minute), "access-1")
		least := fmt.Sprintf("(pause_until - now() BETWEEN interval '%[1]d s' * 0.3 AND interval '%[1]d s' * 1.05)", row.paused)
		b.is("the pause", b.column(least), "true")
		if asked := len(b.endpoint.refreshes()); asked != row.times {
			t.Errorf("%+v: it was asked %d times", row, asked)
		}
		b.change("expires_at = now()")
		b.is("the error", b.token(), "the token at demo cannot be refreshed just now: paused")
		for range 3 {
			b.change("pause_until = NULL")
			b.is("the error of the next attempt", b.token(), "the token at demo cannot be refreshed just now: "+row.says)
		}
		b.endpoint.answers(nil)
		b.change("pause_until = NULL")
		b.is("the token when it is back", b.token(), "access-2")
	}
}

// The end of a call does not end its refresh.
func TestCallEnds(t *testing.T) {
	b := newBed(t)
	b.store()
	b.expire()
	asked, answer := make(chan struct{}), make(chan struct{})
	b.endpoint.answers(func(http.ResponseWriter, *http.Request) bool {
		close(asked)
		<-answer
		return false
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan string, 1)
	go func() { ended <- b.tokenFor(ctx, 0) }()
	<-asked
	cancel()
	b.is("the call that has ended", <-ended, "context canceled")
	b.endpoint.answers(nil)
	go func() {
		time.Sleep(100 * time.Millisecond)
		close(answer)
	}()
	if err := b.instance.Close(); err != nil {
		t.Fatal(err)
	}
	b.is("what is heard when the UrlMode is closed", b.heard(), "connected, refreshed")
	b.is("a call after that", b.token(), "this UrlMode is closed")
	_, other := b.open(b.keys)
	b.is("the token", b.token(other), "access-2")
	if asked := b.endpoint.refreshes(); len(asked) != 1 {
		t.Errorf("it was asked %d times", len(asked))
	}
}

// An answer that is lost: within the window of the provider the old token is sent again as often as needed, where that is not known once,
// at once, and where a second use ends everything never.
func TestLostAnswers(t *testing.T) {
	for _, row := range []struct {
		within any
		asked  int
		text   string // empty: the connection breaks
	}{{nil, 2, ""}, {60.0, 3, ""}, {"never", 1, ""}, {nil, 2, "<html>"}, {60.0, 3, `{"token_type":"bearer"}`}, {"never", 1, "<html>"}} {
		b := newBed(t, reused(row.within))
		b.store()
		b.change("expires_at = now() + interval '30 seconds', refreshed_at = now() - interval '1 hour'")
		b.endpoint.answers(func(w http.ResponseWriter, _ *http.Request) bool {
			if row.text == "" {
				panic(http.ErrAbortHandler)
			}
			respond(w, 200, row.text)
			return true
		})
		b.is("a token that is still valid", b.tokenFor(t.Context(), time.Minute), "access-1")
		b.endpoint.answers(nil)
		b.change("expires_at = now(), pause_until = NULL")
		end := "the account at demo must be connected again: refresh_lost"
		if row.within == 60.0 {
			end = "access-2"
		}
		b.is("the end", b.token(), end)
		if asked := b.endpoint.refreshes(); len(asked) != row.asked {
			t.Errorf("%+v: it was asked %d times", row, len(asked))
		}
	}
	b := newBed(t)
	b.store()
	b.expire()
	b.endpoint.server.Close()
	b.is("the error where nobody listens", b.token(), "the token at demo cannot be refreshed just now: CONNECTION_FAILED")
	b.is("how many answers were lost", b.column("lost"), "0")
}

func TestTokensThatCannotBeStored(t *testing.T) {
	b := newBed(t)
	b.store()
	b.expire()
	b.endpoint.mu.Lock()
	b.endpoint.granted["extra"] = strings.Repeat("x", 70_000)
	b.endpoint.mu.Unlock()
	b.is("the error", b.token(), "the account at demo must be connected again: not_stored")
	b.is("what is heard", b.heard(), "connected, reconnect not_stored, not_stored ACCOUNT_SIZE")
	b.is("what was revoked", strings.Join(b.endpoint.revoked, " "), "refresh-2 access-2")
}

// The error has the payments.
func TestForgetWhileAPaymentIsUnclaimed(t *testing.T) {
	b := newBed(t)
	paid := adaptertest.Payment(b.me, "something")
	elicitation, err := b.instance.Create(t.Context(), paid)
	if err != nil {
		t.Fatal(err)
	}
	adaptertest.Pay(t, b.instance, b.me, elicitation.ElicitationID)
	err = b.vault.ForgetSubject(t.Context(), b.me.Subject)
	if unclaimed, is := err.(*urlmode.UnclaimedPaymentsError); !is || len(unclaimed.Payments) != 1 || unclaimed.Payments[0].ElicitationID != elicitation.ElicitationID {
		t.Errorf("%v", err)
	}
}

func TestReseal(t *testing.T) {
	b := newBed(t)
	b.store()
	_, newer := b.open(keyLine(8) + b.keys)
	if done, err := newer.Reseal(t.Context()); err != nil || done.Sealed < 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	b.is("the token", b.token(newer), "access-1")
	b.is("the error without the key", b.token(), "the tokens of an account at demo cannot be opened: the vault's keys file has no key 8")
	used, err := newer.KeysInUse(t.Context())
	if err != nil || len(used) == 0 {
		t.Errorf("%v, %v", used, err)
	}
	_, err = newVault(b.instance, Config{KeysFile: "/nowhere"}, nil)
	if err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("%v", err)
	}
}

// SPDX-License-Identifier: MIT

package vault

import (
	"context"
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

// A provider that is away leaves a token that is still valid in use, and is not asked all the time.
func TestProviderIsAway(t *testing.T) {
	for _, row := range []struct {
		status     int
		text, says string
		lost       string
	}{
		{500, "", "invalid_response, status 500, no known type", "0"},
		{503, `{"error":"temporarily_unavailable"}`, "temporarily_unavailable, status 503", "0"},
		{504, "", "invalid_response, status 504, no known type", "1"},
		{522, "<html>", "invalid_response, status 522, no known type", "1"},
		{200, "<html>", "invalid_response, status 200, no known type", "1"},
		{200, `{"token_type":"bearer"}`, "invalid_response, status 200, application/json with token_type", "1"},
	} {
		b := newBed(t)
		b.store()
		b.change("expires_at = now() + interval '30 seconds', refreshed_at = now() - interval '1 hour'")
		b.endpoint.answers(func(w http.ResponseWriter, _ *http.Request) bool {
			if !strings.HasPrefix(row.text, "{") {
				w.Header().Set("Content-Type", "")
				w.WriteHeader(row.status)
				w.Write([]byte(row.text))
				return true
			}
			respond(w, row.status, row.text)
			return true
		})
		b.is("a token that is still valid", b.token(), "access-1")
		b.expire()
		b.is("the error", b.token(), "the token at demo cannot be refreshed just now: paused")
		b.is("what is heard", b.heard(), "connected, failed "+row.says)
		b.is("how many answers were lost", b.column("lost"), row.lost)
		wanted := []string{"the token at demo cannot be refreshed just now: " + row.says, "the token at demo cannot be refreshed just now: " + row.says}
		if row.status == 200 { // A gateway's answers count as one that was lost, however many they are.
			wanted[1] = "the account at demo must be connected again: refresh_lost"
		}
		for _, each := range wanted {
			b.change("pause_until = NULL")
			b.is("the error of the next attempt", b.token(), each)
		}
		b.endpoint.answers(nil)
		if row.status != 200 {
			b.change("pause_until = NULL")
			b.is("the token when it is back", b.token(), "access-2")
		}
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

// An answer that is lost: the old token is tried once more, and then never again.
func TestLostAnswers(t *testing.T) {
	b := newBed(t)
	b.store()
	b.expire()
	b.endpoint.answers(func(w http.ResponseWriter, _ *http.Request) bool {
		panic(http.ErrAbortHandler)
	})
	b.is("the error", b.token(), "the token at demo cannot be refreshed just now: CONNECTION_BROKEN")
	b.is("the error meanwhile", b.token(), "the token at demo cannot be refreshed just now: paused")
	b.change("pause_until = now()")
	b.is("the error of the second attempt", b.token(), "the token at demo cannot be refreshed just now: CONNECTION_BROKEN")
	b.change("pause_until = now(), expires_at = now() + interval '20 seconds'")
	b.is("a token that is still valid", b.token(), "access-1")
	b.expire()
	b.is("the end", b.token(), "the account at demo must be connected again: refresh_lost")
	if asked := b.endpoint.refreshes(); len(asked) != 2 {
		t.Errorf("it was asked %d times", len(asked))
	}
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
	asked, err := b.instance.Create(t.Context(), paid)
	if err != nil {
		t.Fatal(err)
	}
	adaptertest.Pay(t, b.instance, b.me, asked.ElicitationID)
	err = b.vault.ForgetSubject(t.Context(), b.me.Subject)
	if unclaimed, is := err.(*urlmode.UnclaimedPaymentsError); !is || len(unclaimed.Payments) != 1 || unclaimed.Payments[0].ElicitationID != asked.ElicitationID {
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

// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
	"urlmode.example/urlmode/internal/limits"
)

// A connection to whoever does not shake hands ends with its time, although net/http makes it for longer than for one request.
func TestSilentEndpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			conn.SetReadDeadline(time.Now().Add(30 * time.Second))
			_, err = io.Copy(io.Discard, conn)
		}
		ended <- err
	}()
	_, err = newRequester(100*time.Millisecond, nil).send(t.Context(), http.MethodGet, "https://"+listener.Addr().String(), nil, nil)
	if err == nil || err.Error() != "TIMEOUT" {
		t.Errorf("%v", err)
	}
	if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("its connection stays open")
	}
}

// A redirect is an answer, wherever it leads.
func TestRedirects(t *testing.T) {
	for _, to := range []string{"https://elsewhere.example/", "http://[", ":"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		got, err := newRequester(limits.AccountRequest, nil).send(t.Context(), http.MethodPost, server.URL, nil, []byte("x"))
		if err != nil || got.status != http.StatusFound {
			t.Errorf("%s: %v, %v", to, got, err)
		}
		server.Close()
	}
}

// hurried is a transport of the caller that does not tell what it does.
type hurried func(*http.Request) (*http.Response, error)

func (h hurried) RoundTrip(r *http.Request) (*http.Response, error) { return h(r) }

// A client of the caller sends the requests. What it may have sent is not sent again.
func TestClientOfTheCaller(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Trace", r.Header.Get("Traceparent"))
	}))
	defer server.Close()
	traced := hurried(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Traceparent", "of the caller")
		return http.DefaultTransport.RoundTrip(r)
	})
	if got, err := newRequester(limits.AccountRequest, &http.Client{Transport: traced}).send(t.Context(), http.MethodGet, server.URL, nil, nil); err != nil || got.status != http.StatusOK {
		t.Errorf("%v, %v", got, err)
	}
	for name, row := range map[string]struct {
		fails func(*http.Request) error
		calls int
		why   string
	}{
		"one that tells nothing":     {func(*http.Request) error { return io.ErrUnexpectedEOF }, 1, "CONNECTION_BROKEN"},
		"one that has no connection": {func(r *http.Request) error { httptrace.ContextClientTrace(r.Context()).GetConn("x"); return io.EOF }, 2, "CONNECTION_FAILED"},
	} {
		calls := 0
		failing := hurried(func(r *http.Request) (*http.Response, error) {
			calls++
			return nil, row.fails(r)
		})
		_, err := newRequester(limits.AccountRequest, &http.Client{Transport: failing}).send(t.Context(), http.MethodPost, server.URL, nil, []byte("x"))
		if err == nil || err.Error() != row.why || calls != row.calls {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
	}
	if got := newRequester(limits.AccountRequest, &http.Client{Timeout: time.Second}).timeout; got != time.Second {
		t.Errorf("its timeout is %s", got)
	}
}

// A vault sends all its requests by the client of its configuration.
func TestClientOfTheVault(t *testing.T) {
	var sent []string
	b := newBed(t, func(b *bed) {
		b.client = &http.Client{Transport: hurried(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.URL.Path)
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	b.store()
	b.expire()
	b.is("the token", b.token(), "access-2")
	if _, err := b.vault.Disconnect(t.Context(), b.me.Subject, demo, ""); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(slices.Compact(sent), " "); got != "/token /revoke" {
		t.Error(got)
	}
}

// A nil context is a mistake in a call, which nothing but that call notices.
func TestNilContextOfVault(t *testing.T) {
	b := newBed(t)
	var none context.Context
	request := urlmode.ConnectRequest{Provider: demo, Owner: b.me}
	for name, call := range map[string]func() error{
		"AccessToken": func() error {
			_, err := b.vault.AccessToken(none, urlmode.AccountRequest{Subject: "u", Provider: demo})
			return err
		},
		"Connect":    func() error { _, err := b.vault.Connect(none, request); return err },
		"Connecting": func() error { _, err := b.vault.Connecting(none, request); return err },
		"Exchange": func() error {
			made, err := b.vault.Connecting(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			_, err = made.Exchange(none, urlmode.Outcome{ElicitationID: adaptertest.NewID()}, "")
			return err
		},
		"Accounts":      func() error { _, err := b.vault.Accounts(none, "u", ""); return err },
		"Disconnect":    func() error { _, err := b.vault.Disconnect(none, "u", demo, ""); return err },
		"ForgetSubject": func() error { return b.vault.ForgetSubject(none, "u") },
		"KeysInUse":     func() error { _, err := b.vault.KeysInUse(none); return err },
		"Reseal":        func() error { _, err := b.vault.Reseal(none); return err },
		"Store": func() error {
			_, err := b.vault.Store(none, "u", demo, Connected{Tokens: tokens{"access_token": "a"}})
			return err
		},
	} {
		if err := call(); !errors.Is(err, urlmode.ErrArgument) || !strings.Contains(err.Error(), "nil context") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

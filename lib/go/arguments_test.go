// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/seals"
)

// lines are what was logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *lines) count(code string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "code="+code)
}

func refused(t *testing.T, what string, err error, argument string) {
	t.Helper()
	if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), argument) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for argument, change := range map[string]func(*Config){
		"DatabaseURL":           func(c *Config) { c.DatabaseURL = "postgresql://user:p4ss%zz@host/x" },
		"DatabaseURL m":         func(c *Config) { c.DatabaseURL = "" },
		"KeysFile":              func(c *Config) { c.Keys = "" },
		"Keys":                  func(c *Config) { c.KeysFile = "x" },
		"BaseURL must c":        func(c *Config) { c.BaseURL = "https://h.example/path" },
		"BaseURL must be https": func(c *Config) { c.BaseURL = "http://h.example" },
		"BaseURL must not":      func(c *Config) { c.BaseURL = "https://u:p@h.example" },
		"Name":                  func(c *Config) { c.Name = strings.Repeat("x", 201) },
		"KeepResults":           func(c *Config) { c.KeepResults = 25 * time.Hour },
		"KeepUnclaimed":         func(c *Config) { c.KeepUnclaimed = time.Hour },
		"Retention":             func(c *Config) { c.Retention = time.Hour },
		"Descriptions":          func(c *Config) { c.Descriptions = map[string]string{"acme": "none"} },
	} {
		config := Config{DatabaseURL: "postgresql://h.example/x", Keys: "1 " + secret(32), BaseURL: "https://h.example"}
		change(&config)
		made, err := New(context.Background(), config)
		refused(t, argument, err, argument)
		if made != nil {
			t.Errorf("%s: there is an instance", argument)
		}
		if err != nil && strings.Contains(err.Error(), "p4ss") {
			t.Errorf("the password is quoted: %v", err)
		}
	}
}

// offline makes an instance whose database nobody asks.
func offline(t testing.TB) *Instance {
	t.Helper()
	made, err := New(context.Background(), Config{DatabaseURL: "postgresql://127.0.0.1:1/x", Keys: "1 " + secret(32), BaseURL: "https://H.example:443"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

func TestRequestIsChecked(t *testing.T) {
	m := offline(t)
	if m.baseURL != "https://h.example" || m.name != "h.example" {
		t.Fatalf("%s, %s", m.baseURL, m.name)
	}
	long := strings.Repeat("x", 600)
	for argument, change := range map[string]func(*Request){
		"UUID":                   func(r *Request) { r.ID = "1" },
		"Provider":               func(r *Request) { r.Provider = "Git Hub" },
		"Kind":                   func(r *Request) { r.Kind = "input" },
		"Subject":                func(r *Request) { r.Owner.Subject = "" },
		"Session":                func(r *Request) { r.Owner.Session = long },
		"valid UTF-8":            func(r *Request) { r.Owner.Subject = "a\x00" },
		"TTL":                    func(r *Request) { r.TTL = -time.Second },
		"ResumeKey":              func(r *Request) { r.ResumeKey = long },
		"ClientID":               func(r *Request) { r.ClientID = strings.Repeat("x", 2049) },
		"Traceparent":            func(r *Request) { r.Traceparent = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
		"Match of Expected must": func(r *Request) { r.Kind, r.Expected = Payment, Expected{Amount: 1, Currency: "EUR", Match: "about"} },
		"Match of Expected cannot": func(r *Request) {
			r.Provider, r.Kind, r.Item, r.Expected = "mollie", Payment, "report:42", Expected{Match: MatchCheckout}
		},
		"MatchCheckout requires": func(r *Request) {
			r.Kind, r.Item, r.Provider, r.Expected = Payment, "report:42", "stripe", Expected{Match: MatchCheckout}
		},
		"Item is only":            func(r *Request) { r.Item = "report:42" },
		"Item must have":          func(r *Request) { r.Kind, r.Item = Signature, long },
		"such as report:42":       func(r *Request) { r.Kind, r.Item = Signature, "" },
		"SameClient":              func(r *Request) { r.SameClient = true },
		"Expected":                func(r *Request) { r.Expected.Any = true },
		"currency":                func(r *Request) { r.Kind, r.Expected = Payment, Expected{Amount: 1, Currency: "USDC"} },
		"currency of":             func(r *Request) { r.Kind = Payment },
		"amount":                  func(r *Request) { r.Kind, r.Expected = Payment, Expected{Amount: -1, Currency: "EUR"} },
		"PKCE":                    func(r *Request) { r.Kind, r.Item, r.PKCE = Signature, "contract:7", true },
		"TargetURL is":            func(r *Request) { r.TargetURL = "" },
		"TargetURL must be https": func(r *Request) { r.TargetURL = "http://p.example" },
		"fragment":                func(r *Request) { r.TargetURL = "https://p.example/#a" },
		"state":                   func(r *Request) { r.TargetURL = "https://p.example/?state=a" },
		"ASCII":                   func(r *Request) { r.TargetURL = "https://p.example/é" },
		"8192":                    func(r *Request) { r.TargetURL = "https://p.example/" + strings.Repeat("x", 8192) },
		"absolute":                func(r *Request) { r.TargetURL = "https://p.example/ a" },
		"code_challenge":          func(r *Request) { r.TargetURL, r.PKCE = "https://p.example/?code_challenge=a", true },
		"Checkout is only allowed for kind payment": func(r *Request) {
			r.TargetURL = ""
			r.Target = func(context.Context, TargetArguments) (Target, error) { return Target{"https://p.example", "cs"}, nil }
		},
		"About": func(r *Request) { r.About = map[string]any{"a": func() {}} },
	} {
		request := Request{Provider: "github", Kind: OAuth, Owner: Owner{Subject: "u"}, TargetURL: "https://p.example/authorize"}
		change(&request)
		_, err := m.Create(context.Background(), request)
		refused(t, argument, err, argument)
	}
}

func TestOtherArgumentsAreChecked(t *testing.T) {
	m, ctx, me, id := offline(t), context.Background(), Owner{Subject: "u"}, newID()
	_, err := m.Wait(ctx, "x", me)
	refused(t, "Wait", err, "UUID")
	_, err = m.Wait(ctx, id, Owner{})
	refused(t, "Wait", err, "Subject")
	_, err = m.Complete(ctx, id, me, Answer{Action: "maybe"})
	refused(t, "Complete", err, "Action")
	_, err = m.Complete(ctx, id, me, Answer{Action: Accept, Reason: "Not a code"})
	refused(t, "Complete", err, "Reason")
	_, err = m.Complete(ctx, id, me, Answer{Action: Accept, Result: map[string]any{"a": strings.Repeat("x", resultMax)}})
	refused(t, "Complete", err, "Result")
	_, err = m.Complete(ctx, id, me, Answer{Action: Accept, Result: map[string]any{"a": func() {}}})
	refused(t, "Complete", err, "Result")
	_, err = m.Complete(ctx, id, me, Answer{Action: Accept, Amount: 5, Currency: "X"})
	refused(t, "Complete", err, "currency")
	_, err = m.Abandon(ctx, id, me, Accept, "")
	refused(t, "Abandon", err, "Action")
	_, err = m.Claim(ctx, id, me, ClaimOptions{Reference: strings.Repeat("x", 801)})
	refused(t, "Claim", err, "Reference")
	_, err = m.BeginClaim(ctx, id, me, LeaseOptions{Lease: time.Millisecond})
	refused(t, "BeginClaim", err, "Lease")
	_, err = m.Unclaimed(ctx, ListOptions{Provider: "A"})
	refused(t, "Unclaimed", err, "Provider")
	_, err = m.Purge(ctx, PurgeOptions{Kind: "all"})
	refused(t, "Purge", err, "Kind")
	_, err = m.Purge(ctx, PurgeOptions{OlderThan: time.Hour})
	refused(t, "Purge", err, "OlderThan")
	_, err = m.Ticket("", 0)
	refused(t, "Ticket", err, "Subject")
	_, err = m.Ticket("u", 2*time.Hour)
	refused(t, "Ticket", err, "ttl")
}

func TestTicketCookie(t *testing.T) {
	made, err := offline(t).Ticket("user", 90*time.Second)
	if err != nil || made.Name != seals.TicketCookie ||
		made.Header != seals.TicketCookie+"="+made.Value+"; Path=/; Max-Age=90; Secure; HttpOnly; SameSite=Lax" {
		t.Fatalf("%v, %v", made, err)
	}
}

func TestPKCE(t *testing.T) {
	target, made, err := addPKCE("https://p.example/a?scope=x+openid&b=%2f")
	if err != nil || len(made.CodeVerifier) != 43 || len(made.Nonce) != 22 ||
		target != "https://p.example/a?scope=x+openid&b=%2f&code_challenge="+digest256(made.CodeVerifier)+"&code_challenge_method=S256&nonce="+made.Nonce {
		t.Fatalf("%s, %v", target, err)
	}
	for _, url := range []string{"https://p.example/a", "https://p.example/a?"} {
		target, made, _ := addPKCE(url)
		if target != "https://p.example/a?code_challenge="+digest256(made.CodeVerifier)+"&code_challenge_method=S256" || made.Nonce != "" {
			t.Errorf("%s becomes %s", url, target)
		}
	}
}

func TestClosedInstance(t *testing.T) {
	m, ctx, me := offline(t), context.Background(), Owner{Subject: "u"}
	m.Close()
	m.Close()
	if _, err := m.Wait(ctx, newID(), me); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait: %v", err)
	}
	if _, err := m.Cancel(ctx, newID(), me, ""); !errors.Is(err, ErrClosed) {
		t.Errorf("Cancel: %v", err)
	}
	for range m.LatePayments(ctx) {
		t.Error("a late payment")
	}
}

func TestContextThatHasEnded(t *testing.T) {
	m, me := offline(t), Owner{Subject: "u"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Wait(ctx, newID(), me); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	if _, err := m.Cancel(ctx, newID(), me, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Cancel: %v", err)
	}
	if _, err := New(ctx, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("New: %v", err)
	}
	// A database that cannot be reached delays a wait, and its deadline ends it.
	ctx, cancel = context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := m.Wait(ctx, newID(), me)
	var own *Error
	if !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &own) || own.Status != Pending {
		t.Errorf("Wait: %v", err)
	}
	if m.OpenWaits() != 0 {
		t.Errorf("%d waits are open", m.OpenWaits())
	}
	if _, err := m.WaitWith(context.Background(), newID(), me, WaitOptions{Once: true}); err == nil || errors.Is(err, ErrTimeout) {
		t.Errorf("a look without a database: %v", err)
	}
}

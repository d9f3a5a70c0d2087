// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// endpoint is a provider that the test commands: it rotates refresh tokens, and each is good once. A token is named after its place
// in the family.
type endpoint struct {
	server *httptest.Server

	mu      sync.Mutex
	next    int
	alive   map[string]bool
	codes   []form
	asked   []string // the refresh tokens that have arrived
	revoked []string
	granted map[string]any // members over those of an answer
	instead func(http.ResponseWriter, *http.Request) bool
}

// form is one that has arrived.
type form = map[string]string

func newEndpoint(t testing.TB) *endpoint {
	e := &endpoint{alive: map[string]bool{}, granted: map[string]any{}}
	e.server = httptest.NewServer(e)
	t.Cleanup(func() {
		e.server.CloseClientConnections()
		e.server.Close()
	})
	return e
}

func (e *endpoint) description() description {
	at := e.server.URL
	return description{Authorization: at + "/authorize", Token: at + "/token", Revocation: at + "/revoke", PKCE: "S256", Method: "client_secret_post",
		Account: &accountSource{From: "token_response", ID: "/account"}}
}

// grant is what the user's consent has given.
func (e *endpoint) grant() tokens {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.made()
}

func (e *endpoint) made() tokens {
	e.next++
	access, refresh := fmt.Sprintf("access-%d", e.next), fmt.Sprintf("refresh-%d", e.next)
	e.alive[access], e.alive[refresh] = true, true
	return tokens{"access_token": access, "token_type": "bearer", "expires_in": 3600, "refresh_token": refresh, "scope": "read write", "account": "acme"}
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	sent := form{}
	for name := range r.PostForm {
		sent[name] = r.PostForm.Get(name)
	}
	e.mu.Lock()
	if r.URL.Path == "/revoke" {
		e.revoked = append(e.revoked, sent["token"])
		delete(e.alive, sent["token"])
		e.mu.Unlock()
		return
	}
	token, isRefresh := sent["refresh_token"]
	if isRefresh {
		e.asked = append(e.asked, token)
	} else if sent["code"] != "" {
		e.codes = append(e.codes, sent)
	}
	instead := e.instead
	e.mu.Unlock()
	if instead != nil && instead(w, r) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if isRefresh && !e.alive[token] {
		respond(w, 400, `{"error":"invalid_grant"}`)
		return
	}
	made := e.made()
	if isRefresh {
		delete(made, "account")
		delete(e.alive, token)
	}
	for name, value := range e.granted {
		if made[name] = value; value == nil {
			delete(made, name)
		}
	}
	text, _ := json.Marshal(made)
	respond(w, 200, string(text))
}

func respond(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// answers has each request answered in this way, until it is nil.
func (e *endpoint) answers(instead func(http.ResponseWriter, *http.Request) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.instead = instead
}

func (e *endpoint) always(status int, text string) {
	e.answers(func(w http.ResponseWriter, _ *http.Request) bool {
		respond(w, status, text)
		return true
	})
}

func (e *endpoint) refreshes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// bed is a user with a vault.
type bed struct {
	t         *testing.T
	endpoint  *endpoint
	described description
	keys      string
	me        urlmode.Owner
	instance  *urlmode.Instance
	vault     *Vault
	client    *http.Client

	mu     sync.Mutex
	events []Event
}

func keyLine(kid int) string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return fmt.Sprintf("%d %s\n", kid, base64.StdEncoding.EncodeToString(secret))
}

const demo = "demo"

func newBed(t *testing.T, change ...func(*bed)) *bed {
	t.Helper()
	b := &bed{t: t, endpoint: newEndpoint(t), keys: keyLine(7), me: adaptertest.Someone()}
	b.described = b.endpoint.description()
	for _, each := range change {
		each(b)
	}
	b.instance, b.vault = b.open(b.keys)
	return b
}

// open opens another instance.
func (b *bed) open(keys string) (*urlmode.Instance, *Vault) {
	b.t.Helper()
	instance := adaptertest.Open(b.t)
	given := Client{ID: "a", Secret: "secret-of-the-client"}
	if b.described.SignedSecret != nil || b.described.Method == "private_key_jwt" {
		given = Client{ID: "a", PrivateKey: newKey(b.t), KeyID: "k"}
	}
	made, err := newVault(instance, Config{Keys: keys, OnEvent: b.hear, HTTPClient: b.client, Providers: map[string]Provider{
		demo: {Client: given, Scopes: []string{"read"}}}}, map[string]description{demo: b.described})
	if err != nil {
		b.t.Fatal(err)
	}
	return instance, made
}

func (b *bed) hear(event Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, event)
}

// heard are the names of the events, with what they say.
func (b *bed) heard() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var said []string
	for _, each := range b.events {
		said = append(said, strings.TrimSpace(string(each.Name)+" "+each.Reason+each.Detail))
	}
	return strings.Join(said, ", ")
}

func (b *bed) store(change ...tokens) {
	b.t.Helper()
	made := b.endpoint.grant()
	for _, members := range change {
		for name, value := range members {
			if made[name] = value; value == nil {
				delete(made, name)
			}
		}
	}
	if _, err := b.vault.Store(b.t.Context(), b.me.Subject, demo, Connected{Tokens: made, Account: "acme", Scopes: []string{"read", "write"},
		Requested: []string{"read"}}); err != nil {
		b.t.Fatal(err)
	}
}

// change changes the row of the account.
func (b *bed) change(assignments string) {
	b.t.Helper()
	if _, err := adaptertest.AsOperator(b.t).Exec(context.Background(), "UPDATE urlmode.account SET "+assignments+" WHERE subject = $1", b.me.Subject); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) expire() { b.change("expires_at = now(), refreshed_at = now() - interval '1 hour'") }

// column reads one of the row of the account.
func (b *bed) column(name string) (value string) {
	b.t.Helper()
	if err := adaptertest.AsOperator(b.t).QueryRow(context.Background(), "SELECT "+name+"::text FROM urlmode.account WHERE subject = $1", b.me.Subject).Scan(&value); err != nil {
		b.t.Fatal(err)
	}
	return value
}

// token is that of a call, or its error.
func (b *bed) token(of ...*Vault) string {
	return b.tokenFor(b.t.Context(), 0, of...)
}

func (b *bed) tokenFor(ctx context.Context, validFor time.Duration, of ...*Vault) string {
	used := b.vault
	if len(of) > 0 {
		used = of[0]
	}
	made, err := used.AccessToken(ctx, urlmode.AccountRequest{Subject: b.me.Subject, Provider: demo, ValidFor: validFor})
	if err != nil {
		return err.Error()
	}
	return made.Token
}

func (b *bed) is(what, got, wanted string) {
	b.t.Helper()
	if got != wanted {
		b.t.Fatalf("%s is %q, and not %q", what, got, wanted)
	}
}

// comeBack is what the callback programs do when the user comes back.
func (b *bed) comeBack(id string, result map[string]any) {
	b.t.Helper()
	if done, err := b.instance.Complete(context.Background(), id, b.me, urlmode.Answer{Action: urlmode.Accept, Result: result}); err != nil || !done {
		b.t.Fatalf("the user does not come back: %v", err)
	}
}

// connect connects an account, and returns it or the error.
func (b *bed) connect(result map[string]any, change ...func(*urlmode.ConnectRequest)) string {
	b.t.Helper()
	request := urlmode.ConnectRequest{Provider: demo, Owner: b.me}
	for _, each := range change {
		each(&request)
	}
	asked, err := b.vault.Connect(b.t.Context(), request)
	if err != nil {
		b.t.Fatal(err)
	}
	b.comeBack(asked.ElicitationID, result)
	account, err := asked.Wait(b.t.Context())
	if err != nil {
		return err.Error()
	}
	return account
}

func (b *bed) names() string {
	listed, err := b.vault.Accounts(b.t.Context(), b.me.Subject, "")
	if err != nil {
		b.t.Fatal(err)
	}
	var names []string
	for _, each := range listed {
		names = append(names, each.Account+" "+string(each.State))
	}
	return strings.Join(names, ", ")
}

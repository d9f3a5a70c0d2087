// SPDX-License-Identifier: MIT

package app

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

	gomcp "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
	urlmcp "urlmode.example/urlmode/mcp"
	"urlmode.example/urlmode/mcpgo"
	"urlmode.example/urlmode/vault"
)

// bank is an OpenID provider without id tokens: a client that asks for no openid gets none.
type bank struct {
	*httptest.Server

	mu      sync.Mutex
	granted int
	scope   string
	refuses bool
	codes   []string
	// good are the tokens that its API takes: all if it is nil.
	good  []string
	given []string
}

// use is a request to its API.
func (b *bank) use(token urlmode.AccessToken) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given = append(b.given, token.Token)
	if b.good != nil && !slices.Contains(b.good, token.Token) {
		return "", fmt.Errorf("status 401: %w", urlmode.ErrTokenRefused)
	}
	return token.Token + " of " + token.Account, nil
}

func newBank(t *testing.T) *bank {
	b := &bank{scope: "read"}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			json.NewEncoder(w).Encode(map[string]string{"issuer": b.URL, "authorization_endpoint": b.URL + "/authorize", "token_endpoint": b.URL + "/token",
				"jwks_uri": b.URL + "/jwks"})
			return
		}
		if code := r.PostFormValue("code"); code != "" {
			b.codes = append(b.codes, code)
		} else if b.refuses {
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		b.granted++
		fmt.Fprintf(w, `{"access_token":"access-%d","refresh_token":"refresh-%d","token_type":"bearer","expires_in":3600,"scope":%q}`, b.granted, b.granted, b.scope)
	}))
	t.Cleanup(b.Close)
	return b
}

// user has a server in one process, and connects what is asked for unless it is away.
type user struct {
	t       *testing.T
	me      urlmode.Owner
	with    *urlmode.Instance
	vault   *vault.Vault
	bank    *bank
	request func() urlmcp.AccountToolRequest
	result  map[string]any

	mu     sync.Mutex
	isAway bool
	asked  []string
}

func newUser(t *testing.T, b *bank) *user {
	secret := make([]byte, 32)
	rand.Read(secret)
	u := &user{t: t, bank: b, me: adaptertest.Someone(), with: adaptertest.Open(t), result: map[string]any{"code": "a-code"}}
	var err error
	u.vault, err = vault.New(u.with, vault.Config{Keys: "7 " + base64.StdEncoding.EncodeToString(secret), Providers: map[string]vault.Provider{
		"demo": {Client: vault.Client{ID: "a", Secret: "b"}, Description: "openid-connect", Scopes: []string{"read"}, Variables: map[string]string{"issuer": b.URL}}}})
	if err != nil {
		t.Fatal(err)
	}
	u.request = func() urlmcp.AccountToolRequest {
		return urlmcp.AccountToolRequest{Vault: u.vault, Message: "Connect your account.", ConnectRequest: urlmode.ConnectRequest{Provider: "demo", Owner: u.me}}
	}
	return u
}

func (u *user) answer(id string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, id)
	if u.isAway {
		return "decline"
	}
	if done, err := u.with.Complete(context.Background(), id, u.me, urlmode.Answer{Action: urlmode.Accept, Result: u.result}); err != nil || !done {
		u.t.Errorf("the user does not come back: %v", err)
	}
	return "accept"
}

// serve has a tool that uses the account.
func (u *user) serve() (*mcp.Server, *urlmcp.Tools) {
	tools := urlmcp.New(u.with, urlmcp.Options{})
	serves := mcp.NewServer(&mcp.Implementation{Name: "tests", Version: "1"}, nil)
	mcp.AddTool(serves, &mcp.Tool{Name: "use"}, func(ctx context.Context, call *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		result, err := tools.UseAccount(ctx, call, u.request(), func(_ context.Context, token urlmode.AccessToken) (*mcp.CallToolResult, error) {
			text, err := u.bank.use(token)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, err
		})
		return result, nil, err
	})
	return serves, tools
}

// connect connects a client of the official SDK.
func (u *user) connect(serves *mcp.Server, client *mcp.Client) *mcp.ClientSession {
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := serves.Connect(u.t.Context(), ours, nil); err != nil {
		u.t.Fatal(err)
	}
	session, err := client.Connect(u.t.Context(), theirs, nil)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { session.Close() })
	return session
}

// throughSDK calls a tool that uses the account, over the official SDK's own client.
func (u *user) throughSDK() func() string {
	serves, _ := u.serve()
	client := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: u.answer(idOf(u, r.Params.ElicitationID))}, nil
		}})
	session := u.connect(serves, client)
	return func() string {
		result, err := session.CallTool(u.t.Context(), &mcp.CallToolParams{Name: "use"})
		if err != nil {
			return err.Error()
		}
		return result.Content[0].(*mcp.TextContent).Text
	}
}

// idOf finds the id: a request of the newest revision does not name the elicitation.
func idOf(u *user, id string) string {
	if id != "" {
		return id
	}
	if err := adaptertest.AsOperator(u.t).QueryRow(context.Background(), "SELECT id::text FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1",
		u.me.Subject).Scan(&id); err != nil {
		u.t.Error(err)
	}
	return id
}

// throughMCPGo has no client: a call without a session gets the link as text, and the user follows it before the next call.
func (u *user) throughMCPGo() func() string {
	tools := mcpgo.New(u.with, mcpgo.Options{})
	serves := server.NewMCPServer("tests", "1")
	ctx := serves.WithContext(u.t.Context(), nil)
	return func() string {
		ask := func() string {
			result, err := tools.UseAccount(ctx, gomcp.CallToolRequest{}, u.request(), func(_ context.Context, token urlmode.AccessToken) (*gomcp.CallToolResult, error) {
				text, err := u.bank.use(token)
				return gomcp.NewToolResultText(text), err
			})
			if err != nil {
				return err.Error()
			}
			return result.Content[0].(gomcp.TextContent).Text
		}
		said := ask()
		if !strings.Contains(said, "/connect/demo?state=") {
			return said
		}
		if u.answer(idOf(u, "")) == "decline" {
			return said
		}
		return ask()
	}
}

var throughAll = map[string]func(*user) func() string{"mcp": (*user).throughSDK, "mcp, as a task": (*user).throughTask, "mcpgo": (*user).throughMCPGo}

// The user connects once, and is asked again only where that is necessary.
func TestUseAccount(t *testing.T) {
	for of, through := range throughAll {
		t.Run(of, func(t *testing.T) {
			b := newBank(t)
			u := newUser(t, b)
			use := through(u)
			is := func(wanted string, asked int) {
				t.Helper()
				if got := use(); !strings.Contains(got, wanted) || len(u.asked) != asked {
					t.Fatalf("it is %q after %d requests, and not %q after %d", got, len(u.asked), wanted, asked)
				}
			}
			is("access-1 of default", 1)
			is("access-1 of default", 1)
			expire(t, u)
			is("access-2 of default", 1)
			b.refuses = true
			expire(t, u)
			is("access-3 of default", 2)
			plain := u.request
			u.request = func() urlmcp.AccountToolRequest {
				request := plain()
				request.RequiredScopes = []string{"admin"}
				return request
			}
			is("Not done: not everything was granted that is needed (admin).", 3)
			b.scope = "read admin"
			is("access-5 of default", 4)
			if listed, err := u.vault.Accounts(t.Context(), u.me.Subject, "demo"); err != nil || len(listed) != 1 || strings.Join(listed[0].Requested, " ") != "read admin" {
				t.Errorf("%+v, %v", listed, err)
			}
			u.request = func() urlmcp.AccountToolRequest {
				request := plain()
				request.Account = "other"
				return request
			}
			is("Not done: another account was connected than the one that is needed.", 5)
			if got := strings.Join(b.codes, " "); got != "a-code a-code a-code a-code a-code" {
				t.Errorf("the codes are %s", got)
			}
		})
	}
}

// A body that says that the API refuses its token runs once more with another, and then the user is asked.
func TestRefusedToken(t *testing.T) {
	for of, through := range throughAll {
		t.Run(of, func(t *testing.T) {
			b := newBank(t)
			u := newUser(t, b)
			use := through(u)
			use()
			is := func(wanted string, asked int, good ...string) {
				t.Helper()
				b.good = append([]string{}, good...)
				if got := use(); !strings.Contains(got, wanted) || len(u.asked) != asked {
					t.Fatalf("it is %q after %d requests, and not %q after %d", got, len(u.asked), wanted, asked)
				}
			}
			is("access-2 of default", 1, "access-2")
			is("access-3 of default", 2, "access-3")
			is("must be connected again: refused", 3)
			if last := b.given[len(b.given)-1]; last != "access-6" {
				t.Errorf("%v", b.given)
			}
		})
	}
}

// lateVault has no account when it is asked first.
type lateVault struct {
	*vault.Vault
	looks int
}

func (v *lateVault) AccessToken(ctx context.Context, request urlmode.AccountRequest) (urlmode.AccessToken, error) {
	if v.looks++; v.looks == 1 {
		return urlmode.AccessToken{}, urlmode.ErrAccountNotConnected
	}
	return v.Vault.AccessToken(ctx, request)
}

// A call that looked for the account just before another one connected it asks nobody.
func TestConnectedMeanwhile(t *testing.T) {
	b := newBank(t)
	u := newUser(t, b)
	u.throughMCPGo()()
	connected, plain := idOf(u, ""), u.request
	late := &lateVault{Vault: u.vault}
	u.request = func() urlmcp.AccountToolRequest {
		request := plain()
		request.Vault = late
		return request
	}
	if got := u.throughMCPGo()(); got != "access-1 of default" || late.looks != 2 || len(u.asked) != 1 || idOf(u, "") != connected {
		t.Errorf("it is %q after %d looks, %d requests", got, late.looks, len(u.asked))
	}
}

// Calls at once ask once, exchange one code, and each uses the account.
func TestCallsShareAnExchange(t *testing.T) {
	b := newBank(t)
	u := newUser(t, b)
	use := u.throughMCPGo()
	if got := use(); got != "access-1 of default" {
		t.Fatal(got)
	}
	if _, err := u.vault.Disconnect(t.Context(), u.me.Subject, "demo", ""); err != nil {
		t.Fatal(err)
	}
	ctx, tools := server.NewMCPServer("tests", "1").WithContext(t.Context(), nil), mcpgo.New(u.with, mcpgo.Options{})
	ask := func() string {
		result, err := tools.UseAccount(ctx, gomcp.CallToolRequest{}, u.request(), func(_ context.Context, token urlmode.AccessToken) (*gomcp.CallToolResult, error) {
			return gomcp.NewToolResultText(token.Token), nil
		})
		if err != nil {
			return err.Error()
		}
		return result.Content[0].(gomcp.TextContent).Text
	}
	if got := ask(); !strings.Contains(got, "/connect/demo") {
		t.Fatal(got)
	}
	u.answer(idOf(u, ""))
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if got := ask(); got != "access-2" {
				t.Errorf("it is %q", got)
			}
		})
	}
	group.Wait()
	if len(b.codes) != 2 {
		t.Errorf("the codes are %v", b.codes)
	}
}

func expire(t *testing.T, u *user) {
	t.Helper()
	if _, err := adaptertest.AsOperator(t).Exec(t.Context(), "UPDATE urlmode.account SET expires_at = now(), refreshed_at = now() - interval '1 hour' WHERE subject = $1",
		u.me.Subject); err != nil {
		t.Fatal(err)
	}
}

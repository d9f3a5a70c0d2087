// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	"urlmode.example/urlmode/internal/adaptertest"
	urlmcp "urlmode.example/urlmode/mcp"
	"urlmode.example/urlmode/vault"
)

// behind is a server that knows nothing of payments and accounts: write_text asks its user for a title, and read_mail reads the mail of
// the account whose token it is given.
func behind(t *testing.T) string {
	server := mcp.NewServer(&mcp.Implementation{Name: "behind", Version: "1"}, nil)
	type about struct {
		About string `json:"about"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "write_text"}, func(_ context.Context, call *mcp.CallToolRequest, wanted about) (*mcp.CallToolResult, any, error) {
		if call.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "about " + wanted.About, InputRequests: mcp.InputRequestMap{"title": &mcp.ElicitParams{
				Message: "Which title?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"title": map[string]any{"type": "string"}}},
			}}}, nil, nil
		}
		title := call.Params.InputResponses["title"].(*mcp.ElicitResult).Content["title"]
		return said(fmt.Sprintf("%s, %s", title, call.Params.RequestState)), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "read_mail"}, func(_ context.Context, call *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return said("The mail of " + strings.TrimPrefix(call.Extra.Header.Get("Authorization"), "Bearer ")), nil, nil
	})
	listening := httptest.NewServer(app.BothRevisions(server))
	t.Cleanup(listening.Close)
	return listening.URL
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// accounts is a vault of accounts at a provider of its own.
func accounts(t *testing.T, instance *urlmode.Instance) *vault.Vault {
	provider := httptest.NewServer(nil)
	t.Cleanup(provider.Close)
	provider.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			json.NewEncoder(w).Encode(map[string]string{"issuer": provider.URL, "authorization_endpoint": provider.URL + "/authorize",
				"token_endpoint": provider.URL + "/token", "jwks_uri": provider.URL + "/jwks"})
			return
		}
		fmt.Fprint(w, `{"access_token":"ada","refresh_token":"r","token_type":"bearer","expires_in":3600,"scope":"read"}`)
	})
	secret := make([]byte, 32)
	rand.Read(secret)
	opened, err := vault.New(instance, vault.Config{Keys: "7 " + base64.StdEncoding.EncodeToString(secret), Providers: map[string]vault.Provider{
		"demo": {Client: vault.Client{ID: "a", Secret: "b"}, Description: "openid-connect", Scopes: []string{"read"}, Variables: map[string]string{"issuer": provider.URL}}}})
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// The user of the gateway pays and is asked by the server behind, in one call; connects an account once; and pays nothing for a second time.
func TestGateway(t *testing.T) {
	instance, me, asked := adaptertest.Open(t), adaptertest.Someone(), []string{}
	g := &gateway{tools: urlmcp.New(instance, urlmcp.Options{}), vault: accounts(t, instance), behind: behind(t), terms: map[string]terms{
		"write_text": {Amount: 100, Currency: "EUR"}, "read_mail": {Account: "demo"},
	}}
	handler, err := g.serve(map[string]string{"token": me.Subject})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	user := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}, Form: &mcp.FormElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			switch {
			case strings.HasPrefix(r.Params.Message, "Connect"):
				adaptertest.Complete(t, instance, me, urlmode.Answer{Action: urlmode.Accept, Result: map[string]any{"code": "a-code"}})
			case r.Params.Mode == "url":
				adaptertest.PayFor(t, instance, me)
			default:
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"title": "A poem"}}, nil
			}
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
	session, err := user.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: listening.URL, HTTPClient: &http.Client{Transport: bearer("token")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, row := range []struct{ tool, about, says, asks string }{
		{"write_text", "rain", "A poem, about rain", "A call of write_text costs 1.00 EUR. Which title?"},
		{"read_mail", "", "The mail of ada", "Connect your account at demo."},
		{"read_mail", "", "The mail of ada", ""},
		{"write_text", "snow", "A poem, about snow", "A call of write_text costs 1.00 EUR. Which title?"},
	} {
		asked = nil
		params := &mcp.CallToolParams{Name: row.tool}
		if row.about != "" {
			params.Arguments = map[string]any{"about": row.about}
		}
		result, err := session.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].(*mcp.TextContent).Text; text != row.says || strings.Join(asked, " ") != row.asks {
			t.Fatalf("%q after %q", text, asked)
		}
	}
}

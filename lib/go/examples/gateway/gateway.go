// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
	"urlmode.example/urlmode/examples/app"
	urlmcp "urlmode.example/urlmode/mcp"
)

// terms are those on which users may call a tool of the server behind the gateway: what a call costs, or an account at a provider, whose
// token the server is given. A tool without terms is served as it is.
type terms struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Account  string `json:"account"`
}

// gateway serves the tools of a server that can neither sell them nor connect accounts.
type gateway struct {
	tools  *urlmcp.Tools
	vault  adapter.Accounts // nil: no tool needs an account
	behind string           // the URL of the server
	terms  map[string]terms
}

// newServer has the tools that the server behind has now.
func (g *gateway) newServer(ctx context.Context) (*mcp.Server, error) {
	session, err := g.connect(ctx, nil, "")
	if err != nil {
		return nil, err
	}
	defer session.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "gateway", Version: "1.0.0"}, nil)
	server.AddReceivingMiddleware(urlmcp.Middleware)
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		server.AddTool(tool, g.handler(g.terms[tool.Name]))
	}
	return server, nil
}

func (g *gateway) handler(on terms) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		switch {
		case on.Amount > 0:
			return g.tools.ElicitURL(ctx, call, sale(call, on), func(ctx context.Context, _ urlmcp.Accepted) (*mcp.CallToolResult, error) {
				return g.forward(ctx, call, "")
			})
		case on.Account != "":
			request := urlmcp.AccountToolRequest{Vault: g.vault, Message: "Connect your account at " + on.Account + ".",
				ConnectRequest: urlmode.ConnectRequest{Provider: on.Account, Owner: owner(call)}}
			return g.tools.UseAccount(ctx, call, request, func(ctx context.Context, token urlmode.AccessToken) (*mcp.CallToolResult, error) {
				return g.forward(ctx, call, token.Token)
			})
		}
		return g.forward(ctx, call, "")
	}
}

// sale asks for the price of a call. The same call again goes on with the same payment, because its item is the tool with these arguments.
func sale(call *mcp.CallToolRequest, on terms) urlmcp.ToolRequest {
	sum := sha256.Sum256(call.Params.Arguments)
	price := urlmode.Expected{Amount: on.Amount, Currency: on.Currency}
	return urlmcp.ToolRequest{
		Message: "A call of " + call.Params.Name + " costs " + price.String() + ".",
		Request: urlmode.Request{Provider: "stripe", Kind: urlmode.Payment, Owner: owner(call),
			Item: call.Params.Name + ":" + hex.EncodeToString(sum[:16]), Expected: price, Target: app.Checkout},
	}
}

// forward passes a call on. What the server behind asks the user for is passed on as it is, and so is what comes back: in a body, the call has
// the requestState and the answers of the server behind, and not those of the adapter.
func (g *gateway) forward(ctx context.Context, call *mcp.CallToolRequest, token string) (*mcp.CallToolResult, error) {
	session, err := g.connect(ctx, capabilities(call), token)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	params := &mcp.CallToolParams{Name: call.Params.Name, RequestState: call.Params.RequestState, InputResponses: call.Params.InputResponses}
	if len(call.Params.Arguments) > 0 {
		params.Arguments = call.Params.Arguments
	}
	return session.CallTool(ctx, params)
}

// connect opens a session. What users may do depends on their token, so that each call has a session of its own.
func (g *gateway) connect(ctx context.Context, may *mcp.ClientCapabilities, token string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "gateway", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: may, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: g.behind, HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
}

// capabilities are those of the client of a call, which answers what the server behind asks for.
func capabilities(call *mcp.CallToolRequest) (may *mcp.ClientCapabilities) {
	if said, ok := call.Params.Meta[mcp.MetaKeyClientCapabilities]; ok {
		if text, err := json.Marshal(said); err == nil {
			json.Unmarshal(text, &may)
		}
		return may
	}
	if began := call.Session.InitializeParams(); began != nil {
		may = began.Capabilities
	}
	return may
}

// bearer is the token of the user's account, which neither the client nor the model sees.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func owner(call *mcp.CallToolRequest) urlmode.Owner {
	return urlmode.Owner{Subject: urlmcp.SubjectOf(call)}
}

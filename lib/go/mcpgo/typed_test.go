// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/internal/adaptertest"
)

type report struct {
	Report string `json:"report"`
	Pages  int    `json:"pages" jsonschema:"the number of pages"`
}

type order struct {
	Pages int `json:"pages"`
}

// shop has the tools "buy", by our AddTool, and "plain", by the server's. Both return a report.
type shop struct {
	*payer
	url  string
	runs atomic.Int32
}

func newShop(t *testing.T) *shop {
	s := &shop{payer: &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}}
	tools, hooks := New(adaptertest.Open(t), Options{}), &server.Hooks{}
	tools.AddHooks(hooks)
	srv := server.NewMCPServer("tests", "1", server.WithHooks(hooks), server.WithElicitation(), server.WithOutputSchemaValidation())
	ask := func(ctx context.Context, call sdk.CallToolRequest, wanted order) (*sdk.CallToolResult, error) {
		payment := ToolRequest{Message: "Pay.", Request: adaptertest.Payment(s.me, call.Params.Name)}
		return tools.ElicitURL(ctx, call, payment, Typed(func(context.Context, Accepted) (report, error) {
			s.runs.Add(1)
			return report{"Forty-two.", wanted.Pages}, nil
		}))
	}
	AddTool[order, report](srv, sdk.NewTool("buy"), ask)
	AddTool[order, map[string]any](srv, sdk.NewTool("anything"), ask)
	pagesFrom1 := json.RawMessage(`{"type":"object","properties":{"report":{"type":"string"},"pages":{"type":"integer","minimum":1}}}`)
	strict := sdk.NewTool("plain")
	strict.RawOutputSchema = pagesFrom1
	srv.AddTool(strict, sdk.NewTypedToolHandler(ask))
	listening := httptest.NewServer(server.NewStreamableHTTPServer(srv))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	s.url = listening.URL + "/mcp"
	return s
}

// session is that of a client that can send its user to a URL, if it is told who that is.
func (s *shop) session(asks bool) *client.Client {
	s.t.Helper()
	connection, err := transport.NewStreamableHTTP(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	var options []client.ClientOption
	var begin sdk.InitializeRequest
	begin.Params.ProtocolVersion = "2025-11-25"
	begin.Params.ClientInfo = sdk.Implementation{Name: "tests", Version: "1"}
	if asks {
		options = append(options, client.WithElicitationHandler(s.payer))
		begin.Params.Capabilities.Elicitation = &sdk.ElicitationCapability{URL: &struct{}{}}
	}
	session := client.NewClient(connection, options...)
	if err := session.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { session.Close() })
	if _, err := session.Initialize(s.t.Context(), begin); err != nil {
		s.t.Fatal(err)
	}
	return session
}

func callFor(s *shop, session *client.Client, name string, pages int) (*sdk.CallToolResult, string, error) {
	var call sdk.CallToolRequest
	call.Params.Name = name
	call.Params.Arguments = order{pages}
	result, err := session.CallTool(s.t.Context(), call)
	if err != nil {
		return nil, "", err
	}
	var said strings.Builder
	for _, each := range result.Content {
		said.WriteString(each.(sdk.TextContent).Text)
	}
	return result, said.String(), nil
}

// The link is the text of an error, which has no data, whoever has added the tool. The schema of a map has room for both.
func TestLinkOfATypedTool(t *testing.T) {
	s := newShop(t)
	session := s.session(false)
	for _, name := range []string{"buy", "plain", "anything"} {
		result, said, err := callFor(s, session, name, 3)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := json.Marshal(result.StructuredContent)
		hasRoom := name == "anything"
		if result.IsError == hasRoom || strings.Contains(string(data), "elicitationId") != hasRoom || !strings.Contains(said, adaptertest.BaseURL+"/connect/stripe?state=") {
			t.Errorf("%s: %q, %s, an error: %t", name, said, data, result.IsError)
		}
	}
}

// The result has its data. One that does not fit is not kept: the next call makes it again, for the same payment.
func TestTypedResults(t *testing.T) {
	s := newShop(t)
	session := s.session(true)
	if result, said, err := callFor(s, session, "plain", 0); err == nil || !strings.Contains(err.Error(), "does not fit its output schema") {
		t.Fatalf("%q, %v, %v", said, result, err)
	}
	for _, name := range []string{"plain", "buy"} {
		result, said, err := callFor(s, session, name, 3)
		if err != nil {
			t.Fatal(err)
		}
		if data, _ := json.Marshal(result.StructuredContent); result.IsError || said != `{"report":"Forty-two.","pages":3}` || !strings.Contains(string(data), `"pages":3`) {
			t.Errorf("%s: %q, %s, an error: %t", name, said, data, result.IsError)
		}
	}
	if s.asked.Load() != 2 || s.runs.Load() != 3 {
		t.Errorf("%d requests, %d runs", s.asked.Load(), s.runs.Load())
	}
	call := sdk.CallToolRequest{Params: sdk.CallToolParams{Name: "buy", Arguments: map[string]any{"pages": "three"}}}
	if result, err := session.CallTool(t.Context(), call); err != nil || !result.IsError {
		t.Errorf("%v, %v", result, err)
	}
}

// Without schemas there is no tool.
func TestTypeWithoutASchema(t *testing.T) {
	srv := server.NewMCPServer("tests", "1")
	broken := sdk.NewTool("buy")
	broken.RawOutputSchema = json.RawMessage(`{"type":1}`)
	for _, add := range []func(){
		func() { AddTool[any, []string](srv, sdk.NewTool("buy"), nil) },
		func() { AddTool[any, func()](srv, sdk.NewTool("buy"), nil) },
		func() { AddTool[any, any](srv, broken, nil) },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, `tool "buy": `) {
					t.Errorf("%q", said)
				}
			}()
			add()
			t.Error("it was added")
		}()
	}
}

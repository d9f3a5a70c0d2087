// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

func toolRequest(me urlmode.Owner) ToolRequest {
	return ToolRequest{Message: "Pay.", Request: adaptertest.Payment(me, "one")}
}

// serve has a tool "buy", and what an adapter needs.
func serve(t *testing.T, tools *Tools, run server.ToolHandlerFunc) string {
	t.Helper()
	return serveBy(t, tools, run, func(sdk http.Handler) http.Handler { return sdk })
}

func serveBy(t *testing.T, tools *Tools, run server.ToolHandlerFunc, around func(http.Handler) http.Handler) string {
	t.Helper()
	hooks := &server.Hooks{}
	tools.AddHooks(hooks)
	srv := server.NewMCPServer("tests", "1", server.WithHooks(hooks), server.WithElicitation())
	srv.AddTool(sdk.NewTool("buy"), run)
	listening := httptest.NewServer(Handler(around(server.NewStreamableHTTPServer(srv))))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	return listening.URL + "/mcp"
}

// payer is a client whose user pays for whatever is asked, by another instance.
type payer struct {
	t        *testing.T
	me       urlmode.Owner
	instance *urlmode.Instance
	asked    atomic.Int32
	id       atomic.Value
	answer   func(id string) // instead of paying
}

func (p *payer) Elicit(_ context.Context, r sdk.ElicitationRequest) (*sdk.ElicitationResult, error) {
	p.asked.Add(1)
	if r.Params.Mode != sdk.ElicitationModeURL || !strings.HasPrefix(r.Params.URL, adaptertest.BaseURL+"/connect/") {
		p.t.Errorf("it is asked for %+v", r.Params)
	}
	if p.answer != nil {
		p.answer(r.Params.ElicitationID)
	} else if id := r.Params.ElicitationID; id != "" {
		p.id.Store(id)
		adaptertest.Pay(p.t, p.instance, p.me, id)
	}
	return &sdk.ElicitationResult{ElicitationResponse: sdk.ElicitationResponse{Action: sdk.ElicitationResponseActionAccept}}, nil
}

func buy(t *testing.T, p *payer, url, revision string) string {
	t.Helper()
	return buyAs(t, p, &sdk.ElicitationCapability{URL: &struct{}{}}, url, revision)
}

// buyAs calls the tool as a client that has this handler and declares this.
func buyAs(t *testing.T, handler client.ElicitationHandler, declared *sdk.ElicitationCapability, url, revision string,
	options ...transport.StreamableHTTPCOption) string {
	t.Helper()
	connection, err := transport.NewStreamableHTTP(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	session := client.NewClient(connection, client.WithElicitationHandler(handler))
	if err := session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var begin sdk.InitializeRequest
	begin.Params.ProtocolVersion = revision
	begin.Params.ClientInfo = sdk.Implementation{Name: "tests", Version: "1"}
	begin.Params.Capabilities.Elicitation = declared
	if begun, err := session.Initialize(t.Context(), begin); err != nil || begun.ProtocolVersion != revision {
		t.Fatal(begun, err)
	}
	var call sdk.CallToolRequest
	call.Params.Name = "buy"
	result, err := session.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, each := range result.Content {
		said.WriteString(each.(sdk.TextContent).Text)
	}
	return said.String()
}

// mcp-go's own client, in both revisions of the protocol. The claim is confirmed as the tool returns.
func TestOwnClient(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		m := adaptertest.Open(t)
		p := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}
		tools, hasState := New(m, Options{}), false
		url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if state := call.Params.RequestState; state != "" {
				retry, err := m.OpenRequestState(state, toolRequest(p.me).Request)
				if err != nil {
					return nil, err
				}
				hasState = true
				p.id.Store(retry.Elicitation.ElicitationID)
				adaptertest.Pay(t, p.instance, p.me, retry.Elicitation.ElicitationID)
			}
			return tools.ElicitURL(ctx, call, toolRequest(p.me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				return sdk.NewToolResultText("Paid with " + accepted.Reference), nil
			})
		})
		if said := buy(t, p, url, revision); !strings.HasPrefix(said, "Paid with pay_") || p.asked.Load() != 1 || hasState != (revision == "2026-07-28") {
			t.Fatalf("%s: %q after %d requests, with a state: %t", revision, said, p.asked.Load(), hasState)
		}
		adaptertest.UntilConfirmed(t, p.id.Load().(string))
	}
}

// A client that has read its answer from a stream may be gone before the SDK has ended the response.
func TestClientThatLeavesWithItsAnswer(t *testing.T) {
	p := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}
	tools := New(adaptertest.Open(t), Options{})
	url := serveBy(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(p.me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return sdk.NewToolResultText(accepted.Reference), nil
		})
	}, adaptertest.UntilClientIsGone)
	if said := buy(t, p, url, "2025-11-25"); !strings.HasPrefix(said, "pay_") {
		t.Fatal(said)
	}
	adaptertest.UntilConfirmed(t, p.id.Load().(string))
}

// The user types a key, in both revisions of the protocol. What only others can approve is no request to the client.
func TestForms(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		m := adaptertest.Open(t)
		p := &payer{t: t, me: adaptertest.Someone()}
		tools, id := New(m, Options{}), adaptertest.NewID()
		p.answer = func(string) { adaptertest.Type(t, m, p.me, id, "sk-1") }
		url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			typed := ""
			input := InputToolRequest{Message: "Your key.", InputRequest: adaptertest.Key(p.me, id)}
			result, err := tools.CollectInput(ctx, call, input, func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				typed, _ = accepted.Values["api_key"].(string)
				return nil, nil
			})
			if err != nil || typed != "sk-1" {
				return result, err
			}
			return tools.AskApproval(ctx, call, ApprovalToolRequest{Message: "Agree.", ApprovalRequest: adaptertest.Deletion(p.me)}, nil)
		})
		if said := buy(t, p, url, revision); !strings.Contains(said, "The decision is for somebody else") || p.asked.Load() != 1 {
			t.Fatalf("%s: %q after %d requests", revision, said, p.asked.Load())
		}
	}
}

// post sends a call of the tool "buy" as one of a session.
func post(t *testing.T, url, session, meta string) (string, error) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy","_meta":{` + meta + `}}}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Session-Id", session)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	return string(said), err
}

// The trace is that of the call. What a client sends in its place says nothing.
func TestTraceOfTheCall(t *testing.T) {
	const trace = adaptertest.Trace
	tools, traces := New(nil, Options{}), make(chan string, 1)
	url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		traces <- tools.describe(ctx, call).Traceparent
		return sdk.NewToolResultText("done"), nil
	})
	for sent, want := range map[string]string{`"traceparent":"` + trace + `"`: trace, `"traceparent":1`: "", ``: "", `"traceparent":"` + trace + `x"`: ""} {
		if said, err := post(t, url, "mcp-session-00000000-0000-4000-8000-000000000000", sent); err != nil || !strings.Contains(said, "done") {
			t.Fatalf("%s, %v", said, err)
		}
		if got := <-traces; got != want {
			t.Errorf("%s: %q", sent, got)
		}
	}
}

// A client that no longer listens by GET still waits for its call.
func TestClientThatNoLongerListens(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	tools, session := New(m, Options{}), "mcp-session-00000000-0000-4000-8000-000000000001"
	url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return sdk.NewToolResultText("Paid with " + accepted.Reference), nil
		})
	})
	elicitation, err := m.Create(t.Context(), toolRequest(me).Request) // The call goes on with it, and waits.
	if err != nil {
		t.Fatal(err)
	}
	listening, leave := context.WithCancel(t.Context())
	defer leave()
	request, err := http.NewRequestWithContext(listening, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Mcp-Session-Id", session)
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	isRegistered := func() bool {
		tools.mu.Lock()
		defer tools.mu.Unlock()
		_, ok := tools.lives[session]
		return ok
	}
	adaptertest.Until(t, "the session is registered", isRegistered)
	answer := make(chan string, 1)
	go func() {
		said, err := post(t, url, session, "")
		answer <- fmt.Sprint(said, err)
	}()
	adaptertest.Until(t, "the call waits", func() bool { return m.OpenWaits() == 1 })
	leave()
	adaptertest.Until(t, "the session is registered no more", func() bool { return !isRegistered() })
	time.Sleep(50 * time.Millisecond)
	p := &payer{t: t, me: me, instance: m}
	adaptertest.Pay(t, p.instance, p.me, elicitation.ElicitationID)
	if said := <-answer; !strings.Contains(said, "Paid with pay_") {
		t.Fatal(said)
	}
}

// Clients choose the ids of sessions: 2,000 that nobody has registered leave nothing behind, also where a client listens.
func TestStrangersSessions(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	tools := New(m, Options{})
	asked := toolRequest(me)
	asked.Round = time.Millisecond
	url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		// As if this client had declared it: a session that is not registered has no capabilities.
		session := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
		session.SetClientCapabilities(sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapability{URL: &struct{}{}}})
		return tools.ElicitURL(ctx, call, asked, nil)
	})
	call := func(i int) {
		said, err := post(t, url, fmt.Sprintf("mcp-session-00000000-0000-4000-8000-%012d", i), "")
		if err != nil || !strings.Contains(said, "The link works for") {
			t.Errorf("%s, %v", said, err)
		}
	}
	many := func(from, count int) {
		var group sync.WaitGroup
		for part := range 8 {
			group.Go(func() {
				for i := from + part; i < from+count && !t.Failed(); i += 8 {
					call(i)
				}
			})
		}
		group.Wait()
	}
	many(0, 200)
	goroutines := runtime.NumGoroutine()
	many(200, 2_000)
	tools.mu.Lock()
	lives := len(tools.lives)
	tools.mu.Unlock()
	if lives != 0 || tools.adapter.Sessions() != 0 {
		t.Errorf("%d sessions are kept, and the notices of %d", lives, tools.adapter.Sessions())
	}
	adaptertest.Until(t, "the goroutines of the calls end", func() bool { return runtime.NumGoroutine() < goroutines+100 && m.OpenWaits() == 0 })
}

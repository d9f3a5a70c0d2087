// SPDX-License-Identifier: MIT

package mcp

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// resuming is a client of 2025-11-25 over HTTP, of a server with an EventStore, which loses its stream while its user is asked.
type resuming struct {
	*httptest.Server
	close   chan func(sdk.CloseSSEStreamArgs)
	ended   chan error // of the call
	asked   chan string
	fetched chan struct{} // a stream that was resumed
	session *sdk.ClientSession
}

func resume(t *testing.T, tools *Tools, p *payer) *resuming {
	t.Helper()
	c := &resuming{close: make(chan func(sdk.CloseSSEStreamArgs), 8), ended: make(chan error, 8), asked: make(chan string, 8), fetched: make(chan struct{}, 8)}
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c.close <- call.Extra.CloseSSEStream
		result, err := tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return text(accepted.Reference), nil
		})
		c.ended <- err
		return result, err
	})
	server.AddReceivingMiddleware(Middleware)
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
	handler := tools.Handler(inner)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get(eventHeader) != "" {
			c.fetched <- struct{}{}
		}
		handler.ServeHTTP(w, r)
	}))
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			c.asked <- r.Params.ElicitationID
			return &sdk.ElicitResult{Action: "accept"}, nil
		}})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: c.URL, MaxRetries: 20}, &sdk.ClientSessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.session = session
	t.Cleanup(func() {
		session.Close()
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

// A client whose stream is cut fetches the answer by another one: the call goes on, and its answer counts as written only then.
func TestStreamThatIsResumed(t *testing.T) {
	for _, cut := range []string{"by the server", "by the network"} {
		m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
		tools := New(m, Options{})
		c := resume(t, tools, p)
		said := make(chan string, 1)
		go func() {
			result, err := c.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy"})
			if err != nil {
				said <- err.Error()
				return
			}
			said <- result.Content[0].(*sdk.TextContent).Text
		}()
		id := <-c.asked
		if closes := <-c.close; cut == "by the server" {
			closes(sdk.CloseSSEStreamArgs{RetryAfter: time.Millisecond})
		} else {
			c.CloseClientConnections()
		}
		<-c.fetched
		adaptertest.Pay(t, m, p.me, id)
		if got := <-said; !strings.HasPrefix(got, "pay_") {
			t.Fatalf("%s: %q", cut, got)
		}
		adaptertest.UntilConfirmed(t, id)
		adaptertest.Until(t, "the call is forgotten", func() bool {
			tools.mu.Lock()
			defer tools.mu.Unlock()
			return len(tools.connections) == 0
		})
	}
}

// What ends a call whose client does not come back is the end of its session, or its own.
func TestStreamThatIsNotResumed(t *testing.T) {
	m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
	tools := New(m, Options{})
	c := resume(t, tools, p)
	ctx, cancel := context.WithCancel(t.Context())
	go c.session.CallTool(ctx, &sdk.CallToolParams{Name: "buy"})
	<-c.asked
	(<-c.close)(sdk.CloseSSEStreamArgs{RetryAfter: time.Minute})
	request, err := http.NewRequest(http.MethodDelete, c.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(sessionHeader, c.session.ID())
	if answer, err := http.DefaultClient.Do(request); err != nil || answer.StatusCode != http.StatusNoContent {
		t.Fatal(answer, err)
	}
	if err := <-c.ended; !errors.Is(err, urlmode.ErrClientGone) {
		t.Fatalf("the session has ended: %v", err)
	}
	cancel()
	adaptertest.Until(t, "the call is forgotten", func() bool {
		tools.mu.Lock()
		defer tools.mu.Unlock()
		return len(tools.connections) == 0 && len(tools.lives) == 0
	})
}

// A server without sessions has no stream that can be resumed, even with an EventStore: the end of the connection ends the call.
func TestStreamWithoutASession(t *testing.T) {
	m, p, ended := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}, make(chan error, 1)
	tools := New(m, Options{})
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ask := func() (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(context.Context, Accepted) (*sdk.CallToolResult, error) { return text("Paid."), nil })
		}
		if result, err := ask(); err != nil {
			return result, err
		}
		result, err := ask() // which waits for what the first has asked for
		ended <- err
		return result, err
	})
	listening := httptest.NewServer(tools.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, EventStore: sdk.NewMemoryEventStore(nil)})))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, listening.URL,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(answer.Body).ReadString('\n')
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d: %q, %v", answer.StatusCode, line, err)
	}
	adaptertest.Until(t, "the user is asked", func() bool { return adaptertest.RowsOf(t, p.me) == 1 })
	answer.Body.Close()
	if err := <-ended; !errors.Is(err, urlmode.ErrClientGone) {
		t.Fatalf("the client has left: %v", err)
	}
	adaptertest.Until(t, "the call is forgotten", func() bool {
		tools.mu.Lock()
		defer tools.mu.Unlock()
		return len(tools.connections) == 0
	})
}

// SPDX-License-Identifier: MIT

package mcpgo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// resuming is a client of 2025-11-25, of a server with an event store, which says by itself which of its streams it reads.
type resuming struct {
	t       *testing.T
	url     string
	session string
	ended   chan error    // of the call
	cut     chan struct{} // the server knows that the connection of the call has ended
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct{ ElicitationID string }
	Result struct{ Content []struct{ Text string } }
}

func resume(t *testing.T, tools *Tools, me urlmode.Owner) *resuming {
	t.Helper()
	c := &resuming{t: t, ended: make(chan error, 1), cut: make(chan struct{}, 1)}
	hooks := &server.Hooks{}
	tools.AddHooks(hooks)
	srv := server.NewMCPServer("tests", "1", server.WithHooks(hooks), server.WithElicitation())
	srv.AddTool(sdk.NewTool("buy"), func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result, err := tools.ElicitURL(ctx, call, toolRequest(me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return sdk.NewToolResultText(accepted.Reference), nil
		})
		c.ended <- err
		return result, err
	})
	handler := Handler(server.NewStreamableHTTPServer(srv, server.WithEventStore(server.NewInMemoryEventStore())))
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Test-Call") != "" {
			context.AfterFunc(r.Context(), func() { c.cut <- struct{}{} })
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	c.url = listening.URL + "/mcp"
	begun := c.send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"tests","version":"1"}}}`, nil)
	begun.Body.Close()
	c.session = begun.Header.Get(server.HeaderKeySessionID)
	c.send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil).Body.Close()
	return c
}

func (c *resuming) send(ctx context.Context, method, body string, headers map[string]string) *http.Response {
	c.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		request.Header.Set(server.HeaderKeySessionID, c.session)
		request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// next is the next message of a stream that is wanted, and the id of its event.
func (c *resuming) next(stream *bufio.Scanner, isWanted func(message) bool) (id string, found message) {
	c.t.Helper()
	for stream.Scan() {
		if value, ok := strings.CutPrefix(stream.Text(), "id: "); ok {
			id = value
		} else if data, ok := strings.CutPrefix(stream.Text(), "data: "); ok {
			found = message{}
			if err := json.Unmarshal([]byte(data), &found); err != nil {
				c.t.Fatal(err)
			}
			if isWanted(found) {
				return id, found
			}
		}
	}
	c.t.Fatalf("the stream has ended: %v", stream.Err())
	return "", message{}
}

// begin calls the tool, and ends the connection when the user is asked.
func (c *resuming) begin() (last, elicitation string) {
	c.t.Helper()
	ctx, leave := context.WithCancel(c.t.Context())
	defer leave()
	answer := c.send(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"buy"}}`, map[string]string{"Test-Call": "yes"})
	last, asked := c.next(bufio.NewScanner(answer.Body), func(m message) bool { return m.Method == "elicitation/create" })
	leave()
	<-c.cut
	c.send(c.t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.ID), nil).Body.Close()
	return last, asked.Params.ElicitationID
}

// A client whose stream is cut fetches the answer by another one: the call goes on. Nobody knows whether it was read then, so that the next call is
// given it once more.
func TestStreamThatIsResumed(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	c := resume(t, New(adaptertest.Open(t), Options{}), me)
	last, id := c.begin()
	adaptertest.Pay(t, m, me, id)
	stream := bufio.NewScanner(c.send(t.Context(), http.MethodGet, "", map[string]string{"Last-Event-Id": last}).Body)
	_, answer := c.next(stream, func(m message) bool { return string(m.ID) == "1" && m.Method == "" })
	if said := answer.Result.Content; len(said) != 1 || !strings.HasPrefix(said[0].Text, "pay_") {
		t.Fatalf("%+v", answer)
	}
	if err := <-c.ended; err != nil {
		t.Fatal(err)
	}
}

// What ends a call whose client does not come back is the end of its session.
func TestStreamThatIsNotResumed(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	c := resume(t, New(m, Options{}), me)
	c.begin()
	adaptertest.Until(t, "the call waits", func() bool { return m.OpenWaits() == 1 })
	c.send(t.Context(), http.MethodDelete, "", nil).Body.Close()
	if err := <-c.ended; !errors.Is(err, urlmode.ErrClientGone) {
		t.Fatalf("the session has ended: %v", err)
	}
}

// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// A call over HTTP that its client cancels ends, and takes its request back. Whether the client hears that is the SDK's: it sends the
// notification in the stream of the call, which its own client has closed by then.
func TestCancelledCallsOverHTTP(t *testing.T) {
	const calls = 20
	m := adaptertest.Open(t)
	tools := New(m, Options{})
	var heard atomic.Int32
	ended, asked := make(chan error, calls), make(chan struct{}, calls)
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result, err := tools.ElicitURL(ctx, call, toolRequest(adaptertest.Someone(), "one"), nil)
		ended <- err
		return result, err
	})
	served := httptest.NewServer(tools.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- struct{}{}
			select {
			case <-ctx.Done():
				heard.Add(1)
			case <-t.Context().Done(): // which ends before the cleanup
			}
			return nil, ctx.Err()
		}})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: served.URL}, &sdk.ClientSessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		served.CloseClientConnections()
		served.Close()
	})
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		go session.CallTool(ctx, &sdk.CallToolParams{Name: "buy"})
		<-asked
		cancel()
	}
	for range calls {
		if err := <-ended; !errors.Is(err, context.Canceled) && !errors.Is(err, urlmode.ErrClientGone) {
			t.Errorf("it ends with %v", err)
		}
	}
	t.Logf("%d of %d clients have heard it", heard.Load(), calls)
}

// Over a pipe the client hears it of each.
func TestCancelledCallsOverAPipe(t *testing.T) {
	const calls = 20
	m := adaptertest.Open(t)
	tools := New(m, Options{})
	var heard atomic.Int32
	asked := make(chan struct{}, calls)
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(adaptertest.Someone(), "one"), nil)
	})
	session := connectAs(t, &payer{t: t}, func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked <- struct{}{}
		select {
		case <-ctx.Done():
			heard.Add(1)
		case <-t.Context().Done():
		}
		return nil, ctx.Err()
	}, server, true)
	for range calls {
		ctx, cancel := context.WithCancel(t.Context())
		go session.CallTool(ctx, &sdk.CallToolParams{Name: "buy"})
		<-asked
		cancel()
	}
	adaptertest.Until(t, "the client has heard it of each call", func() bool { return heard.Load() == calls })
}

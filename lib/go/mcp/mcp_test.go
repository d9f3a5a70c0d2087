// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

func toolRequest(me urlmode.Owner, what string) ToolRequest {
	return ToolRequest{Message: "Pay for " + what + ".", Request: adaptertest.Payment(me, what)}
}

func text(said string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: said}}}
}

// payer is a client whose user pays for whatever is asked, by another instance.
type payer struct {
	t        *testing.T
	me       urlmode.Owner
	instance *urlmode.Instance

	answer func(id string) // instead of paying

	mu       sync.Mutex
	asked    []string
	reported []string
	action   string
}

func (p *payer) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	if !strings.HasPrefix(r.Params.URL, adaptertest.BaseURL+"/connect/") || r.Params.Mode != "url" {
		p.t.Errorf("it is asked for %+v", r.Params)
	}
	p.mu.Lock()
	p.asked = append(p.asked, r.Params.ElicitationID)
	p.mu.Unlock()
	if p.answer != nil {
		p.answer(r.Params.ElicitationID)
	} else if p.action == "accept" && r.Params.ElicitationID != "" {
		adaptertest.Pay(p.t, p.instance, p.me, r.Params.ElicitationID)
	}
	return &sdk.ElicitResult{Action: p.action}, nil
}

// connect is over a pipe, in one process. A client of the newest version uses the newest revision, or else the one before.
func connect(t *testing.T, p *payer, server *sdk.Server, older bool) *sdk.ClientSession {
	t.Helper()
	return connectAs(t, p, p.elicit, server, older)
}

type elicitationHandler func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)

// connectAs connects a client. Without a handler, it does not elicit.
func connectAs(t *testing.T, p *payer, elicit elicitationHandler, server *sdk.Server, older bool, rounds ...*sdk.MultiRoundTripOptions) *sdk.ClientSession {
	t.Helper()
	capabilities := &sdk.ClientCapabilities{}
	if elicit != nil {
		capabilities.Elicitation = &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}, Form: &sdk.FormElicitationCapabilities{}}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, &sdk.ClientOptions{Capabilities: capabilities, MultiRoundTrip: append(rounds, nil)[0],
		ElicitationHandler: elicit, ElicitationCompleteHandler: func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reported = append(p.reported, r.Params.ElicitationID)
		}})
	if older {
		// The client asks which revisions there are, and the server does not know what it means.
		server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "server/discover" {
					return nil, context.Canceled
				}
				return next(ctx, method, r)
			}
		})
	}
	return joined(t, client, server)
}

// joined are a client and a server that are connected until the test has ended.
func joined(t *testing.T, client *sdk.Client, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	theirs, ours := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close(); serving.Wait() })
	return session
}

func call(t *testing.T, session *sdk.ClientSession) *sdk.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy"})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func said(result *sdk.CallToolResult) string {
	var all strings.Builder
	for _, each := range result.Content {
		all.WriteString(each.(*sdk.TextContent).Text)
	}
	return all.String()
}

func serverOf(run func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "buy"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		result, err := run(ctx, call)
		return result, nil, err
	})
	return server
}

// Each of two payments in one call is asked for, claimed and confirmed by itself. The client is that of the token.
func TestTwoPaymentsInOneCall(t *testing.T) {
	m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "accept"}
	tools := New(m, Options{})
	session := connect(t, p, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		paid := ""
		call.Extra = &sdk.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{"client_id": "gateway"}}}
		for _, what := range []string{"one", "two"} {
			wanted := toolRequest(p.me, what)
			wanted.SameClient = true
			result, err := tools.ElicitURL(ctx, call, wanted, func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				return text(accepted.Reference), nil
			})
			if err != nil || result.IsError {
				return result, err
			}
			paid += said(result)
		}
		return text(paid), nil
	}), true)
	if got := said(call(t, session)); strings.Count(got, "pay_") != 2 || len(p.asked) != 2 {
		t.Fatalf("%q, and it was asked for %v", got, p.asked)
	}
	for i, id := range p.asked {
		adaptertest.UntilConfirmed(t, id)
		if _, known := any((*sdk.ServerSession)(nil)).(notifier); known {
			adaptertest.Until(t, "the client is told", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return len(p.reported) > i && p.reported[i] == id
			})
		}
	}
}

// The trace is that of the call. What a client sends in its place says nothing.
func TestTraceOfTheCall(t *testing.T) {
	const trace = adaptertest.Trace
	tools, traces := New(nil, Options{}), make(chan string, 1)
	session := connect(t, &payer{t: t}, serverOf(func(_ context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		traces <- tools.describe(call).Traceparent
		return text("done"), nil
	}), true)
	for sent, want := range map[any]string{trace: trace, "00-" + strings.Repeat("0", 32) + trace[35:]: "", 1: "", nil: "", trace + "x": ""} {
		if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy", Meta: sdk.Meta{"traceparent": sent}}); err != nil {
			t.Fatal(err)
		}
		if got := <-traces; got != want {
			t.Errorf("%v: %q", sent, got)
		}
	}
}

// Whatever a client writes into _meta, the call is described.
func FuzzMeta(f *testing.F) {
	tools := New(nil, Options{})
	f.Add([]byte(`{"traceparent":"` + adaptertest.Trace + `","progressToken":1}`))
	f.Add([]byte(`{"` + sdk.MetaKeyClientInfo + `":{"name":"a","version":"1"},"` + sdk.MetaKeyClientCapabilities + `":{"elicitation":{"url":{}}}}`))
	f.Add([]byte(`{"` + sdk.MetaKeyClientInfo + `":[1],"` + sdk.MetaKeyClientCapabilities + `":{"elicitation":{"url":1}},"traceparent":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var meta sdk.Meta
		if json.Unmarshal(text, &meta) != nil || meta == nil {
			return
		}
		meta[sdk.MetaKeyProtocolVersion] = roundsSince
		got := tools.describe(&sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Meta: meta}})
		if got.Retry == nil || got.Channel != nil || got.Traceparent != "" && got.Traceparent != meta["traceparent"] {
			t.Fatalf("%s: %+v", text, got)
		}
	})
}

// The newest client of the SDK gets a result that requires input, and calls again with its handle.
func TestRounds(t *testing.T) {
	m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "accept"}
	tools, calls := New(m, Options{}), 0
	session := connect(t, p, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if calls++; calls == 2 {
			retry, err := m.OpenRequestState(call.Params.RequestState, toolRequest(p.me, "one").Request)
			if err != nil {
				return nil, err
			}
			adaptertest.Pay(t, p.instance, p.me, retry.Elicitation.ElicitationID)
		}
		return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return text("Paid with " + accepted.Reference), nil
		})
	}), false)
	if got := said(call(t, session)); !strings.HasPrefix(got, "Paid with pay_") || calls != 2 || len(p.asked) != 1 {
		t.Fatalf("%q after %d calls and %d requests", got, calls, len(p.asked))
	}
}

// The user types a key, in both revisions of the protocol. What only others can approve is no request to the client.
func TestForms(t *testing.T) {
	for _, older := range []bool{true, false} {
		m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone(), action: "accept"}
		tools, calls, id := New(m, Options{}), 0, adaptertest.NewID()
		p.answer = func(string) { adaptertest.Type(t, m, p.me, id, "sk-1") }
		session := connect(t, p, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			calls++
			input := InputToolRequest{Message: "Your key.", InputRequest: adaptertest.Key(p.me, id)}
			result, err := tools.CollectInput(ctx, call, input, func(_ context.Context, typed Accepted) (*sdk.CallToolResult, error) {
				return text("Stored " + typed.Values["api_key"].(string) + "."), nil
			})
			if err != nil || said(result) != "Stored sk-1." {
				return result, err
			}
			return tools.AskApproval(ctx, call, ApprovalToolRequest{Message: "Agree.", ApprovalRequest: adaptertest.Deletion(p.me)}, nil)
		}), older)
		result := call(t, session)
		if !strings.Contains(said(result), "The decision is for somebody else") || len(p.asked) != 1 || older != (calls == 1) {
			t.Fatalf("%q after %d calls and %d requests", said(result), calls, len(p.asked))
		}
	}
}

// A session leaves nothing behind.
func TestNothingIsKept(t *testing.T) {
	m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "cancel"}
	tools := New(m, Options{})
	session := connect(t, p, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), nil)
	}), true)
	if got := said(call(t, session)); !strings.Contains(got, "The client did not open it: it dismissed the request.") {
		t.Fatal(got)
	}
	session.Close()
	adaptertest.Until(t, "the session is forgotten", func() bool {
		tools.mu.Lock()
		defer tools.mu.Unlock()
		return len(tools.lives) == 0 && len(tools.connections) == 0
	})
}

// Without HTTP authentication nobody is asked: a call has no user.
func TestCallWithoutAuthentication(t *testing.T) {
	tools := New(adaptertest.Open(t), Options{})
	for name, extra := range map[string]*sdk.RequestExtra{"over a pipe": nil, "without a token": {}, "with one": {TokenInfo: &auth.TokenInfo{UserID: "u-1"}}} {
		call := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}, Extra: extra, Session: &sdk.ServerSession{}}
		subject := SubjectOf(call)
		if (subject == "u-1") != (name == "with one") {
			t.Errorf("%s: %q", name, subject)
		}
		if subject == "" {
			_, err := tools.ElicitURL(t.Context(), call, toolRequest(urlmode.Owner{Subject: subject}, "report:1"), nil)
			if own := (*urlmode.Error)(nil); !errors.As(err, &own) || own.Code != urlmode.ErrArgument || !strings.Contains(err.Error(), "Subject") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var none context.Context
	if _, err := tools.ElicitURL(none, &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}, Session: &sdk.ServerSession{}}, ToolRequest{}, nil); !errors.Is(err, urlmode.ErrArgument) {
		t.Errorf("a nil context: %v", err)
	}
}

// The result says in its data why the link is in it.
func TestReasonOfAPendingAnswer(t *testing.T) {
	for action, reason := range map[string]string{"decline": "client_declined", "cancel": "client_dismissed", "error": "client_failed"} {
		p := &payer{t: t, me: adaptertest.Someone()}
		tools := New(adaptertest.Open(t), Options{})
		server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(context.Context, Accepted) (*sdk.CallToolResult, error) { return text("Paid."), nil })
		})
		session := connectAs(t, p, func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if action == "error" {
				return nil, errors.New("it cannot be opened")
			}
			return &sdk.ElicitResult{Action: action}, nil
		}, server, true)
		written, err := json.Marshal(call(t, session).StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Elicitation struct{ Status, Reason string }
		}
		if err := json.Unmarshal(written, &data); err != nil || data.Elicitation.Reason != reason || data.Elicitation.Status != "pending" {
			t.Errorf("%s: %s, %v", action, written, err)
		}
	}
}

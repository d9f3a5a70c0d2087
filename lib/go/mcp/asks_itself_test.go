// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// writer is a server that knows nothing of payments: it asks its user questions of its own, one after the other, each of which is the
// name of the state, and answers.
type writer struct {
	mu        sync.Mutex
	questions []string
	states    []string // that it was called with
}

func (w *writer) write(_ context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, answers := call.Params.RequestState, call.Params.InputResponses
	w.states = append(w.states, state)
	next := slices.Index(w.questions, state) + 1
	if answer, ok := answers[state].(*sdk.ElicitResult); len(answers) != min(next, 1) || next > 0 && (!ok || answer.Content[state] != "a "+state) {
		return nil, nil, errors.New("this is no state of mine")
	}
	if next == len(w.questions) {
		return text("Written."), nil, nil
	}
	key := w.questions[next]
	return &sdk.CallToolResult{RequestState: key, InputRequests: sdk.InputRequestMap{key: &sdk.ElicitParams{
		Message: "Which " + key + "?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{key: map[string]any{"type": "string"}}},
	}}}, nil, nil
}

// upstream is a session of a gateway with the writer. The gateway passes on what it asks for.
func upstream(t *testing.T, w *writer) *sdk.ClientSession {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "writer", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "write"}, w.write)
	client := sdk.NewClient(&sdk.Implementation{Name: "gateway", Version: "1"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	return joined(t, client, server)
}

// answers pays, and answers the questions of the writer.
func (p *payer) answers(t *testing.T, m *urlmode.Instance) elicitationHandler {
	return func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Params.Message)
		p.mu.Unlock()
		if r.Params.Mode == "url" {
			adaptertest.PayFor(t, m, p.me)
			return &sdk.ElicitResult{Action: "accept"}, nil
		}
		if listed := adaptertest.UnclaimedOf(t, m, p.me); len(listed) != 0 {
			t.Errorf("between the rounds it is listed as unclaimed: %v", listed)
		}
		key := strings.TrimSuffix(strings.TrimPrefix(r.Params.Message, "Which "), "?")
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{key: "a " + key}}, nil
	}
}

// A gateway sells a tool of a server that asks its user something itself: the user pays once, and what the server asks and is told reaches
// it as it was. Between the rounds, on two instances, the payment is this call's. The SDK asks an older client once by itself.
func TestBodyThatAsksItself(t *testing.T) {
	for _, older := range []bool{false, true} {
		w, runs := &writer{questions: []string{"colour", "size"}}, []int64{}
		if older {
			w.questions = w.questions[:1]
		}
		p := &payer{t: t, me: adaptertest.Someone()}
		instances := []*urlmode.Instance{adaptertest.Open(t), adaptertest.Open(t)}
		of := []*Tools{New(instances[0], Options{}), New(instances[1], Options{})}
		through, calls := upstream(t, w), 0
		server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			calls++
			return of[calls%2].ElicitURL(ctx, call, toolRequest(p.me, "the text"), func(ctx context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				runs = append(runs, accepted.Fence)
				return through.CallTool(ctx, &sdk.CallToolParams{Name: "write", RequestState: call.Params.RequestState, InputResponses: call.Params.InputResponses})
			})
		})
		session := connectAs(t, p, p.answers(t, instances[0]), server, older)
		if got := said(call(t, session)); got != "Written." {
			t.Fatalf("%q after %v", got, p.asked)
		}
		asked := "Pay for the text."
		for _, each := range w.questions {
			asked += " Which " + each + "?"
		}
		if strings.Join(p.asked, " ") != asked || strings.Join(w.states, " ") != " "+strings.Join(w.questions, " ") {
			t.Fatalf("it was asked for %q, with the states %q", p.asked, w.states)
		}
		if !slices.IsSorted(runs) || len(slices.Compact(slices.Clone(runs))) != len(w.questions)+1 {
			t.Fatalf("the fences of the rounds are %v", runs)
		}
	}
}

// Two things can be asked for in one call, one after the other or one for the other, by requests, by rounds and as text. Each is paid once, and
// its work is done once.
func TestElicitationsFollowEachOther(t *testing.T) {
	for _, way := range []string{"by rounds", "by requests", "as text"} {
		for _, order := range []string{"one after the other", "one for the other"} {
			t.Run(order+", "+way, func(t *testing.T) {
				m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
				tools, runs := New(m, Options{}), map[string]int{}
				buy := func(ctx context.Context, call *sdk.CallToolRequest, what string) (*sdk.CallToolResult, error) {
					return tools.ElicitURL(ctx, call, toolRequest(p.me, what), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
						runs[what]++
						return text("Paid " + what + "."), nil
					})
				}
				server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					if order == "one for the other" {
						return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(ctx context.Context, _ Accepted) (*sdk.CallToolResult, error) {
							runs["one"]++
							return buy(ctx, call, "two")
						})
					}
					if first, err := buy(ctx, call, "one"); err != nil || said(first) != "Paid one." {
						return first, err
					}
					return buy(ctx, call, "two")
				})
				server.AddReceivingMiddleware(Middleware)
				handler := p.answers(t, m)
				if way == "as text" {
					handler = nil
				}
				session := connectAs(t, p, handler, server, way == "by requests")
				result := call(t, session)
				for range 2 {
					if way == "as text" {
						adaptertest.PayFor(t, m, p.me)
						result = call(t, session)
					}
				}
				if said(result) != "Paid two." || runs["two"] != 1 || order == "one after the other" && runs["one"] != 1 {
					t.Fatalf("%q after %v and %v", said(result), p.asked, runs)
				}
				adaptertest.Until(t, "both are claimed", func() bool {
					return adaptertest.RowsOf(t, p.me) == 2 && adaptertest.UnclaimedRowsOf(t, p.me) == 0
				})
			})
		}
	}
}

// What is done before an open question is kept, however often the client calls again, and whatever the tool makes of the link: an error, of one
// with an output schema, or the error -32042.
func TestOpenQuestionAfterWhatIsDone(t *testing.T) {
	for _, way := range []string{"as text", "by errors"} {
		m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
		tools, runs := New(m, Options{}), map[string]int{}
		server := sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
		AddTool[struct{}, report](server, &sdk.Tool{Name: "buy"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, error) {
			buy := func(what string) (*sdk.CallToolResult, error) {
				wanted := toolRequest(p.me, what)
				wanted.Round = time.Second
				return tools.RequireURL(ctx, call, wanted, Typed(func(context.Context, Accepted) (report, error) {
					runs[what]++
					return report{what, 1}, nil
				}))
			}
			if first, err := buy("one"); err != nil || first.IsError {
				return first, err
			}
			return buy("two")
		})
		handler := p.answers(t, m)
		if way == "as text" {
			handler = nil
		}
		session := connectAs(t, p, handler, server, true)
		said := func() string {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy"})
			if err != nil {
				return err.Error()
			}
			return said(result)
		}
		said()
		adaptertest.PayFor(t, m, p.me)
		for range 3 {
			if got := said(); !strings.Contains(got, "two") || runs["one"] != 1 {
				t.Fatalf("%s: %q after %v", way, got, runs)
			}
		}
		adaptertest.PayFor(t, m, p.me)
		if got := said(); !strings.Contains(got, `"report":"two"`) || runs["one"] != 1 || runs["two"] != 1 {
			t.Fatalf("%s: %q after %v", way, got, runs)
		}
		adaptertest.Until(t, "both are claimed", func() bool {
			return adaptertest.RowsOf(t, p.me) == 2 && adaptertest.UnclaimedRowsOf(t, p.me) == 0
		})
	}
}

// What is done in the round before is not done again because something after it fails.
func TestRoundThatFailsAfterWhatIsDone(t *testing.T) {
	m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
	tools, runs := New(m, Options{}), map[string]int{}
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		buy := func(what string) (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(p.me, what), func(context.Context, Accepted) (*sdk.CallToolResult, error) {
				if runs[what]++; what == "two" && runs[what] == 1 {
					return nil, errors.New("it is out")
				}
				return text("Paid " + what + "."), nil
			})
		}
		if first, err := buy("one"); err != nil || said(first) != "Paid one." {
			return first, err
		}
		return buy("two")
	})
	server.AddReceivingMiddleware(Middleware)
	session := connectAs(t, p, p.answers(t, m), server, false)
	if got := said(call(t, session)); got != "it is out" {
		t.Fatalf("%q after %v", got, runs)
	}
	if got := said(call(t, session)); got != "Paid two." || runs["one"] != 1 || runs["two"] != 2 || len(p.asked) != 2 {
		t.Fatalf("%q after %v and %v", got, runs, p.asked)
	}
}

// What goes on with a claim is the requestState of the round before, for its owner and item, once; another call waits for it meanwhile.
func TestRoundsOfABody(t *testing.T) {
	m, p, runs := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}, 0
	tools := New(m, Options{})
	buyer, bought, state, waits := p.me, "one", "mine", time.Minute
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		wanted := toolRequest(buyer, bought)
		wanted.Round = waits
		return tools.ElicitURL(ctx, call, wanted, func(context.Context, Accepted) (*sdk.CallToolResult, error) {
			if runs++; call.Params.RequestState == "" {
				return &sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{}}, nil
			}
			return text("Done with " + call.Params.RequestState + "."), nil
		})
	})
	session := connectAs(t, p, p.answers(t, m), server, false, &sdk.MultiRoundTripOptions{Disabled: true})
	send := func(state string) (string, string) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy", RequestState: state})
		if err != nil {
			return err.Error(), ""
		}
		return said(result), result.RequestState
	}
	_, asks := send("")
	adaptertest.PayFor(t, m, p.me)
	state = strings.Repeat("x", 8193)
	if got, next := send(asks); next != "" || !strings.Contains(got, "more than 8192 bytes") {
		t.Fatalf("a large state: %q", got)
	}
	state = state[1:]
	_, round := send("")
	waits = time.Millisecond
	if got, _ := send(""); round == "" || !strings.Contains(got, "Another call") || runs != 2 {
		t.Fatalf("another call meanwhile, after %d runs: %q", runs, got)
	}
	waits = time.Minute
	buyer = adaptertest.Someone()
	if got, _ := send(round); !strings.Contains(got, "requestState") {
		t.Fatalf("another user: %q", got)
	}
	buyer, bought = p.me, "two"
	if got, _ := send(round); !strings.Contains(got, "requestState") {
		t.Fatalf("another item: %q", got)
	}
	bought = "one"
	// Another handle of the same row, with this round: what was sealed for one request is not opened for another.
	handle, _, _ := strings.Cut(asks, ".")
	if got, _ := send(handle + round[strings.IndexByte(round, '.'):]); !strings.Contains(got, "requestState") || runs != 2 {
		t.Fatalf("the round of another handle: %q", got)
	}
	if got, next := send(round); got != "Done with "+state+"." || next != "" {
		t.Fatalf("%q", got)
	}
	if got, next := send(round); next != "" || !strings.HasPrefix(got, "Not done") || runs != 3 || adaptertest.RowsOf(t, p.me) != 1 {
		t.Fatalf("again, after %d runs: %q", runs, got)
	}
}

// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

type report struct {
	Report string `json:"report"`
	Pages  int    `json:"pages"`
}

// shop has the tools "buy", by our AddTool, and "order", by the SDK's. Both return a report.
type shop struct {
	*payer
	tools  *Tools
	server *sdk.Server
	runs   int
	body   func(context.Context, Accepted) (report, error)
}

func newShop(t *testing.T, action string) *shop {
	s := &shop{payer: &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: action}}
	s.tools = New(adaptertest.Open(t), Options{})
	s.server = sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
	s.body = func(context.Context, Accepted) (report, error) { return report{"Forty-two.", 3}, nil }
	run := Typed(func(ctx context.Context, accepted Accepted) (report, error) {
		s.runs++
		return s.body(ctx, accepted)
	})
	pagesFrom1 := &jsonschema.Schema{Type: "object", Required: []string{"report", "pages"}, Properties: map[string]*jsonschema.Schema{
		"report": {Type: "string"}, "pages": {Type: "integer", Minimum: jsonschema.Ptr(1.0)}}}
	AddTool[struct{}, report](s.server, &sdk.Tool{Name: "buy"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, error) {
		return s.tools.ElicitURL(ctx, call, toolRequest(s.me, "one"), run)
	})
	AddTool[struct{}, report](s.server, &sdk.Tool{Name: "strict", OutputSchema: pagesFrom1}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, error) {
		return s.tools.ElicitURL(ctx, call, toolRequest(s.me, "strict"), run)
	})
	AddTool[struct{}, map[string]any](s.server, &sdk.Tool{Name: "anything"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, error) {
		return s.tools.ElicitURL(ctx, call, toolRequest(s.me, "anything"), run)
	})
	sdk.AddTool(s.server, &sdk.Tool{Name: "order"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, report, error) {
		return Output[report](s.tools.ElicitURL(ctx, call, toolRequest(s.me, "two"), run))
	})
	return s
}

func (s *shop) call(session *sdk.ClientSession, name string) *sdk.CallToolResult {
	s.t.Helper()
	result, err := session.CallTool(s.t.Context(), &sdk.CallToolParams{Name: name})
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// is fails the test if the result is not the report.
func is(t *testing.T, result *sdk.CallToolResult) {
	t.Helper()
	structured, _ := json.Marshal(result.StructuredContent)
	if result.IsError || said(result) != `{"report":"Forty-two.","pages":3}` || !strings.Contains(string(structured), `"pages":3`) {
		t.Fatalf("%q, %s, an error: %t", said(result), structured, result.IsError)
	}
}

// A client that takes no URL gets the link as the text of an error, which has no data. The schema of a map has room for both.
func TestLinkOfATypedTool(t *testing.T) {
	s := newShop(t, "accept")
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
	session := joined(t, client, s.server)
	for _, name := range []string{"buy", "order", "strict"} {
		result := s.call(session, name)
		if !result.IsError || result.StructuredContent != nil || !strings.Contains(said(result), adaptertest.BaseURL+"/connect/stripe?state=") {
			t.Errorf("%s: %q, %v, an error: %t", name, said(result), result.StructuredContent, result.IsError)
		}
	}
	result := s.call(session, "anything")
	described, _ := result.StructuredContent.(map[string]any)
	if about, _ := described["elicitation"].(map[string]any); result.IsError || about["url"] == nil {
		t.Errorf("%q, %v, an error: %t", said(result), described, result.IsError)
	}
}

// The data of a report, and that the client has declined, in both revisions of the protocol.
func TestTypedResults(t *testing.T) {
	for _, older := range []bool{true, false} {
		declining, paying := newShop(t, "decline"), newShop(t, "accept")
		refused, paid := connect(t, declining.payer, declining.server, older), connect(t, paying.payer, paying.server, older)
		paying.answer = func(string) { payOpen(paying) }
		for _, name := range []string{"buy", "order"} {
			if result := declining.call(refused, name); !result.IsError || !strings.Contains(said(result), "The client did not open it: it declined.") || result.StructuredContent != nil {
				t.Errorf("%s: %q, %v", name, said(result), result.StructuredContent)
			}
			is(t, paying.call(paid, name))
		}
		if len(paying.asked) != 2 || paying.runs != 2 {
			t.Errorf("%d requests, %d runs", len(paying.asked), paying.runs)
		}
	}
}

// Beside the words, the data say why the link comes as text.
func TestReasonOfALink(t *testing.T) {
	for _, older := range []bool{true, false} {
		for action, reason := range map[string]string{"decline": "client_declined", "cancel": "client_dismissed"} {
			s := newShop(t, action)
			result := s.call(connect(t, s.payer, s.server, older), "anything")
			described, _ := result.StructuredContent.(map[string]any)
			about, _ := described["elicitation"].(map[string]any)
			if about["url"] == nil || about["reason"] != reason || about["status"] != "pending" {
				t.Errorf("%s, older: %t: %v", action, older, about)
			}
		}
	}
}

// payOpen pays the only elicitation that is open.
func payOpen(s *shop) {
	var id string
	conn := adaptertest.AsOperator(s.t)
	if err := conn.QueryRow(s.t.Context(), "SELECT id::text FROM urlmode.elicitation WHERE subject = $1 AND status <> 'completed'", s.me.Subject).Scan(&id); err != nil {
		s.t.Errorf("%v", err)
		return
	}
	adaptertest.Pay(s.t, s.instance, s.me, id)
}

// A handler of the SDK's own AddTool that returns a zero Out loses neither the link, nor the data of a body.
func TestZeroOutBesideTheAnswer(t *testing.T) {
	atLeast1 := &jsonschema.Schema{Type: "object", Required: []string{"report", "pages"}, Properties: map[string]*jsonschema.Schema{
		"report": {Type: "string"}, "pages": {Type: "integer", Minimum: jsonschema.Ptr(1.0)}}}
	for name, schema := range map[string]*jsonschema.Schema{"zero fits": nil, "zero does not fit": atLeast1} {
		for _, action := range []string{"decline", "accept"} {
			s := newShop(t, action)
			s.server.AddReceivingMiddleware(Middleware)
			tool := &sdk.Tool{Name: "careless"}
			if schema != nil {
				tool.OutputSchema = schema
			}
			sdk.AddTool(s.server, tool, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, report, error) {
				result, err := s.tools.ElicitURL(ctx, call, toolRequest(s.me, "careless"), Typed(func(context.Context, Accepted) (report, error) {
					return report{"Forty-two.", 3}, nil
				}))
				return result, report{}, err
			})
			// A client that takes no URL gets the link.
			plain := joined(t, sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, nil), s.server)
			result := s.call(plain, "careless")
			if !result.IsError || result.StructuredContent != nil || !strings.Contains(said(result), adaptertest.BaseURL+"/connect/stripe?state=") {
				t.Errorf("%s: %q, %v, an error: %t", name, said(result), result.StructuredContent, result.IsError)
			}

			if action == "accept" {
				s.answer = func(string) { payOpen(s) }
			}
			session := connect(t, s.payer, s.server, true)
			if result := s.call(session, "careless"); action == "accept" {
				is(t, result)
			} else if !result.IsError || !strings.Contains(said(result), "The client did not open it: it declined.") || result.StructuredContent != nil {
				t.Errorf("%s: %q, %v", name, said(result), result.StructuredContent)
			}
		}
	}
}

// A result that does not fit is not kept: the next call makes it again, for the same payment.
func TestResultThatDoesNotFit(t *testing.T) {
	s := newShop(t, "accept")
	session := connect(t, s.payer, s.server, true)
	s.body = func(context.Context, Accepted) (report, error) { return report{}, nil }
	if result := s.call(session, "strict"); !result.IsError || !strings.Contains(said(result), "does not fit its output schema") {
		t.Fatalf("%q, %v", said(result), result.StructuredContent)
	}
	s.body = func(context.Context, Accepted) (report, error) { return report{"Forty-two.", 3}, nil }
	is(t, s.call(session, "strict"))
	if len(s.asked) != 1 || s.runs != 2 {
		t.Fatalf("%d requests, %d runs", len(s.asked), s.runs)
	}
}

// What a call has made whose client has given up is the result of the next call, with its data.
func TestTypedResultThatIsGivenAgain(t *testing.T) {
	for _, name := range []string{"buy", "order"} {
		s := newShop(t, "accept")
		session := connect(t, s.payer, s.server, true)
		begun, gate := make(chan urlmode.Outcome, 1), make(chan struct{})
		s.body = func(_ context.Context, accepted Accepted) (report, error) {
			begun <- accepted.Outcome
			<-gate
			return report{"Forty-two.", 3}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name})
			ended <- err
		}()
		<-begun
		cancel()
		if err := <-ended; err == nil {
			t.Fatal("the call was not cancelled")
		}
		close(gate)
		is(t, s.call(session, name))
		if s.runs != 1 || len(s.asked) != 1 {
			t.Fatalf("%d runs, %d requests", s.runs, len(s.asked))
		}
	}
}

// Without a schema there is no tool.
func TestTypeWithoutASchema(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, `tool "buy": output schema:`) {
			t.Fatalf("%q", said)
		}
	}()
	server := sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
	AddTool[struct{}, func()](server, &sdk.Tool{Name: "buy"}, nil)
}

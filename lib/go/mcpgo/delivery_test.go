// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/internal/adaptertest"
)

// What fails after the body has run is not paid again: the next call is given what the body has made. A body that answers with an
// error has not done its work. AddTool tells how a tool ends, and the middleware does for every other tool.
func TestToolThatFailsAfterItsBody(t *testing.T) {
	for _, added := range []string{"by AddTool", "by the server, with the middleware"} {
		s, runs, how := &shop{payer: &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}}, 0, ""
		tools := New(adaptertest.Open(t), Options{})
		run := func(ctx context.Context, call sdk.CallToolRequest, _ order) (*sdk.CallToolResult, error) {
			result, err := tools.ElicitURL(ctx, call, toolRequest(s.me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				runs++
				made := sdk.NewToolResultText(fmt.Sprintf("%s in run %d.", accepted.Reference, runs))
				made.IsError = how == "answers with an error"
				return made, nil
			})
			if how == "fails" {
				return nil, errors.New("the report is not there")
			}
			return result, err
		}
		srv := server.NewMCPServer("tests", "1", server.WithElicitation(), server.WithToolHandlerMiddleware(Middleware))
		if added == "by AddTool" {
			srv = server.NewMCPServer("tests", "1", server.WithElicitation())
			AddTool[order, any](srv, sdk.NewTool("buy"), run)
		} else {
			srv.AddTool(sdk.NewTool("buy"), sdk.NewTypedToolHandler(run))
		}
		listening := httptest.NewServer(server.NewStreamableHTTPServer(srv))
		t.Cleanup(func() {
			listening.CloseClientConnections()
			listening.Close()
		})
		s.url = listening.URL + "/mcp"
		session := s.session(true)
		for _, row := range []struct {
			how, said string
			isError   bool
			requests  int32
		}{
			{"answers with an error", " in run 1.", true, 1}, {"fails", "", true, 1}, {"works", " in run 2.", false, 1}, {"works", " in run 3.", false, 2},
		} {
			if row.requests == 2 {
				adaptertest.UntilConfirmed(t, s.id.Load().(string))
			}
			how = row.how
			result, said, err := callFor(s, session, "buy", 1)
			if (err != nil || result.IsError) != row.isError || !strings.HasSuffix(said, row.said) || s.asked.Load() != row.requests {
				t.Fatalf("%s, %s: %q, %v after %d requests", added, row.how, said, err, s.asked.Load())
			}
		}
	}
}

// A client that gives up, or whose connection ends while it reads the answer, has paid for the result that the next call is given. What is
// too large to be kept is made again for the same payment.
func TestResultOfAClientThatIsGone(t *testing.T) {
	for _, row := range adaptertest.Gone {
		s, references := &shop{payer: &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}}, []string{}
		tools, begun, goOn := New(adaptertest.Open(t), Options{}), make(chan struct{}), make(chan struct{})
		url := serve(t, tools, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(s.me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				if references = append(references, accepted.Reference); len(references) == 1 && !row.IsCut {
					close(begun)
					<-goOn
				}
				return sdk.NewToolResultText(strings.Repeat("x", row.Size)), nil
			})
		})
		var cut <-chan struct{}
		s.url, cut = adaptertest.CutAfter(t, url, 1_000_000)
		session := s.session(true)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error)
		var call sdk.CallToolRequest
		call.Params.Name = "buy"
		go func() {
			_, err := session.CallTool(ctx, call)
			ended <- err
		}()
		if row.IsCut {
			<-cut
		} else {
			<-begun
		}
		leave()
		if err := <-ended; err == nil {
			t.Fatal("it has its answer")
		}
		session.Close()
		close(goOn)
		s.url = url
		session = s.session(true)
		for next := range 2 {
			if next == 1 {
				adaptertest.UntilConfirmed(t, s.id.Load().(string))
			}
			_, said, err := callFor(s, session, "buy", 1)
			if err != nil || len(said) != row.Size || len(references) != row.Runs+next || s.asked.Load() != int32(next+1) {
				t.Fatalf("%+v: %.40q, %v after %d requests for %q", row, said, err, s.asked.Load(), references)
			}
		}
		if references[0] != references[row.Runs-1] || references[0] == references[row.Runs] {
			t.Fatalf("%+v: it ran for %q", row, references)
		}
	}
}

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
			result, err := tools.ElicitURL(ctx, call, wish(s.me), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
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
				adaptertest.UntilConfirmed(t, s.instance, s.me, s.id.Load().(string))
			}
			how = row.how
			result, said, err := callFor(s, session, "buy", 1)
			if (err != nil || result.IsError) != row.isError || !strings.HasSuffix(said, row.said) || s.asked.Load() != row.requests {
				t.Fatalf("%s, %s: %q, %v after %d requests", added, row.how, said, err, s.asked.Load())
			}
		}
	}
}

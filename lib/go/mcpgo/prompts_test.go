// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/internal/adaptertest"
)

// seller has a prompt and a resource, each of which is paid for, and a tool with the name of the prompt.
func seller(t *testing.T, tools *Tools, p *payer, hooks *server.Hooks) string {
	t.Helper()
	srv := server.NewMCPServer("tests", "1", server.WithHooks(hooks), server.WithElicitation(), server.WithPromptCapabilities(false),
		server.WithResourceCapabilities(false, false))
	srv.AddPrompt(sdk.NewPrompt("advice"), func(ctx context.Context, call sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return tools.ElicitPrompt(ctx, call, toolRequest(p.me), func(_ context.Context, accepted Accepted) (*sdk.GetPromptResult, error) {
			return sdk.NewGetPromptResult("Advice.", []sdk.PromptMessage{sdk.NewPromptMessage(sdk.RoleUser, sdk.NewTextContent("By "+accepted.Reference))}), nil
		})
	})
	srv.AddTool(sdk.NewTool("advice", sdk.WithOutputSchema[order]()), func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return sdk.NewToolResultText("It is no prompt."), nil
	})
	srv.AddResource(sdk.NewResource("shop://report", "report"), func(ctx context.Context, call sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
		return tools.ElicitResource(ctx, call, toolRequest(p.me), func(_ context.Context, accepted Accepted) ([]sdk.ResourceContents, error) {
			return []sdk.ResourceContents{sdk.TextResourceContents{URI: call.Params.URI, Text: "By " + accepted.Reference}}, nil
		})
	})
	listening := httptest.NewServer(Handler(server.NewStreamableHTTPServer(srv)))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	return listening.URL + "/mcp"
}

// paying pays for what is asked of it, or for what its user was sent to by the older revision.
type paying struct{ *payer }

func (p paying) Elicit(_ context.Context, r sdk.ElicitationRequest) (*sdk.ElicitationResult, error) {
	p.asked.Add(1)
	if r.Params.Mode != sdk.ElicitationModeURL || !strings.HasPrefix(r.Params.URL, adaptertest.BaseURL+"/connect/") {
		p.t.Errorf("it is asked for %+v", r.Params)
	}
	adaptertest.PayFor(p.t, p.instance, p.me)
	return &sdk.ElicitationResult{ElicitationResponse: sdk.ElicitationResponse{Action: sdk.ElicitationResponseActionAccept}}, nil
}

// Prompts and resources ask as tools do, in both revisions, and a client that cannot be asked gets an error with the link.
func TestPromptsAndResources(t *testing.T) {
	gets := map[string]func(*client.Client) (string, error){
		"prompt": func(session *client.Client) (string, error) {
			var call sdk.GetPromptRequest
			call.Params.Name = "advice"
			result, err := session.GetPrompt(t.Context(), call)
			if err != nil {
				return "", err
			}
			return result.Messages[0].Content.(sdk.TextContent).Text, nil
		},
		"resource": func(session *client.Client) (string, error) {
			var call sdk.ReadResourceRequest
			call.Params.URI = "shop://report"
			result, err := session.ReadResource(t.Context(), call)
			if err != nil {
				return "", err
			}
			return result.Contents[0].(sdk.TextResourceContents).Text, nil
		},
	}
	for _, row := range []struct {
		way, revision     string
		declares, hasHook bool
	}{
		{"by requests", "2025-11-25", true, true}, {"by requests, without hooks", "2025-11-25", true, false}, {"by rounds", "2026-07-28", true, true},
		{"as text", "2025-11-25", false, true}, {"as text", "2026-07-28", false, true}, {"by rounds, without hooks", "2026-07-28", true, false},
	} {
		for what, get := range gets {
			t.Run(what+", "+row.way+", "+row.revision, func(t *testing.T) {
				p := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}
				tools, hooks := New(adaptertest.Open(t), Options{}), &server.Hooks{}
				if row.hasHook {
					tools.AddHooks(hooks)
				}
				connection, err := transport.NewStreamableHTTP(seller(t, tools, p, hooks))
				if err != nil {
					t.Fatal(err)
				}
				session := client.NewClient(connection, client.WithElicitationHandler(paying{p}))
				if err := session.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				var begin sdk.InitializeRequest
				begin.Params.ProtocolVersion = row.revision
				begin.Params.ClientInfo = sdk.Implementation{Name: "tests", Version: "1"}
				if row.declares {
					begin.Params.Capabilities.Elicitation = &sdk.ElicitationCapability{URL: &struct{}{}}
				} else {
					begin.Params.Capabilities.Elicitation = &sdk.ElicitationCapability{Form: &struct{}{}}
				}
				if begun, err := session.Initialize(t.Context(), begin); err != nil || begun.ProtocolVersion != row.revision {
					t.Fatal(begun, err)
				}
				said, err := get(session)
				isAsked := row.declares && (row.hasHook || what == "prompt" || row.revision == "2025-11-25")
				if !isAsked {
					if err == nil || !strings.Contains(err.Error(), adaptertest.BaseURL+"/connect/") {
						t.Fatalf("%q, %v", said, err)
					}
					adaptertest.PayFor(t, p.instance, p.me)
					said, err = get(session)
				}
				if err != nil || !strings.HasPrefix(said, "By pay_") || (p.asked.Load() == 1) != isAsked || adaptertest.RowsOf(t, p.me) != 1 {
					t.Fatalf("%q, %v after %d requests", said, err, p.asked.Load())
				}
				adaptertest.Until(t, "it is delivered", func() bool { return len(adaptertest.UnclaimedOf(t, p.instance, p.me)) == 0 })
			})
		}
	}
}

// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/internal/adaptertest"
)

// seller has a prompt and a resource, each of which is paid for.
func seller(tools *Tools, p *payer) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
	server.AddPrompt(&sdk.Prompt{Name: "advice"}, func(ctx context.Context, call *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return tools.ElicitPrompt(ctx, call, toolRequest(p.me, "advice"), func(_ context.Context, accepted Accepted) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "By " + accepted.Reference}}}}, nil
		})
	})
	server.AddResource(&sdk.Resource{URI: "shop://report", Name: "report"}, func(ctx context.Context, call *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return tools.ElicitResource(ctx, call, toolRequest(p.me, "report"), func(_ context.Context, accepted Accepted) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: call.Params.URI, Text: "By " + accepted.Reference}}}, nil
		})
	})
	return server
}

// Prompts and resources ask as tools do, in both revisions, and a client that cannot be asked gets an error with the link.
func TestPromptsAndResources(t *testing.T) {
	for _, way := range []string{"by rounds", "by requests", "as text"} {
		for what, get := range map[string]func(*sdk.ClientSession) (string, error){
			"prompt": func(session *sdk.ClientSession) (string, error) {
				result, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "advice"})
				if err != nil {
					return "", err
				}
				return result.Messages[0].Content.(*sdk.TextContent).Text, nil
			},
			"resource": func(session *sdk.ClientSession) (string, error) {
				result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "shop://report"})
				if err != nil {
					return "", err
				}
				return result.Contents[0].Text, nil
			},
		} {
			t.Run(what+", "+way, func(t *testing.T) {
				m, p := adaptertest.Open(t), &payer{t: t, me: adaptertest.Someone()}
				handler := p.answers(t, m)
				if way == "as text" {
					handler = nil
				}
				session := connectAs(t, p, handler, seller(New(m, Options{}), p), way == "by requests")
				said, err := get(session)
				if way == "as text" {
					var refused *jsonrpc.Error
					var data struct{ Elicitation struct{ URL string } }
					if !errors.As(err, &refused) || !strings.Contains(refused.Message, adaptertest.BaseURL+"/connect/") {
						t.Fatalf("%q, %v", said, err)
					}
					if err := json.Unmarshal(refused.Data, &data); err != nil || !strings.Contains(refused.Message, data.Elicitation.URL) {
						t.Fatalf("%s, %v", refused.Data, err)
					}
					adaptertest.PayFor(t, m, p.me)
					said, err = get(session)
				}
				if err != nil || !strings.HasPrefix(said, "By pay_") || adaptertest.RowsOf(t, p.me) != 1 {
					t.Fatalf("%q, %v after %v", said, err, p.asked)
				}
				if unclaimed := adaptertest.UnclaimedRowsOf(t, p.me); unclaimed != 0 {
					t.Fatalf("%d are unclaimed", unclaimed)
				}
			})
		}
	}
}

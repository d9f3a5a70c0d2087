// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"errors"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/internal/adaptertest"
)

type answering struct {
	*payer
	asked []string
}

func (a *answering) Elicit(_ context.Context, r sdk.ElicitationRequest) (*sdk.ElicitationResult, error) {
	a.asked = append(a.asked, r.Params.Message)
	made := sdk.ElicitationResponse{Action: sdk.ElicitationResponseActionAccept}
	if r.Params.Mode == sdk.ElicitationModeURL {
		adaptertest.PayFor(a.t, a.instance, a.me)
	} else if made.Content = map[string]any{"colour": "red"}; len(adaptertest.UnclaimedOf(a.t, a.instance, a.me)) > 0 {
		a.t.Error("between the rounds it is listed as unclaimed")
	}
	return &sdk.ElicitationResult{ElicitationResponse: made}, nil
}

// A body asks for something itself, in both revisions of the protocol: the user pays once, and the body goes on with what it has asked for.
func TestBodyThatAsksItself(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		a := &answering{payer: &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t)}}
		tools := New(adaptertest.Open(t), Options{})
		url := serve(t, tools, Middleware(func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(a.me), func(ctx context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				mine := CallOf(ctx, call).Params
				if mine.RequestState == "" && len(mine.InputResponses) == 0 {
					return server.NewInputRequestBuilder("mine").Elicit("colour", sdk.ElicitationParams{Message: "Which colour?", RequestedSchema: map[string]any{
						"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}},
					}}).ToolResult(), nil
				}
				answer := server.ElicitationResponse(mine.InputResponses, "colour")
				if mine.RequestState != "mine" || answer == nil {
					return nil, errors.New("this is not what was asked for")
				}
				return sdk.NewToolResultText("Painted " + answer.Content.(map[string]any)["colour"].(string)), nil
			})
		}))
		declared := &sdk.ElicitationCapability{URL: &struct{}{}, Form: &struct{}{}}
		var listens []transport.StreamableHTTPCOption
		if revision == "2025-11-25" { // It makes a client one of that revision.
			//lint:ignore SA1019 it is deprecated because that revision is not the newest one
			listens = append(listens, transport.WithContinuousListening())
		}
		said := buyAs(t, a, declared, url, revision, listens...)
		if said != "Painted red" || len(a.asked) != 2 || adaptertest.RowsOf(t, a.me) != 1 {
			t.Fatalf("%s: %q after %q", revision, said, a.asked)
		}
	}
}

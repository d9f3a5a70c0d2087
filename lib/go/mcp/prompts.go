// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// PromptBody does what the user of a prompt has agreed to. See [adapter.Body]. It asks for nothing itself.
type PromptBody func(context.Context, Accepted) (*sdk.GetPromptResult, error)

// ResourceBody does what the user of a resource has agreed to. See [adapter.Body]. It asks for nothing itself.
type ResourceBody func(context.Context, Accepted) (*sdk.ReadResourceResult, error)

// ElicitPrompt is ElicitURL for a prompt. What would be the text of a tool, such as the link for a client that cannot be asked, is a
// *jsonrpc.Error: a client would take it for the prompt.
func (t *Tools) ElicitPrompt(ctx context.Context, call *sdk.GetPromptRequest, wish Wish, body PromptBody) (*sdk.GetPromptResult, error) {
	of := &sdk.CallToolRequest{Session: call.Session, Extra: call.Extra, Params: &sdk.CallToolParamsRaw{
		Meta: call.Params.Meta, Name: call.Params.Name, InputResponses: call.Params.InputResponses, RequestState: call.Params.RequestState,
	}}
	result := &sdk.GetPromptResult{}
	requests, state, err := t.elicitInto(ctx, of, wish, result, func(ctx context.Context, accepted Accepted) (any, error) { return body(ctx, accepted) })
	if err != nil {
		return nil, err
	}
	if state != "" {
		result.InputRequests, result.RequestState = requests, state
	}
	return result, nil
}

// ElicitResource is ElicitPrompt for a resource.
func (t *Tools) ElicitResource(ctx context.Context, call *sdk.ReadResourceRequest, wish Wish, body ResourceBody) (*sdk.ReadResourceResult, error) {
	of := &sdk.CallToolRequest{Session: call.Session, Extra: call.Extra, Params: &sdk.CallToolParamsRaw{
		Meta: call.Params.Meta, Name: call.Params.URI, InputResponses: call.Params.InputResponses, RequestState: call.Params.RequestState,
	}}
	result := &sdk.ReadResourceResult{}
	requests, state, err := t.elicitInto(ctx, of, wish, result, func(ctx context.Context, accepted Accepted) (any, error) { return body(ctx, accepted) })
	if err != nil {
		return nil, err
	}
	if state != "" {
		result.InputRequests, result.RequestState = requests, state
	}
	return result, nil
}

// elicitInto asks as a tool does. Its result is that of the body, or what is asked for, or an error in place of what a tool would say.
func (t *Tools) elicitInto(ctx context.Context, of *sdk.CallToolRequest, wish Wish, result any,
	body func(context.Context, Accepted) (any, error)) (sdk.InputRequestMap, string, error) {
	end, err := t.adapter.Elicit(ctx, t.callOf(ctx, of), wish, func(ctx context.Context, accepted Accepted) (json.RawMessage, error) {
		made, err := body(ctx, accepted)
		if err != nil {
			return nil, err
		}
		return json.Marshal(made)
	})
	if err != nil || end.State != "" {
		asks, err := toResult(end, err)
		if err != nil {
			return nil, "", err
		}
		return asks.InputRequests, asks.RequestState, nil
	}
	var said struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(end.Result, &said); err != nil || said.Content == nil {
		return nil, "", json.Unmarshal(end.Result, result)
	}
	texts := make([]string, len(said.Content))
	for i, each := range said.Content {
		texts[i] = each.Text
	}
	return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: strings.Join(texts, "\n"), Data: said.StructuredContent}
}

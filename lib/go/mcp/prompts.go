// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/internal/bodies"
)

// PromptBody does what the user of a prompt has agreed to. See [adapter.Body]. It asks for nothing itself.
type PromptBody func(context.Context, Accepted) (*sdk.GetPromptResult, error)

// ResourceBody does what the user of a resource has agreed to. See [adapter.Body]. It asks for nothing itself.
type ResourceBody func(context.Context, Accepted) (*sdk.ReadResourceResult, error)

// ElicitPrompt is ElicitURL for a prompt. What would be the text of a tool, such as the link for a client that cannot be asked, is a
// *jsonrpc.Error: a client would take it for the prompt.
func (t *Tools) ElicitPrompt(ctx context.Context, call *sdk.GetPromptRequest, request ToolRequest, body PromptBody) (*sdk.GetPromptResult, error) {
	result, asks, err := elicitAs(ctx, t, &sdk.CallToolRequest{Session: call.Session, Extra: call.Extra, Params: &sdk.CallToolParamsRaw{
		Meta: call.Params.Meta, Name: call.Params.Name, InputResponses: call.Params.InputResponses, RequestState: call.Params.RequestState,
	}}, request, body)
	if asks != nil {
		result = &sdk.GetPromptResult{InputRequests: asks.InputRequests, RequestState: asks.RequestState}
	}
	return result, err
}

// ElicitResource is ElicitPrompt for a resource.
func (t *Tools) ElicitResource(ctx context.Context, call *sdk.ReadResourceRequest, request ToolRequest, body ResourceBody) (*sdk.ReadResourceResult, error) {
	result, asks, err := elicitAs(ctx, t, &sdk.CallToolRequest{Session: call.Session, Extra: call.Extra, Params: &sdk.CallToolParamsRaw{
		Meta: call.Params.Meta, Name: call.Params.URI, InputResponses: call.Params.InputResponses, RequestState: call.Params.RequestState,
	}}, request, body)
	if asks != nil {
		result = &sdk.ReadResourceResult{InputRequests: asks.InputRequests, RequestState: asks.RequestState}
	}
	return result, err
}

// elicitAs asks as a tool does. It returns what the body returns, or what is asked for, or an error in place of what a tool would say.
func elicitAs[R any](ctx context.Context, t *Tools, call *sdk.CallToolRequest, request ToolRequest,
	body func(context.Context, Accepted) (*R, error)) (made *R, asks *sdk.CallToolResult, err error) {
	end, err := t.adapter.Elicit(ctx, t.callOf(ctx, call), request, bodies.InJSON(body))
	if err != nil || end.State != "" {
		asks, err = toResult(end, err)
		if err != nil {
			return nil, nil, err
		}
		return nil, asks, nil
	}
	if text, data, ok := end.Refusal(); ok {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text, Data: data}
	}
	made = new(R)
	if err := json.Unmarshal(end.Result, made); err != nil {
		return nil, nil, err
	}
	return made, nil, nil
}

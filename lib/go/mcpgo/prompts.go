// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/adapter"
	"urlmode.example/urlmode/internal/bodies"
)

// PromptBody does what the user of a prompt has agreed to. See [adapter.Body]. It asks for nothing itself.
type PromptBody func(context.Context, Accepted) (*sdk.GetPromptResult, error)

// ResourceBody does what the user of a resource has agreed to. See [adapter.Body]. It asks for nothing itself.
type ResourceBody func(context.Context, Accepted) ([]sdk.ResourceContents, error)

// ElicitPrompt is ElicitURL for a prompt. What would be the text of a tool, such as the link for a client that cannot be asked, is an
// error: a client would take it for the prompt.
func (t *Tools) ElicitPrompt(ctx context.Context, call sdk.GetPromptRequest, request ToolRequest, body PromptBody) (*sdk.GetPromptResult, error) {
	described := t.describe(ctx, callLike(call.Params.Name, call.Params.Meta, call.Params.MultiRoundTripParams))
	result, asks, err := t.elicitAs(ctx, described, request, func(ctx context.Context, accepted Accepted) (any, error) {
		return body(ctx, accepted)
	})
	switch {
	case err != nil:
		return nil, err
	case asks != nil:
		return &sdk.GetPromptResult{Result: asks.Result, MultiRoundTripResult: asks.MultiRoundTripResult}, nil
	}
	return sdk.ParseGetPromptResult(&result)
}

// ElicitResource is ElicitPrompt for a resource. mcp-go lets its handler return contents alone: [Tools.AddHooks] makes the answer of those that asks for
// something in protocol revision 2026-07-28. Without it, such a client gets the error with the link.
func (t *Tools) ElicitResource(ctx context.Context, call sdk.ReadResourceRequest, request ToolRequest, body ResourceBody) ([]sdk.ResourceContents, error) {
	described := t.describe(ctx, callLike(call.Params.URI, call.Params.Meta, call.Params.MultiRoundTripParams))
	answer := answerOf(call)
	if answer == nil && described.Channel == nil {
		described.Client.URL = false
	}
	result, asks, err := t.elicitAs(ctx, described, request, func(ctx context.Context, accepted Accepted) (any, error) {
		contents, err := body(ctx, accepted)
		return sdk.ReadResourceResult{Contents: contents}, err
	})
	switch {
	case err != nil:
		return nil, err
	case asks != nil:
		answer.asks = asks
		return nil, nil
	}
	made, err := sdk.ParseReadResourceResult(&result)
	if err != nil {
		return nil, err
	}
	return made.Contents, nil
}

// callLike is a request for something else than a tool, which has what a call of one has.
func callLike(name string, meta *sdk.Meta, rounds sdk.MultiRoundTripParams) sdk.CallToolRequest {
	return sdk.CallToolRequest{Params: sdk.CallToolParams{Name: name, Meta: meta, MultiRoundTripParams: rounds}}
}

// elicitAs asks as a tool does. It returns what the body has made, or what is asked for, or an error in place of what a tool would say.
func (t *Tools) elicitAs(ctx context.Context, described adapter.Call, request ToolRequest, body func(context.Context, Accepted) (any, error)) (
	result json.RawMessage, asks *sdk.CallToolResult, err error) {
	described.Output = nil // of a tool with the same name
	end, err := t.adapter.Elicit(ctx, described, request, bodies.InJSON(body))
	if err != nil || end.State != "" {
		asks, err = toResult(end, err)
		return nil, asks, err
	}
	if text, _, ok := end.Refusal(); ok {
		return nil, nil, errors.New(text)
	}
	return end.Result, nil, nil
}

// resourceAnswer is in the Meta of a request for a resource, between the hooks before and after its handler.
type resourceAnswer struct{ asks *sdk.CallToolResult }

const resourceKey = "urlmode.example/answer"

func answerOf(call sdk.ReadResourceRequest) *resourceAnswer {
	if call.Params.Meta == nil {
		return nil
	}
	answer, _ := call.Params.Meta.AdditionalFields[resourceKey].(*resourceAnswer) // Nothing that a client sends is one.
	return answer
}

func addResourceHooks(hooks *server.Hooks) {
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, call *sdk.ReadResourceRequest) {
		meta := &sdk.Meta{AdditionalFields: map[string]any{}}
		if sent := call.Params.Meta; sent != nil {
			meta.ProgressToken = sent.ProgressToken
			maps.Copy(meta.AdditionalFields, sent.AdditionalFields)
		}
		meta.AdditionalFields[resourceKey] = &resourceAnswer{}
		call.Params.Meta = meta
	})
	hooks.AddAfterReadResource(func(_ context.Context, _ any, call *sdk.ReadResourceRequest, result *sdk.ReadResourceResult) {
		if answer := answerOf(*call); answer != nil && answer.asks != nil {
			result.ResultType, result.MultiRoundTripResult = answer.asks.ResultType, answer.asks.MultiRoundTripResult
		}
	})
}

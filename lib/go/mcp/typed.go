// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/adapter"
)

// ToolHandler handles the calls of a tool that AddTool has added. It returns what a function of Tools returns.
type ToolHandler[In any] func(ctx context.Context, call *sdk.CallToolRequest, arguments In) (*sdk.CallToolResult, error)

// outputKey is the key of the *adapter.Output of a tool, in the context of its handler.
type outputKey struct{}

// AddTool adds a tool whose result is an Out, as [sdk.AddTool] does, for a handler that asks its user. A body that [Typed] makes
// returns the Out. A call that ends without the result of a body returns an error with the link, or with what has happened, unless the
// schema of Out has room for "elicitation". sdk.AddTool puts the zero Out in the place of both.
//
// It panics if there is no schema for In or Out, as sdk.AddTool does.
func AddTool[In, Out any](server *sdk.Server, tool *sdk.Tool, handler ToolHandler[In]) {
	typed := *tool
	output, err := outputOf[Out](&typed)
	if err != nil {
		panic(fmt.Sprintf("AddTool: tool %q: output schema: %v", tool.Name, err))
	}
	// Without a value of its own, the SDK leaves the result as it is.
	sdk.AddTool(server, &typed, func(ctx context.Context, call *sdk.CallToolRequest, arguments In) (*sdk.CallToolResult, any, error) {
		ctx, delivery := adapter.WithDelivery(ctx)
		result, err := handler(context.WithValue(ctx, outputKey{}, output), call, arguments)
		if err == nil && !requiresInput(result) {
			err = check(output, result)
		}
		result, err = endedWith(delivery, result, err)
		return result, nil, err
	})
}

// Middleware tells the functions of Tools how tools end, for [sdk.Server.AddReceivingMiddleware]. If a tool fails after its body has run, the next
// call is given what the body has made. Without it a tool counts as ended with the function of Tools, if AddTool of this package
// has not added it.
//
// It also puts back what [sdk.AddTool] overwrites with the Out of a handler that returns a zero one beside the result of a function of Tools: the data
// of a body, and the link, which is an error here. Such a handler needs Middleware, or [Output].
func Middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if method != "tools/call" {
			return next(ctx, method, request)
		}
		ctx, delivery := adapter.WithDelivery(ctx)
		given := &answered{}
		answer, err := next(context.WithValue(ctx, answeredKey{}, given), method, request)
		result, ok := answer.(*sdk.CallToolResult)
		if restored := given.restored(result, err); restored != nil {
			answer, result, ok, err = restored, restored, true, nil
		}
		if !ok {
			delivery.Ended(false)
			return answer, err
		}
		if result, err = endedWith(delivery, result, err); err == nil {
			answer = result
		}
		return answer, err
	}
}

// endedWith tells how a tool has ended. One whose result requires input, or is a link, has not.
func endedWith(delivery *adapter.Delivery, result *sdk.CallToolResult, err error) (*sdk.CallToolResult, error) {
	switch {
	case err == nil && result != nil && isOwn(*result):
		_, err = delivery.Open("")
		return result, err
	case err != nil || !requiresInput(result):
		delivery.Ended(err == nil && (result == nil || !result.IsError))
		return result, err
	}
	open := *result
	open.RequestState, err = delivery.Open(result.RequestState)
	return &open, err
}

func requiresInput(result *sdk.CallToolResult) bool {
	return result != nil && result.InputRequests != nil
}

// outputOf sets the output schema of a tool, if it has none.
func outputOf[Out any](tool *sdk.Tool) (*adapter.Output, error) {
	if tool.OutputSchema == nil {
		of := reflect.TypeFor[Out]()
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of == reflect.TypeFor[any]() {
			return nil, nil
		}
		schema, err := jsonschema.ForType(of, &jsonschema.ForOptions{})
		if err != nil {
			return nil, err
		}
		tool.OutputSchema = schema
	}
	text, err := json.Marshal(tool.OutputSchema)
	if err != nil {
		return nil, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return &adapter.Output{Schema: text, Validate: resolved.Validate}, nil
}

func check(output *adapter.Output, result *sdk.CallToolResult) error {
	text, err := made(result, nil)
	if err != nil {
		return err
	}
	return output.Check(text)
}

// Typed makes a body of one that returns an Out, which is the structured content of the result of the tool, and its text as JSON.
func Typed[Given, Out any](body func(context.Context, Given) (Out, error)) func(context.Context, Given) (*sdk.CallToolResult, error) {
	return func(ctx context.Context, given Given) (*sdk.CallToolResult, error) {
		out, err := body(ctx, given)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text),
		}, nil
	}
}

// Output makes the results of a handler for [sdk.AddTool] of the results of a function of Tools, whose body [Typed] has made:
//
//	return mcp.Output[Report](tools.ElicitURL(ctx, call, request, mcp.Typed(body)))
//
// A call that ends without the result of a body has an error with the link, or with what has happened.
func Output[Out any](result *sdk.CallToolResult, err error) (*sdk.CallToolResult, Out, error) {
	var out Out
	if err != nil || result.InputRequests != nil {
		return result, out, err
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return nil, out, err
	}
	var about struct {
		Elicitation *struct {
			ElicitationID string `json:"elicitationId"`
		} `json:"elicitation"`
	}
	isAnswer := json.Unmarshal(text, &about) == nil && about.Elicitation != nil && about.Elicitation.ElicitationID != ""
	if result.IsError || isAnswer {
		return nil, out, errors.New(textOf(result))
	}
	return result, out, json.Unmarshal(text, &out)
}

func textOf(result *sdk.CallToolResult) string {
	for _, each := range result.Content {
		if text, ok := each.(*sdk.TextContent); ok {
			return text.Text
		}
	}
	return ""
}

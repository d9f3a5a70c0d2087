// SPDX-License-Identifier: MIT

package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode/adapter"
)

// ToolHandler handles the calls of a tool that AddTool has added. It returns what a function of Tools returns.
type ToolHandler[In any] func(ctx context.Context, call sdk.CallToolRequest, arguments In) (*sdk.CallToolResult, error)

// AddTool adds a tool with arguments of the type In and a result of the type Out, for a handler that asks its user. The schemas are
// those of the types, unless the tool has its own. A body that [Typed] makes returns the Out. A call that ends without the result of a
// body returns an error with the link, or with what has happened, unless the schema of Out has room for "elicitation". So does a
// tool with an output schema that the server's own AddTool has added. A handler for [sdk.NewStructuredToolHandler] has no way to
// return a link.
//
// It panics if Out has no schema, or one that is not of an object.
func AddTool[In, Out any](srv *server.MCPServer, tool sdk.Tool, handler ToolHandler[In]) {
	if tool.RawInputSchema == nil && len(tool.InputSchema.Properties) == 0 && reflect.TypeFor[In]() != reflect.TypeFor[any]() {
		sdk.WithInputSchema[In]()(&tool)
	}
	if schemaOf(tool) == nil && reflect.TypeFor[Out]() != reflect.TypeFor[any]() {
		schema, err := inferred[Out]()
		if err != nil {
			panic(fmt.Sprintf("AddTool: tool %q: output schema: %v", tool.Name, err))
		}
		tool.RawOutputSchema = schema
	}
	output := outputOf(tool)
	if output == nil && schemaOf(tool) != nil {
		panic(fmt.Sprintf("AddTool: tool %q: the output schema is none", tool.Name))
	}
	srv.AddTool(tool, func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var arguments In
		if err := call.BindArguments(&arguments); err != nil {
			return sdk.NewToolResultErrorFromErr("the arguments cannot be read", err), nil
		}
		return ended(ctx, func(ctx context.Context) (*sdk.CallToolResult, error) {
			result, err := handler(ctx, call, arguments)
			if err != nil || requiresInput(result) {
				return result, err
			}
			text, err := made(result, nil)
			if err == nil {
				err = output.Check(text)
			}
			return result, err
		})
	})
}

// Middleware tells the functions of Tools how tools end, for [server.WithToolHandlerMiddleware]. If a tool fails after its body has run, the next
// call is given what the body has made. Without it a tool counts as ended with the function of Tools, if AddTool of this package
// has not added it.
func Middleware(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return ended(ctx, func(ctx context.Context) (*sdk.CallToolResult, error) { return next(ctx, call) })
	}
}

// ended runs a tool, and tells how it has ended. One that requires input, or returns a link, has not ended.
func ended(ctx context.Context, run func(context.Context) (*sdk.CallToolResult, error)) (*sdk.CallToolResult, error) {
	ctx, delivery := adapter.WithDelivery(ctx)
	result, err := run(ctx)
	switch {
	case err == nil && isLink(result):
		_, err = delivery.Open("")
	case err == nil && requiresInput(result):
		open := *result
		open.RequestState, err = delivery.Open(result.RequestState)
		result = &open
	default:
		delivery.Ended(err == nil && (result == nil || !result.IsError))
	}
	return result, err
}

func isLink(result *sdk.CallToolResult) bool {
	if result == nil || result.StructuredContent == nil {
		return false
	}
	content, err := json.Marshal(result.StructuredContent)
	return err == nil && adapter.IsOpen(content)
}

func requiresInput(result *sdk.CallToolResult) bool {
	return result != nil && (result.InputRequests != nil || result.RequestState != "")
}

// inferred is the schema of a type, whose values are objects, as the protocol has it.
func inferred[Out any]() (json.RawMessage, error) {
	of := reflect.TypeFor[Out]()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	schema, err := jsonschema.ForType(of, &jsonschema.ForOptions{})
	if err != nil {
		return nil, err
	}
	if schema.Type != "object" {
		return nil, errors.New("it must be that of an object")
	}
	return json.Marshal(schema)
}

// schemaOf is the output schema of a tool, or nil.
func schemaOf(tool sdk.Tool) json.RawMessage {
	if tool.RawOutputSchema != nil || tool.OutputSchema.Type == "" {
		return tool.RawOutputSchema
	}
	schema, _ := json.Marshal(tool.OutputSchema)
	return schema
}

// outputOf is nil if the tool has no output schema, or one that cannot be used, which mcp-go does not use either.
func outputOf(tool sdk.Tool) *adapter.Output {
	text := schemaOf(tool)
	var schema jsonschema.Schema
	if text == nil || json.Unmarshal(text, &schema) != nil {
		return nil
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil
	}
	return &adapter.Output{Schema: text, Validate: resolved.Validate}
}

// calledOutput is that of the tool that is called. One of the session comes before one of the server.
func calledOutput(ctx context.Context, name string) *adapter.Output {
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithTools); ok {
		if tool, ok := session.GetSessionTools()[name]; ok {
			return outputOf(tool.Tool)
		}
	}
	if srv := server.ServerFromContext(ctx); srv != nil {
		if tool := srv.GetTool(name); tool != nil {
			return outputOf(tool.Tool)
		}
	}
	return nil
}

// Typed makes a body of one that returns an Out, which is the structured content of the result of the tool, and its text as JSON.
func Typed[Given, Out any](body func(context.Context, Given) (Out, error)) func(context.Context, Given) (*sdk.CallToolResult, error) {
	return func(ctx context.Context, given Given) (*sdk.CallToolResult, error) {
		out, err := body(ctx, given)
		if err != nil {
			return nil, err
		}
		return sdk.NewToolResultStructuredOnly(out), nil
	}
}

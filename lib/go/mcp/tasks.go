// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

const (
	// tasksExtension is what clients and servers declare.
	tasksExtension = "io.modelcontextprotocol/tasks"
	taskNameHeader = "Mcp-Name"
)

// roundKey is the key of the *adapter.TaskRound of a call, in the context of its handler.
type roundKey struct{}

// TaskOptions are those of HandleTasks.
type TaskOptions struct {
	// Owner is whose a request is: the same as of what its tools ask for. Nil: the user of the token, as with [SubjectOf].
	Owner func(*sdk.RequestExtra) urlmode.Owner
	// Required are tools that are for clients with tasks alone: others are refused with -32021.
	Required []string
}

// HandleTasks makes the calls of a server that wait into tasks, for clients that declare the extension io.modelcontextprotocol/tasks
// (SEP-2663): the call ends at once, and tasks/get, tasks/update and tasks/cancel are answered by any instance, after any restart. The tool is
// run again when its outcome is there, by the first instance that is asked, and what it returns is kept until it was read. With
// [Tools.Handler], clients can listen to their tasks, too. Nothing changes for the tools, or for other clients. It does what Middleware
// does, which need not be added. lib/node/ADAPTERS.md, "Tasks", has the rest.
func (t *Tools) HandleTasks(server *sdk.Server, o TaskOptions) error {
	if o.Owner == nil {
		o.Owner = func(extra *sdk.RequestExtra) urlmode.Owner {
			return urlmode.Owner{Subject: SubjectOf(&sdk.CallToolRequest{Extra: extra})}
		}
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		err := sdk.AddReceivingCustomMethod(server, method, func(context.Context, *sdk.ServerSession, *taskParams) (*taskAnswer, error) {
			return nil, methodNotFound() // The middleware answers it, which knows the user.
		})
		if err != nil {
			return err
		}
	}
	server.AddSendingMiddleware(acknowledge)
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		h := &taskHandler{tools: t, tasks: t.adapter.Tasks(), o: o, next: next, call: Middleware(next)}
		return h.handle
	})
	return nil
}

// taskHandler is the middleware of a server whose calls can become tasks.
type taskHandler struct {
	tools *Tools
	tasks *adapter.Tasks
	o     TaskOptions
	next  sdk.MethodHandler
	call  sdk.MethodHandler // of tools
}

// taskParams are those of all requests about tasks.
type taskParams struct {
	sdk.ParamsBase
	TaskID         any                        `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses"`
}

// taskAnswer is what a call that has become a task is answered with, and requests about tasks.
type taskAnswer struct {
	sdk.ResultBase
	*adapter.TaskDetails
	ResultType string `json:"resultType"`
}

func (h *taskHandler) handle(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
	switch of := request.(type) {
	case *sdk.CallToolRequest:
		return h.callTool(ctx, of)
	case *sdk.ServerRequest[*taskParams]:
		return h.answer(ctx, method, of)
	case *sdk.SubscriptionsListenRequest:
		return h.listen(ctx, of)
	}
	answer, err := h.next(ctx, method, request)
	if found, ok := answer.(*sdk.DiscoverResult); ok && found.Capabilities != nil {
		declaring := *found.Capabilities
		declaring.Extensions = maps.Clone(declaring.Extensions)
		declaring.AddExtension(tasksExtension, nil)
		found.Capabilities = &declaring
	}
	return answer, err
}

func (h *taskHandler) callTool(ctx context.Context, request *sdk.CallToolRequest) (sdk.Result, error) {
	params := request.Params
	if !declaresTasks(params.Meta) && slices.Contains(h.o.Required, params.Name) {
		return nil, tasksRequired()
	}
	kept := adapter.TaskedCall{Tool: params.Name, Arguments: params.Arguments, Responses: membersOf(params.InputResponses)}
	if !declaresTasks(params.Meta) || params.RequestState != "" || !kept.CanBeTask() {
		return h.call(ctx, "tools/call", request)
	}
	round := &adapter.TaskRound{}
	answer, err := h.call(context.WithValue(ctx, roundKey{}, round), "tools/call", request)
	result, ok := answer.(*sdk.CallToolResult)
	if err != nil || !ok || !round.Asks() || !requiresInput(result) {
		return answer, err
	}
	kept.State = result.RequestState
	made, err := h.tasks.Create(ctx, h.o.Owner(request.Extra), kept, round, membersOf(result.InputRequests))
	if err != nil {
		return nil, err
	}
	return &taskAnswer{TaskDetails: &made, ResultType: "task"}, nil
}

// membersOf are those of an object, as JSON.
func membersOf[T any](of T) (members map[string]json.RawMessage) {
	read(of, &members)
	return members
}

// answer answers a request about a task.
func (h *taskHandler) answer(ctx context.Context, method string, request *sdk.ServerRequest[*taskParams]) (sdk.Result, error) {
	params := request.Params
	if params == nil || !isNewer(params.Meta) {
		return nil, methodNotFound()
	}
	if !declaresTasks(params.Meta) {
		return nil, tasksRequired()
	}
	id, isID := params.TaskID.(string) // What is no string is no task.
	if named := nameIn(request.Extra); isID && named != "" && named != id {
		return nil, &jsonrpc.Error{Code: limits.RPCHeaderMismatch, Message: texts.TaskName}
	}
	asking := h.requestOf(request.Session, request.Extra, params.Meta)
	answer := &taskAnswer{ResultType: "complete"}
	var err error
	switch method {
	case "tasks/get":
		var state adapter.TaskState
		if state, err = h.tasks.Get(ctx, id, asking); err == nil {
			answer.TaskDetails = &state.TaskDetails
			h.confirm(request, state)
		}
	case "tasks/update":
		err = h.tasks.Update(ctx, id, params.InputResponses, asking)
	default:
		err = h.tasks.Cancel(ctx, id, asking.Owner)
	}
	if err != nil {
		return nil, toTaskError(err)
	}
	return answer, nil
}

// confirm confirms a result when it was written, or at once without Handler: nobody tells it then.
func (h *taskHandler) confirm(request *sdk.ServerRequest[*taskParams], state adapter.TaskState) {
	if state.Confirm == nil {
		return
	}
	_, whenWritten := h.tools.connectionOf(request.Extra, request.Session)
	if whenWritten == nil {
		state.Confirm()
		return
	}
	whenWritten(func(written bool) {
		if written {
			state.Confirm()
		}
	})
}

func (h *taskHandler) requestOf(session *sdk.ServerSession, extra *sdk.RequestExtra, meta sdk.Meta) adapter.TaskRequest {
	return adapter.TaskRequest{Owner: h.o.Owner(extra), Client: clientIn(meta), Run: func(ctx context.Context, call adapter.TaskedCall, round *adapter.TaskRound) (result, failed json.RawMessage) {
		// The run is a call like that of before, which nobody waits for.
		params := &sdk.CallToolParamsRaw{Meta: maps.Clone(meta), Name: call.Tool, Arguments: call.Arguments, RequestState: call.State}
		delete(params.Meta, "progressToken")
		read(call.Responses, &params.InputResponses)
		request := &sdk.CallToolRequest{Session: session, Params: params}
		if extra != nil {
			request.Extra = &sdk.RequestExtra{TokenInfo: extra.TokenInfo, Header: extra.Header.Clone()}
			request.Extra.Header.Del(connectionHeader)
		}
		answer, err := h.call(context.WithValue(ctx, roundKey{}, round), "tools/call", request)
		if err != nil {
			return nil, errorOf(err)
		}
		if result, err = json.Marshal(answer); err != nil {
			return nil, nil
		}
		return result, nil
	}}
}

// errorOf is an error of the protocol as JSON.
func errorOf(err error) json.RawMessage {
	of := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	errors.As(err, &of)
	made, _ := json.Marshal(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{of.Code, of.Message, of.Data})
	return made
}

// toTaskError says of a task of another user that it is not found.
func toTaskError(err error) error {
	switch {
	case errors.Is(err, adapter.ErrTaskNotFound):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: texts.TaskNotFound}
	case errors.Is(err, adapter.ErrTaskInput):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: texts.TaskResponse}
	}
	return err
}

func tasksRequired() error {
	return &jsonrpc.Error{Code: limits.RPCCapabilityMissing, Message: texts.TaskCapability,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
}

func methodNotFound() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
}

func declaresTasks(meta sdk.Meta) bool {
	if !isNewer(meta) {
		return false
	}
	declared := capabilitiesIn(meta)
	if declared == nil {
		return false
	}
	_, ok := declared.Extensions[tasksExtension].(map[string]any)
	return ok
}

func nameIn(extra *sdk.RequestExtra) string {
	if extra == nil {
		return ""
	}
	return extra.Header.Get(taskNameHeader)
}

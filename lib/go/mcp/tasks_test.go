// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
	"urlmode.example/urlmode/internal/limits"
)

// taskClient sends requests as a client with tasks does, which no client of the SDK is.
type taskClient struct {
	t       *testing.T
	handle  sdk.MethodHandler
	session *sdk.ServerSession
	meta    sdk.Meta
}

func newTaskClient(t *testing.T, tools *Tools, server *sdk.Server, o TaskOptions) *taskClient {
	t.Helper()
	if err := tools.HandleTasks(server, o); err != nil {
		t.Fatal(err)
	}
	c := &taskClient{t: t, meta: sdk.Meta{
		sdk.MetaKeyProtocolVersion: roundsSince, sdk.MetaKeyClientInfo: map[string]any{"name": "tests", "version": "1"},
		sdk.MetaKeyClientCapabilities: map[string]any{
			"elicitation": map[string]any{"url": map[string]any{}}, "extensions": map[string]any{tasksExtension: map[string]any{}}},
	}}
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		c.handle = next
		return next
	})
	_, ours := sdk.NewInMemoryTransports()
	var err error
	if c.session, err = server.Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.session.Close() })
	return c
}

func (c *taskClient) with(capabilities map[string]any) *taskClient {
	other := *c
	other.meta = maps.Clone(c.meta)
	other.meta[sdk.MetaKeyClientCapabilities] = capabilities
	return &other
}

func (c *taskClient) call() (sdk.Result, error) {
	return c.handle(c.t.Context(), "tools/call", &sdk.CallToolRequest{Session: c.session, Params: &sdk.CallToolParamsRaw{Meta: c.meta, Name: "buy"}})
}

func (c *taskClient) ask(method string, params taskParams) (*taskAnswer, error) {
	params.Meta = c.meta
	answer, err := c.handle(c.t.Context(), method, &sdk.ServerRequest[*taskParams]{Session: c.session, Params: &params})
	if err != nil {
		return nil, err
	}
	return answer.(*taskAnswer), nil
}

// begin is the id of a call that has become a task.
func (c *taskClient) begin() string {
	c.t.Helper()
	answer, err := c.call()
	made, ok := answer.(*taskAnswer)
	if err != nil || !ok || made.ResultType != "task" || made.InputRequests != nil {
		c.t.Fatalf("%+v, %v", answer, err)
	}
	return made.TaskID
}

func (c *taskClient) get(id string) *taskAnswer {
	c.t.Helper()
	answer, err := c.ask("tasks/get", taskParams{TaskID: id})
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// end is how a task has ended.
func (c *taskClient) end(id string) (ended *taskAnswer) {
	c.t.Helper()
	adaptertest.Until(c.t, "the task has ended", func() bool {
		ended = c.get(id)
		return !ended.IsOpen()
	})
	return ended
}

func (c *taskClient) update(id, key, answer string) {
	c.t.Helper()
	if _, err := c.ask("tasks/update", taskParams{TaskID: id, InputResponses: map[string]json.RawMessage{key: json.RawMessage(answer)}}); err != nil {
		c.t.Fatal(err)
	}
}

func ofUser(me urlmode.Owner) TaskOptions {
	return TaskOptions{Owner: func(*sdk.RequestExtra) urlmode.Owner { return me }}
}

func codeOf(err error) int64 {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return wire.Code
	}
	return 0
}

// What a body asks for itself is asked by the task, under keys of its own, and the body goes on with the answers, on any instance.
func TestTaskOfABodyThatAsksItself(t *testing.T) {
	w, p := &writer{questions: []string{"colour", "size"}}, &payer{t: t, me: adaptertest.Someone()}
	of := []*Tools{New(adaptertest.Open(t), Options{}), New(adaptertest.Open(t), Options{})}
	through, calls := upstream(t, w), atomic.Int32{}
	c := newTaskClient(t, of[0], serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return of[calls.Add(1)%2].ElicitURL(ctx, call, toolRequest(p.me, "the text"), func(ctx context.Context, _ Accepted) (*sdk.CallToolResult, error) {
			return through.CallTool(ctx, &sdk.CallToolParams{Name: "write", RequestState: call.Params.RequestState, InputResponses: call.Params.InputResponses})
		})
	}), ofUser(p.me))
	id := c.begin()
	if keys := slices.Collect(maps.Keys(c.get(id).InputRequests)); !slices.Equal(keys, []string{"1.urlmode"}) {
		t.Fatalf("it is asked for %v", keys)
	}
	adaptertest.PayFor(t, adaptertest.Open(t), p.me)
	for _, question := range w.questions {
		var key string
		adaptertest.Until(t, "it is asked for "+question, func() bool {
			for each := range c.get(id).InputRequests {
				key = each
			}
			return key != "" && key[len(key)-len(question):] == question
		})
		if listed := adaptertest.UnclaimedOf(t, adaptertest.Open(t), p.me); len(listed) != 0 {
			t.Fatalf("between the rounds it is listed as unclaimed: %v", listed)
		}
		c.update(id, key, `{"action":"accept","content":{"`+question+`":"a `+question+`"}}`)
	}
	ended := c.end(id)
	var result sdk.CallToolResult
	if err := json.Unmarshal(ended.Result, &result); err != nil || ended.Status != "completed" || said(&result) != "Written." || !slices.Equal(w.states, []string{"", "colour", "size"}) {
		t.Fatalf("%s %s, %v, with the states %v", ended.Status, ended.Result, err, w.states)
	}
}

// A run that has failed before its body, for a reason that passes, ends no task: the next one who asks tries again.
func TestTaskOfARunThatFailsBeforeItsBody(t *testing.T) {
	p, m := &payer{t: t, me: adaptertest.Someone()}, adaptertest.Open(t)
	tools := New(m, Options{})
	var calls, runs atomic.Int32
	c := newTaskClient(t, tools, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		if calls.Add(1) == 2 {
			end()
		}
		return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(context.Context, Accepted) (*sdk.CallToolResult, error) {
			runs.Add(1)
			return text("Done."), nil
		})
	}), ofUser(p.me))
	id := c.begin()
	adaptertest.PayFor(t, m, p.me)
	if got := c.end(id); got.Status != "completed" || calls.Load() != 3 || runs.Load() != 1 {
		t.Fatalf("%s %s, after %d calls and %d runs", got.Status, got.Error, calls.Load(), runs.Load())
	}
	// Nobody tells without Handler whether the answer was written.
	adaptertest.Until(t, "it is delivered", func() bool {
		listed, err := m.Undelivered(t.Context(), urlmode.ListOptions{})
		return err == nil && !slices.ContainsFunc(listed, func(each urlmode.UndeliveredClaim) bool { return each.Owner.Subject == p.me.Subject })
	})
}

// What the tool returns ends the task whatever it is: also what cannot be written as JSON, or its error.
func TestTaskOfAResultThatCannotBeKept(t *testing.T) {
	p, m := &payer{t: t, me: adaptertest.Someone()}, adaptertest.Open(t)
	tools := New(m, Options{})
	for what, tool := range map[string]func(*sdk.CallToolResult) (*sdk.CallToolResult, error){
		"a channel": func(made *sdk.CallToolResult) (*sdk.CallToolResult, error) {
			made.Meta = sdk.Meta{"channel": make(chan int)}
			return made, nil
		},
		"an error of the protocol": func(*sdk.CallToolResult) (*sdk.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: -32000, Message: "It is broken.", Data: json.RawMessage(`{"a":1}`)}
		},
	} {
		var runs atomic.Int32
		c := newTaskClient(t, tools, serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			result, err := tools.ElicitURL(ctx, call, toolRequest(p.me, what), func(context.Context, Accepted) (*sdk.CallToolResult, error) { return text("Done."), nil })
			if err != nil || result.InputRequests != nil {
				return result, err
			}
			runs.Add(1)
			return tool(result)
		}), ofUser(p.me))
		id := c.begin()
		adaptertest.PayFor(t, m, p.me)
		got := c.end(id)
		want := map[string]string{"a channel": `{"code":-32603,"message":"The result of the tool cannot be kept: call the tool without a task"}`,
			"an error of the protocol": `{"code":-32000,"message":"It is broken.","data":{"a":1}}`}[what]
		if got.Status != "failed" || string(got.Error) != want || c.get(id).Status != "failed" || runs.Load() != 1 {
			t.Errorf("%s: %s %s, after %d runs", what, got.Status, got.Error, runs.Load())
		}
	}
}

// A client without the extension gets no task, and can be refused. Older ones know no tasks at all. The server says that it has them.
func TestClientsWithoutTasks(t *testing.T) {
	p := &payer{t: t, me: adaptertest.Someone()}
	tools := New(adaptertest.Open(t), Options{})
	buy := func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(context.Context, Accepted) (*sdk.CallToolResult, error) { return text("Done."), nil })
	}
	with := newTaskClient(t, tools, serverOf(buy), ofUser(p.me))
	without := with.with(map[string]any{"elicitation": map[string]any{"url": map[string]any{}}})
	if answer, err := without.call(); err != nil || answer.(*sdk.CallToolResult).InputRequests == nil {
		t.Errorf("%+v, %v", answer, err)
	}
	required := ofUser(p.me)
	required.Required = []string{"buy"}
	refused := newTaskClient(t, tools, serverOf(buy), required)
	if _, err := refused.with(map[string]any{}).call(); codeOf(err) != limits.RPCCapabilityMissing {
		t.Error(err)
	}
	id := refused.begin()
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		if _, err := without.ask(method, taskParams{TaskID: id}); codeOf(err) != limits.RPCCapabilityMissing {
			t.Errorf("%s: %v", method, err)
		}
		older := with.with(nil)
		older.meta[sdk.MetaKeyProtocolVersion] = "2025-11-25"
		if _, err := older.ask(method, taskParams{TaskID: id}); codeOf(err) != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: %v", method, err)
		}
	}
	server := serverOf(buy)
	if err := tools.HandleTasks(server, TaskOptions{}); err != nil {
		t.Fatal(err)
	}
	session := connect(t, p, server, false)
	if declared := session.InitializeResult().Capabilities; declared == nil || declared.Extensions[tasksExtension] == nil {
		t.Errorf("the server declares %+v", declared)
	}
}

// A user listens with so many clients at a time, and takes no place of another.
func TestPlacesOfThoseWhoListen(t *testing.T) {
	tools := New(nil, Options{})
	for n := range limits.TaskListensMax {
		user := "a"
		if n >= limits.TaskOwnerListensMax {
			user = strconv.Itoa(n)
		}
		if !tools.beginListen(user) {
			t.Fatalf("%d may not listen", n)
		}
		if n == limits.TaskOwnerListensMax-1 && tools.beginListen("a") {
			t.Fatal("the user has no place left")
		}
	}
	if tools.beginListen("b") {
		t.Fatal("there is no place left")
	}
	tools.endListen("a")
	if !tools.beginListen("b") {
		t.Fatal("there is a place")
	}
}

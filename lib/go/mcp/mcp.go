// SPDX-License-Identifier: MIT

// Package mcp is the adapter for the official Go SDK (github.com/modelcontextprotocol/go-sdk, 1.7 and later): protocol
// revisions 2025-11-25 and 2026-07-28.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
)

// These types are those of package adapter.
type (
	ToolRequest         = adapter.ToolRequest
	InputToolRequest    = adapter.InputToolRequest
	ApprovalToolRequest = adapter.ApprovalToolRequest
	ApprovalLink        = adapter.ApprovalLink
	AccountToolRequest  = adapter.AccountToolRequest
	PaidToolRequest     = adapter.PaidToolRequest
	Accepted            = adapter.Accepted
	Options             = adapter.Options
	ClientFacts         = adapter.ClientFacts
)

// Body does what the user has agreed to. See [adapter.Body].
type Body func(context.Context, Accepted) (*sdk.CallToolResult, error)

// AccountBody uses an account. See [adapter.AccountBody].
type AccountBody func(context.Context, urlmode.AccessToken) (*sdk.CallToolResult, error)

const roundsSince = "2026-07-28"

// PaidBody does what a user has subscribed to. See [adapter.PaidBody].
type PaidBody func(context.Context, urlmode.Entitlement) (*sdk.CallToolResult, error)

// Tools asks the users of tool calls. It is safe for use by any number of goroutines.
type Tools struct {
	adapter *adapter.Adapter

	mu          sync.Mutex
	lives       map[*sdk.ServerSession]context.Context // of the sessions that have asked their users
	connections map[string]*connection                 // of the HTTP requests with calls, by connectionHeader
	listens     map[string]int                         // how many clients listen to tasks, by their users
}

// New makes Tools. Nothing needs to be closed but the instance.
func New(instance *urlmode.Instance, o Options) *Tools {
	return &Tools{adapter: adapter.New(instance, o), lives: map[*sdk.ServerSession]context.Context{}, connections: map[string]*connection{},
		listens: map[string]int{}}
}

// ElicitURL asks the user of a call to open a page, waits for at most one round, and runs the body if the user has
// accepted. The tool returns what it returns: without an outcome, the result says what has happened, or what to do next.
//
// Errors: those of the body, of Request.Target and Recheck; [urlmode.ErrClientGone]; a *jsonrpc.Error for a requestState that is
// not valid; the cause of the context.
func (t *Tools) ElicitURL(ctx context.Context, call *sdk.CallToolRequest, request ToolRequest, body Body) (*sdk.CallToolResult, error) {
	return answer(ctx)(t.adapter.Elicit(ctx, t.callOf(ctx, call), request, bodyOf(body)))
}

// RequireURL is ElicitURL, but a client of 2025-11-25 gets the error -32042 with the URL, and no request.
func (t *Tools) RequireURL(ctx context.Context, call *sdk.CallToolRequest, request ToolRequest, body Body) (*sdk.CallToolResult, error) {
	return answer(ctx)(t.adapter.Require(ctx, t.callOf(ctx, call), request, bodyOf(body)))
}

// CollectInput asks the user to type something on a page that neither the client nor the model sees, and runs the body with
// the Values. The rest is as with ElicitURL.
func (t *Tools) CollectInput(ctx context.Context, call *sdk.CallToolRequest, request InputToolRequest, body Body) (*sdk.CallToolResult, error) {
	return answer(ctx)(t.adapter.CollectInput(ctx, t.callOf(ctx, call), request, bodyOf(body)))
}

// AskApproval asks for a decision of the user, or of others, and runs the body if somebody approves. A call that asks others ends
// with the link for them, and the next one finds the decision. The rest is as with ElicitURL.
func (t *Tools) AskApproval(ctx context.Context, call *sdk.CallToolRequest, request ApprovalToolRequest, body Body) (*sdk.CallToolResult, error) {
	return answer(ctx)(t.adapter.AskApproval(ctx, t.callOf(ctx, call), request, bodyOf(body)))
}

// UseAccount runs the body with a token of the user's account, which a vault keeps. It asks the user only where that is necessary. See
// [adapter.Adapter.UseAccount]. The rest is as with ElicitURL.
func (t *Tools) UseAccount(ctx context.Context, call *sdk.CallToolRequest, request AccountToolRequest, body AccountBody) (*sdk.CallToolResult, error) {
	return answer(ctx)(t.adapter.UseAccount(ctx, t.callOf(ctx, call), request, func(ctx context.Context, token urlmode.AccessToken) (json.RawMessage, error) {
		return made(body(ctx, token))
	}))
}

// RequirePaid runs the body for a user who has subscribed to the item, and asks the others for a subscription. See
// [adapter.Adapter.RequirePaid]. The rest is as with ElicitURL.
func (t *Tools) RequirePaid(ctx context.Context, call *sdk.CallToolRequest, request PaidToolRequest, body PaidBody) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.RequirePaid(ctx, t.callOf(ctx, call), request, func(ctx context.Context, entitlement urlmode.Entitlement) (json.RawMessage, error) {
		return made(body(ctx, entitlement))
	}))
}

func bodyOf(body Body) adapter.Body {
	return func(ctx context.Context, accepted Accepted) (json.RawMessage, error) {
		return made(body(ctx, accepted))
	}
}

func made(result *sdk.CallToolResult, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	if result == nil {
		result = &sdk.CallToolResult{}
	}
	return json.Marshal(result)
}

// answer is toResult, and tells Middleware what was answered.
func answer(ctx context.Context) func(adapter.End, error) (*sdk.CallToolResult, error) {
	return func(end adapter.End, err error) (*sdk.CallToolResult, error) {
		result, err := toResult(end, err)
		if err != nil {
			return nil, err
		}
		if given, ok := ctx.Value(answeredKey{}).(*answered); ok {
			given.remember(result)
		}
		return result, nil
	}
}

func toResult(end adapter.End, err error) (*sdk.CallToolResult, error) {
	if err != nil {
		return nil, toError(err)
	}
	if end.State != "" && end.Result != nil {
		asks := &sdk.CallToolResult{}
		err := json.Unmarshal(end.Result, asks)
		if asks.RequestState = end.State; asks.InputRequests == nil {
			asks.InputRequests = sdk.InputRequestMap{}
		}
		return asks, err
	}
	if end.State != "" {
		// An empty map is a result that requires input, too; no map is none.
		required := &sdk.CallToolResult{RequestState: end.State, InputRequests: sdk.InputRequestMap{}}
		if end.Ask != nil {
			required.InputRequests[adapter.InputKey] = &sdk.ElicitParams{Mode: "url", Message: end.Ask.Message, URL: end.Ask.URL}
		}
		return required, nil
	}
	result := &sdk.CallToolResult{}
	return result, json.Unmarshal(end.Result, result)
}

func toError(err error) error {
	var required *adapter.RequiredError
	switch {
	case errors.As(err, &required):
		ask := required.Ask
		err := sdk.URLElicitationRequiredError([]*sdk.ElicitParams{{Mode: "url", ElicitationID: ask.ElicitationID, URL: ask.URL, Message: ask.Message}})
		if wire := new(jsonrpc.Error); errors.As(err, &wire) {
			wire.Message = required.Message
		}
		return err
	case errors.Is(err, urlmode.ErrRequestState):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error(), Data: adapter.RequestStateData(err)}
	}
	return err
}

// SubjectOf is the user of a call, as your token verifier has said it (UserID of its TokenInfo), for [urlmode.Owner]. It is empty without HTTP
// authentication: then an Owner without another subject is refused ([urlmode.ErrArgument]).
func SubjectOf(call *sdk.CallToolRequest) string {
	if call.Extra == nil || call.Extra.TokenInfo == nil {
		return ""
	}
	return call.Extra.TokenInfo.UserID
}

func (t *Tools) callOf(ctx context.Context, call *sdk.CallToolRequest) adapter.Call {
	if ctx == nil { // The adapter refuses it.
		ctx = context.Background()
	}
	described := t.describe(call)
	described.Task, _ = ctx.Value(roundKey{}).(*adapter.TaskRound)
	described.Output, _ = ctx.Value(outputKey{}).(*adapter.Output)
	described.WhenEnded, described.WhenPassed = adapter.WhenEnded(ctx), adapter.WhenPassed(ctx)
	described.Hand = func(state string, isForeign bool) { hand(call, state, isForeign) }
	return described
}

// hand leaves of what the client has sent only what is not ours, for the body, and for what the tool asks after it.
func hand(call *sdk.CallToolRequest, state string, isForeign bool) {
	left := *call.Params
	if left.RequestState = state; !isForeign {
		left.InputResponses = maps.Clone(left.InputResponses)
		delete(left.InputResponses, adapter.InputKey)
	}
	call.Params = &left
}

func (t *Tools) describe(call *sdk.CallToolRequest) adapter.Call {
	connected, whenWritten := t.connectionOf(call.Extra, call.Session)
	described := adapter.Call{Connection: connected, WhenWritten: whenWritten, Traceparent: urlmode.TraceparentOf(call.Params.Meta["traceparent"])}
	if call.Extra != nil && call.Extra.TokenInfo != nil {
		described.ClientID, _ = call.Extra.TokenInfo.Extra["client_id"].(string)
	}
	if token := call.Params.GetProgressToken(); token != nil {
		described.Progress = func(ctx context.Context, count float64, message string) error {
			// Where nobody reads the stream this fails, and the SDK does not tell why. Handler knows who is gone.
			call.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: count, Message: message})
			return nil
		}
	}
	if isNewer(call.Params.Meta) {
		described.Client = clientIn(call.Params.Meta)
		described.Retry = &adapter.RetriedCall{State: call.Params.RequestState}
		if answer, ok := call.Params.InputResponses[adapter.InputKey].(*sdk.ElicitResult); ok {
			described.Retry.Answer = answer.Action
		}
	} else if params := call.Session.InitializeParams(); params != nil {
		described.Client = clientOf(params.ClientInfo, params.Capabilities)
		described.Channel = t.channelOf(call.Session)
		if call.Params.RequestState != "" { // The SDK has asked for what a body requires.
			described.Retry = &adapter.RetriedCall{State: call.Params.RequestState}
		}
	}
	return described
}

// isNewer reports whether a request is of a revision without sessions: each says who its client is.
func isNewer(meta sdk.Meta) bool {
	version, _ := meta[sdk.MetaKeyProtocolVersion].(string)
	return version >= roundsSince
}

func clientIn(meta sdk.Meta) adapter.Client {
	var info *sdk.Implementation
	read(meta[sdk.MetaKeyClientInfo], &info)
	return clientOf(info, capabilitiesIn(meta))
}

func capabilitiesIn(meta sdk.Meta) (declared *sdk.ClientCapabilities) {
	read(meta[sdk.MetaKeyClientCapabilities], &declared)
	return declared
}

func clientOf(info *sdk.Implementation, declared *sdk.ClientCapabilities) (client adapter.Client) {
	if info != nil {
		client.Name, client.Version = info.Name, info.Version
	}
	client.URL = declared != nil && declared.Elicitation != nil && declared.Elicitation.URL != nil
	return client
}

// read reads a value of _meta, which is what JSON becomes, or a pointer in a call within one process.
func read(value, into any) {
	if text, err := json.Marshal(value); err == nil {
		json.Unmarshal(text, into)
	}
}

// notifier is a session from version 1.8 on. The client of an older server learns at its next call how it ended.
type notifier interface {
	NotifyElicitationComplete(context.Context, *sdk.ElicitationCompleteParams) error
}

func (t *Tools) channelOf(session *sdk.ServerSession) *adapter.Channel {
	channel := &adapter.Channel{
		Session: session,
		Life:    t.lifeOf(session),
		Request: func(ctx context.Context, ask adapter.Ask) (string, error) {
			answer, err := session.Elicit(ctx, &sdk.ElicitParams{Mode: "url", Message: ask.Message, URL: ask.URL, ElicitationID: ask.ElicitationID})
			if err != nil {
				return "", err
			}
			return answer.Action, nil
		},
		IsGone: func(err error) bool { return errors.Is(err, sdk.ErrConnectionClosed) },
	}
	if notifier, ok := any(session).(notifier); ok {
		channel.Complete = func(ctx context.Context, id string) error {
			return notifier.NotifyElicitationComplete(ctx, &sdk.ElicitationCompleteParams{ElicitationID: id})
		}
		channel.CompleteLater = channel.Complete // whose context is of no call
	}
	return channel
}

// lifeOf ends with the session.
func (t *Tools) lifeOf(session *sdk.ServerSession) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if life, ok := t.lives[session]; ok {
		return life
	}
	life, end := context.WithCancel(context.Background())
	t.lives[session] = life
	go func() {
		session.Wait()
		end()
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.lives, session)
	}()
	return life
}

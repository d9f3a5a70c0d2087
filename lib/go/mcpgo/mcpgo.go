// SPDX-License-Identifier: MIT

// Package mcpgo is the adapter for mcp-go (github.com/mark3labs/mcp-go, 1.2 and later): protocol revisions 2025-11-25 and
// 2026-07-28.
package mcpgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
	"urlmode.example/urlmode/internal/responses"
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

// PaidBody does what a user has subscribed to. See [adapter.PaidBody].
type PaidBody func(context.Context, urlmode.Entitlement) (*sdk.CallToolResult, error)

// Tools asks the users of tool calls. It is safe for use by any number of goroutines.
type Tools struct {
	adapter *adapter.Adapter

	mu    sync.Mutex
	lives map[string]life // of the sessions that the server has registered
}

// life is that of a registered session. It ends when the session is registered no more, and gone when its client is gone.
type life struct {
	session server.ClientSession
	ctx     context.Context
	end     context.CancelFunc
	gone    context.Context
	leave   context.CancelFunc
}

// New makes Tools. Nothing needs to be closed but the instance.
func New(instance *urlmode.Instance, o Options) *Tools {
	return &Tools{adapter: adapter.New(instance, o), lives: map[string]life{}}
}

type answerKey struct{}

// Handler tells the tools whether their answers were written, around the handler of the server. Without it an answer counts as written
// when its tool has ended: a client whose connection ends while it reads a large one has paid for nothing. Where the server has an event
// store, a client whose stream has ended can resume it, so that its call goes on until it is cancelled, or its session has ended.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, isServed := &adapter.Answer{}, false
		isThere := func() bool { return r.Context().Err() == nil }
		isSent := isThere
		defer func() { answer.End(isServed && isSent()) }()
		ctx := context.WithValue(r.Context(), answerKey{}, answer)
		if _, ok := w.(http.Flusher); ok && r.Method == http.MethodPost {
			stream := &stream{Writer: responses.Writer{ResponseWriter: w, IsThere: isThere}}
			isSent = stream.IsSent
			resumable, end := context.WithCancelCause(context.WithoutCancel(ctx))
			defer end(nil)
			defer context.AfterFunc(ctx, func() {
				if !stream.hasEvents.Load() {
					end(context.Cause(ctx))
				}
			})()
			w, ctx = stream, resumable
		}
		next.ServeHTTP(w, r.WithContext(ctx))
		isServed = true
	})
}

// stream is the response to a call. An event has an id where there is an event store: by it, the client can resume the stream.
type stream struct {
	responses.Writer
	hasEvents atomic.Bool
}

func (s *stream) Write(event []byte) (int, error) {
	if bytes.HasPrefix(event, []byte("id:")) {
		s.hasEvents.Store(true)
	}
	return s.Writer.Write(event)
}

// Flush is for the SDK.
func (s *stream) Flush() { _ = s.FlushError() }

// AddHooks tells the tools of the sessions that the server registers: their clients are told that an elicitation is
// completed also after the end of the call. Without it, and for a session that is not registered, nothing is kept between calls. It lets
// [Tools.ElicitResource] ask clients of protocol revision 2026-07-28.
func (t *Tools) AddHooks(hooks *server.Hooks) {
	addResourceHooks(hooks)
	hooks.AddOnRegisterSession(func(_ context.Context, session server.ClientSession) {
		ctx, end := context.WithCancel(context.Background())
		gone, leave := context.WithCancel(context.Background())
		t.mu.Lock()
		defer t.mu.Unlock()
		if before, ok := t.lives[session.SessionID()]; ok {
			before.end()
		}
		t.lives[session.SessionID()] = life{session, ctx, end, gone, leave}
	})
	hooks.AddOnUnregisterSession(func(ctx context.Context, session server.ClientSession) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if known, ok := t.lives[session.SessionID()]; ok && known.session == session {
			known.end()
			// Over streamable HTTP, a client that no longer listens by GET may wait for its calls. Each has its own context.
			if _, isStreamable := session.(server.SessionWithStreamableHTTPConfig); !isStreamable || ctx.Err() == nil {
				known.leave()
			}
			delete(t.lives, session.SessionID())
		}
	})
}

// ElicitURL asks the user of a call to open a page, waits for at most one round, and runs the body if the user has
// accepted. The tool returns what it returns: without an outcome, the result says what has happened, or what to do next.
//
// Errors: those of the body, of Request.Target and Recheck; [urlmode.ErrRequestState], [urlmode.ErrClientGone]; the cause of
// the context.
func (t *Tools) ElicitURL(ctx context.Context, call sdk.CallToolRequest, request ToolRequest, body Body) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.Elicit(ctx, t.describe(ctx, call), request, bodyOf(body)))
}

// RequireURL is ElicitURL, but a client of 2025-11-25 gets the error -32042 with the URL, and no request.
func (t *Tools) RequireURL(ctx context.Context, call sdk.CallToolRequest, request ToolRequest, body Body) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.Require(ctx, t.describe(ctx, call), request, bodyOf(body)))
}

// CollectInput asks the user to type something on a page that neither the client nor the model sees, and runs the body with
// the Values. The rest is as with ElicitURL.
func (t *Tools) CollectInput(ctx context.Context, call sdk.CallToolRequest, request InputToolRequest, body Body) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.CollectInput(ctx, t.describe(ctx, call), request, bodyOf(body)))
}

// AskApproval asks for a decision of the user, or of others, and runs the body if somebody approves. A call that asks others ends
// with the link for them, and the next one finds the decision. The rest is as with ElicitURL.
func (t *Tools) AskApproval(ctx context.Context, call sdk.CallToolRequest, request ApprovalToolRequest, body Body) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.AskApproval(ctx, t.describe(ctx, call), request, bodyOf(body)))
}

// UseAccount runs the body with a token of the user's account, which a vault keeps. It asks the user only where that is necessary. See
// [adapter.Adapter.UseAccount]. The rest is as with ElicitURL.
func (t *Tools) UseAccount(ctx context.Context, call sdk.CallToolRequest, request AccountToolRequest, body AccountBody) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.UseAccount(ctx, t.describe(ctx, call), request, func(ctx context.Context, token urlmode.AccessToken) (json.RawMessage, error) {
		return made(body(ctx, token))
	}))
}

// RequirePaid runs the body for a user who has subscribed to the item, and asks the others for a subscription. See
// [adapter.Adapter.RequirePaid]. The rest is as with ElicitURL.
func (t *Tools) RequirePaid(ctx context.Context, call sdk.CallToolRequest, request PaidToolRequest, body PaidBody) (*sdk.CallToolResult, error) {
	return toResult(t.adapter.RequirePaid(ctx, t.describe(ctx, call), request, func(ctx context.Context, entitlement urlmode.Entitlement) (json.RawMessage, error) {
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
	if result.Content == nil {
		result.Content = []sdk.Content{}
	}
	return json.Marshal(result)
}

func toResult(end adapter.End, err error) (*sdk.CallToolResult, error) {
	var required *adapter.RequiredError
	if errors.As(err, &required) {
		return nil, &requiredError{sdk.URLElicitationRequiredError{Elicitations: []sdk.ElicitationParams{paramsOf(required.Ask, required.Ask.ElicitationID)}},
			required.Message}
	}
	if err != nil {
		return nil, err
	}
	if end.State != "" && end.Result != nil {
		asks := &sdk.CallToolResult{}
		err := json.Unmarshal(end.Result, asks)
		asks.ResultType, asks.RequestState = sdk.ResultTypeInputRequired, end.State
		return asks, err
	}
	if end.State != "" {
		requests := server.NewInputRequestBuilder(end.State)
		if end.Ask != nil {
			// From this revision on a request has no id.
			requests.Elicit(adapter.InputKey, paramsOf(*end.Ask, ""))
		}
		return requests.ToolResult(), nil
	}
	result := &sdk.CallToolResult{}
	return result, json.Unmarshal(end.Result, result)
}

// requiredError is that of the SDK with a message of ours.
type requiredError struct {
	of      sdk.URLElicitationRequiredError
	message string
}

func (e *requiredError) Error() string { return e.message }

func (e *requiredError) Unwrap() error { return e.of }

func paramsOf(ask adapter.Ask, id string) sdk.ElicitationParams {
	return sdk.ElicitationParams{Mode: sdk.ElicitationModeURL, Message: ask.Message, ElicitationID: id, URL: ask.URL}
}

// CallOf is a call as a body sees it that asks for something itself, or passes on what a server behind it asks for: with the requestState and the
// answers that are its own, and without those of this package. ctx is the context of the body.
func CallOf(ctx context.Context, call sdk.CallToolRequest) sdk.CallToolRequest {
	if state, isForeign, ok := adapter.HandedTo(ctx); ok {
		if call.Params.RequestState = state; !isForeign {
			call.Params.InputResponses = maps.Clone(call.Params.InputResponses)
			delete(call.Params.InputResponses, adapter.InputKey)
		}
	}
	return call
}

func (t *Tools) describe(ctx context.Context, call sdk.CallToolRequest) adapter.Call {
	if ctx == nil { // The adapter refuses it.
		ctx = context.Background()
	}
	srv, session := server.ServerFromContext(ctx), server.ClientSessionFromContext(ctx)
	call = CallOf(ctx, call)
	described := adapter.Call{Output: calledOutput(ctx, call.Params.Name), WhenEnded: adapter.WhenEnded(ctx), WhenPassed: adapter.WhenPassed(ctx)}
	if answer, ok := ctx.Value(answerKey{}).(*adapter.Answer); ok {
		described.WhenWritten = answer.WhenWritten
	}
	if meta := call.Params.Meta; meta != nil {
		described.Traceparent = urlmode.TraceparentOf(meta.AdditionalFields["traceparent"])
	}
	if meta := call.Params.Meta; meta != nil && meta.ProgressToken != nil && srv != nil {
		described.Progress = func(ctx context.Context, count float64, message string) error {
			// It fails where the client does not read, who need not be gone.
			srv.SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": meta.ProgressToken, "progress": count, "message": message})
			return nil
		}
	}
	var info sdk.Implementation
	var capabilities sdk.ClientCapabilities
	if modern := server.RequestProtocolInfoFromContext(ctx); modern != nil && modern.Modern {
		// Each call says who its client is.
		if modern.ClientInfo != nil {
			info = *modern.ClientInfo
		}
		if modern.ClientCapabilities != nil {
			capabilities = *modern.ClientCapabilities
		}
		described.Retry = &adapter.RetriedCall{State: call.Params.RequestState}
		if answer := server.ElicitationResponse(call.Params.InputResponses, adapter.InputKey); answer != nil {
			described.Retry.Answer = string(answer.Action)
		}
	} else if known, ok := session.(server.SessionWithClientInfo); ok && srv != nil {
		info, capabilities = known.GetClientInfo(), known.GetClientCapabilities()
		described.Channel, described.Connection = t.channelOf(srv, session)
		if call.Params.RequestState != "" { // The SDK has asked for what a body requires.
			described.Retry = &adapter.RetriedCall{State: call.Params.RequestState}
		}
	}
	described.Client = adapter.Client{Name: info.Name, Version: info.Version,
		URL: capabilities.Elicitation != nil && capabilities.Elicitation.URL != nil}
	return described
}

// channelOf also returns what ends when the client is gone.
func (t *Tools) channelOf(srv *server.MCPServer, session server.ClientSession) (*adapter.Channel, context.Context) {
	channel := &adapter.Channel{
		Request: func(ctx context.Context, ask adapter.Ask) (string, error) {
			answer, err := srv.RequestURLElicitation(ctx, session, ask.ElicitationID, ask.URL, ask.Message)
			if err != nil {
				return "", err
			}
			return string(answer.Action), nil
		},
		Complete: func(ctx context.Context, id string) error { return srv.SendElicitationComplete(ctx, session, id) },
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// A client may choose the id of a session that nobody has registered: nothing is kept for it.
	if known, ok := t.lives[session.SessionID()]; ok {
		channel.Session, channel.Life = known.session, known.ctx
		channel.CompleteLater = func(ctx context.Context, id string) error { return srv.SendElicitationComplete(ctx, known.session, id) }
		return channel, known.gone
	}
	return channel, nil
}

// SPDX-License-Identifier: MIT

// Package adapter is what the adapters for MCP SDKs in Go share: it asks the user of a tool call in the way that its
// client takes, waits, claims the outcome, and runs the body of the tool under that claim. Tools use
// urlmode.example/urlmode/mcp or urlmode.example/urlmode/mcpgo. An adapter for another SDK describes its calls as a
// [Call]. lib/node/ADAPTERS.md has the table of how a call can end.
package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
)

// InputKey is the key of the request in a result that requires input.
const InputKey = "urlmode"

const (
	// afterwards is how long a step may take that no call waits for.
	afterwards = 10 * time.Second
)

// Options are those of an Adapter. The zero value is useful.
type Options struct {
	// Clients are facts about clients that they do not declare. They take precedence over those of clients.json.
	Clients []ClientFacts
	// ProgressEvery is how often a call that waits sends progress: 15 seconds by default.
	ProgressEvery time.Duration
}

// Adapter asks the users of an Instance. It is safe for use by any number of goroutines.
type Adapter struct {
	instance *urlmode.Instance
	options  Options
	notices  notices
}

// New makes an Adapter. Nothing needs to be closed but the instance. It panics if the Ask of a client is none of the ways.
func New(instance *urlmode.Instance, o Options) *Adapter {
	for _, each := range o.Clients {
		if !slices.Contains([]ClientAsk{"", AskByRequest, AskByError, AskAsText}, each.Ask) {
			panic(fmt.Sprintf("New: client %q: Ask must be request, error or text, and is %q", each.Name, each.Ask))
		}
	}
	if o.ProgressEvery <= 0 {
		o.ProgressEvery = limits.Heartbeat
	}
	return &Adapter{instance: instance, options: o, notices: notices{sessions: map[any]map[string]*notice{}}}
}

// ToolRequest is what a tool asks its user for.
type ToolRequest struct {
	// Request is that of [urlmode.Instance.Create]. ResumeKey is [urlmode.DefaultResumeKey] if it is empty, and Traceparent is that of
	// the call. So is ClientID with the official SDK, if the token verifier sets client_id (RFC 7662) in TokenInfo.Extra; mcp-go does
	// not tell it.
	urlmode.Request
	// Message tells the user and the model what is asked for, and why. It is required.
	Message string
	// Recheck asks the provider about an event that proves nothing. See [urlmode.WaitOptions].
	Recheck func(context.Context, urlmode.Recheck) (*urlmode.Answer, error)
	// Round is how long a call waits: 45 seconds by default.
	Round time.Duration
}

// Accepted is what the body of a tool gets. Values of the Outcome are what a user has typed, and Approver, Comment and DecidedAt
// are of a decision.
type Accepted struct {
	urlmode.Outcome
	// ReturnURL is the redirect URI of the authorization request. Forms have none.
	ReturnURL string
	// Fence is greater than that of each call before, of a payment or signature.
	Fence int64
}

// Body does what the user has agreed to, and returns the result of the tool as JSON. Its context ends when another call may
// have begun the same (its cause is [urlmode.ErrClaimLost]), or when all that was paid went back ([urlmode.ErrClaimRefunded]). The end of the call does not end it: the next call gets its result. If it fails, or if its result is an error or
// does not fit the output schema of the tool, the next call runs it again. A result that requires input, of protocol revision 2026-07-28, goes to the client
// as it is: the body runs again in the next call, with the claim of this one, and finds its own requestState and the answers (see [HandedTo]). That of
// an account cannot: its code is good once.
type Body func(context.Context, Accepted) (json.RawMessage, error)

// End is how a call ends.
type End struct {
	// Result is the result of the tool, as it is sent to the client.
	Result json.RawMessage
	// State and Ask are set instead in a result that requires input. Without Ask, the client waits, and calls again. With a Result, it is
	// what a body asks for itself: its requests are passed on as they are, with State in place of its own requestState.
	State string
	Ask   *Ask
}

// Refusal is what a call says in place of the result of a body, such as its link: of a prompt or a resource, whose results are none of a tool, it is the
// error, and data what that has. ok is false if a body has made the Result, or the client is asked.
func (e End) Refusal() (text string, data json.RawMessage, ok bool) {
	var said struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if e.State != "" || json.Unmarshal(e.Result, &said) != nil || said.Content == nil {
		return "", nil, false
	}
	texts := make([]string, len(said.Content))
	for i, each := range said.Content {
		texts[i] = each.Text
	}
	return strings.Join(texts, "\n"), said.StructuredContent, true
}

// Ask is a request to a user.
type Ask struct {
	ElicitationID string // of which elicitation
	URL           string // the address
	Message       string // what the user reads
}

// RequiredError ends a call with the error -32042: the client sends its user to the URL itself. One that takes it for a failure shows the
// Message to the model, which is the text with the link.
type RequiredError struct {
	Ask     Ask // what the user must do first
	Message string
}

func (e *RequiredError) Error() string {
	return fmt.Sprintf("the user must first complete elicitation %s", e.Ask.ElicitationID)
}

// Elicit asks the user of a call, waits for at most one round, and runs the body if the user has accepted.
//
// Errors: those of the body, of Request.Target and Recheck; [urlmode.ErrRequestState], [urlmode.ErrClientGone]; the cause
// of the context.
func (a *Adapter) Elicit(ctx context.Context, call Call, request ToolRequest, body Body) (End, error) {
	return a.elicit(ctx, call, request, body, false)
}

// Require is Elicit, but a client that can send its user to a URL gets a *RequiredError, and no request.
func (a *Adapter) Require(ctx context.Context, call Call, request ToolRequest, body Body) (End, error) {
	return a.elicit(ctx, call, request, body, true)
}

func (a *Adapter) elicit(ctx context.Context, call Call, request ToolRequest, body Body, byError bool) (End, error) {
	if request.Subscription {
		return End{}, refuse("RequirePaid asks for a Subscription: its first payment is claimed by its entitlement")
	}
	return a.run(ctx, call, a.questionOf(call, request, byError), body)
}

func (a *Adapter) questionOf(call Call, request ToolRequest, byError bool) question {
	request.ClientID = cmp.Or(request.ClientID, call.ClientID)
	request.Traceparent = cmp.Or(request.Traceparent, call.Traceparent)
	request.ResumeKey = cmp.Or(request.ResumeKey, urlmode.DefaultResumeKey(request.Provider, request.Kind, request.Message, request.Expected))
	request.CannotRecheck = request.Recheck == nil
	return question{ToolRequest: request, byError: byError, create: func(ctx context.Context) (urlmode.Elicitation, error) {
		return a.instance.Create(ctx, request.Request)
	}}
}

// question is what a call asks for, of any kind. Request is what it is compared by, and create creates it.
type question struct {
	ToolRequest
	create  func(context.Context) (urlmode.Elicitation, error)
	byError bool
	// Of forms:
	verify    func(context.Context, urlmode.Typed) (*urlmode.Problem, error)
	approvers []string
	others    bool
	sendLink  func(context.Context, ApprovalLink) error
	// Of accounts:
	claimed func(ctx context.Context, id string) (*End, error) // what becomes of a call whose outcome another has claimed; nil: what becomes of every call; errGivenBack: it claims it again
	detail  func(urlmode.Outcome) string                       // what its provider has said
	start   func() (end func(), err error)                     // begins what Close waits for
}

// isForOthers reports whether the page is for somebody else than the user of the client.
func (q question) isForOthers() bool { return q.others || len(q.approvers) > 0 }

func (a *Adapter) run(ctx context.Context, call Call, request question, body Body) (End, error) {
	if err := a.instance.Internals(internals.Permit{}).CheckContext(ctx); err != nil {
		return End{}, err
	}
	if request.Message == "" {
		return End{}, refuse("Message is required")
	}
	capabilities := a.capabilities(call.Client, request.Round)
	if call.Task != nil {
		capabilities.rounds = 0
	}
	k := &asking{ctx: ctx, a: a, call: call, request: request, rounds: capabilities.rounds, deadline: time.Now().Add(capabilities.round)}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if call.Connection != nil {
		defer context.AfterFunc(call.Connection, func() { end(errGone) })()
	}
	isBegun := false
	made, err := k.askAndClaim(ctx, capabilities, func(ctx context.Context, accepted Accepted) (json.RawMessage, error) {
		isBegun = true
		return body(ctx, accepted)
	})
	if err != nil && !isBegun {
		call.Task.undone(err)
	}
	return made, err
}

func (k *asking) askAndClaim(ctx context.Context, capabilities capabilities, body Body) (End, error) {
	for range limits.ClaimAttempts {
		end, done, err := k.ask(ctx, capabilities)
		if err != nil || done == nil {
			return k.unfinished(end, err)
		}
		if end, ok, err := k.claim(ctx, done, body); ok || err != nil {
			return end, err
		}
	}
	return End{}, failure(urlmode.ErrOpen, nil, "the outcome has changed %d times", limits.ClaimAttempts)
}

// unfinished ends a call without an outcome. If the question is open, then what is done before it in the same call was not delivered, and has not
// failed: the next call is given its result again, even if the tool makes an error of the link.
func (k *asking) unfinished(end End, err error) (End, error) {
	if k.waits(end, err) {
		return End{State: k.call.Retry.State}, nil
	}
	var required *RequiredError
	if d, ok := k.ctx.Value(deliveryKey{}).(*Delivery); ok && (errors.As(err, &required) || err == nil && isOpen(end.Result)) {
		if _, failed := d.Open(""); failed != nil {
			return End{}, failed
		}
	}
	return k.call.Output.fit(end), err
}

// RequestStateData is the member data of the JSON-RPC error (-32602) that answers a call with an [urlmode.ErrRequestState].
func RequestStateData(err error) json.RawMessage {
	if errors.Is(err, urlmode.ErrExpired) {
		return json.RawMessage(`{"reason":"expired_request_state"}`)
	}
	return json.RawMessage(`{"reason":"invalid_request_state"}`)
}

func failure(code urlmode.Code, cause error, format string, values ...any) error {
	return urlmode.Failure(internals.Permit{}, code, fmt.Sprintf(format, values...), cause)
}

// refuse is about a mistake in a call, and names the argument.
func refuse(text string) error { return failure(urlmode.ErrArgument, nil, "%s", text) }

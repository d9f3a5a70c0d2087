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
	"time"

	"urlmode.example/urlmode"
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

// New makes an Adapter. Nothing needs to be closed but the instance.
func New(instance *urlmode.Instance, o Options) *Adapter {
	if o.ProgressEvery <= 0 {
		o.ProgressEvery = limits.Heartbeat
	}
	return &Adapter{instance: instance, options: o, notices: notices{sessions: map[any]map[string]*notice{}}}
}

// Wish is what a tool asks its user for.
type Wish struct {
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
// does not fit the output schema of the tool, the next call runs it again.
type Body func(context.Context, Accepted) (json.RawMessage, error)

// End is how a call ends.
type End struct {
	// Result is the result of the tool, as it is sent to the client.
	Result json.RawMessage
	// State and Ask are set instead in a result that requires input. Without Ask, the client waits, and calls again.
	State string
	Ask   *Ask
}

// Ask is a request to a user.
type Ask struct {
	ElicitationID string
	URL           string
	Message       string
}

// RequiredError ends a call with the error -32042: the client sends its user to the URL itself.
type RequiredError struct{ Ask Ask }

func (e *RequiredError) Error() string {
	return fmt.Sprintf("the user must first complete elicitation %s", e.Ask.ElicitationID)
}

// Elicit asks the user of a call, waits for at most one round, and runs the body if the user has accepted.
//
// Errors: those of the body, of Request.Target and Recheck; [urlmode.ErrRequestState], [urlmode.ErrClientGone]; the cause
// of the context.
func (a *Adapter) Elicit(ctx context.Context, call Call, wish Wish, body Body) (End, error) {
	return a.elicit(ctx, call, wish, body, false)
}

// Require is Elicit, but a client that can send its user to a URL gets a *RequiredError, and no request.
func (a *Adapter) Require(ctx context.Context, call Call, wish Wish, body Body) (End, error) {
	return a.elicit(ctx, call, wish, body, true)
}

func (a *Adapter) elicit(ctx context.Context, call Call, wish Wish, body Body, byError bool) (End, error) {
	if wish.Subscription {
		return End{}, &argumentError{"RequirePaid asks for a Subscription: its first payment is claimed by its entitlement"}
	}
	return a.run(ctx, call, a.questionOf(call, wish, byError), body)
}

func (a *Adapter) questionOf(call Call, wish Wish, byError bool) question {
	wish.ClientID = cmp.Or(wish.ClientID, call.ClientID)
	wish.Traceparent = cmp.Or(wish.Traceparent, call.Traceparent)
	wish.ResumeKey = cmp.Or(wish.ResumeKey, urlmode.DefaultResumeKey(wish.Provider, wish.Kind, wish.Message, wish.Expected))
	wish.CannotRecheck = wish.Recheck == nil
	return question{Wish: wish, byError: byError, create: func(ctx context.Context) (urlmode.Elicitation, error) {
		return a.instance.Create(ctx, wish.Request)
	}}
}

// question is what a call asks for, of any kind. Request is what it is compared by, and create creates it.
type question struct {
	Wish
	create  func(context.Context) (urlmode.Elicitation, error)
	byError bool
	// Of forms:
	verify    func(context.Context, urlmode.Typed) (*urlmode.Problem, error)
	approvers []string
	others    bool
	sendLink  func(context.Context, ApprovalLink) error
	// Of accounts:
	claimed func(ctx context.Context, id string) (*End, error) // what becomes of a call whose outcome another has claimed; nil: what becomes of every call
	detail  func(urlmode.Outcome) string                       // what its provider has said
	start   func() (end func(), err error)                     // begins what Close waits for
}

// isForOthers reports whether the page is for somebody else than the user of the client.
func (q question) isForOthers() bool { return q.others || len(q.approvers) > 0 }

func (a *Adapter) run(ctx context.Context, call Call, wish question, body Body) (End, error) {
	if wish.Message == "" {
		return End{}, &argumentError{"Message is required"}
	}
	capabilities := a.capabilities(call.Client, wish.Round)
	k := &asking{ctx: ctx, a: a, call: call, wish: wish, rounds: capabilities.rounds, deadline: time.Now().Add(capabilities.round)}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if call.Connection != nil {
		defer context.AfterFunc(call.Connection, func() { end(errGone) })()
	}
	for range limits.ClaimAttempts {
		end, done, err := k.ask(ctx, capabilities)
		if err != nil || done == nil {
			return call.Output.fit(end), err
		}
		if end, ok, err := k.claim(ctx, done, body); ok || err != nil {
			return end, err
		}
	}
	return End{}, fmt.Errorf("the outcome has changed %d times: %w", limits.ClaimAttempts, urlmode.ErrOpen)
}

// completed is an elicitation with its outcome.
type completed struct {
	elicitation urlmode.Elicitation
	outcome     urlmode.Outcome
	// isEarlier means that it was completed before this call began, and this call was not begun for it.
	isEarlier bool
}

// claim is false if the outcome is not there any more.
func (k *asking) claim(ctx context.Context, done *completed, body Body) (End, bool, error) {
	m, outcome, id := k.a.instance, done.outcome, done.elicitation.ElicitationID
	if outcome.Action != urlmode.Accept {
		// The call after a refusal asks again. A refusal claims no payment: what was paid stays for the next one.
		_, err := m.Claim(ctx, id, k.wish.Owner, urlmode.ClaimOptions{Action: outcome.Action, Reference: outcome.Reference})
		end := failureEnd(outcome.Action, outcome.Reason)
		if k.wish.detail != nil {
			end = detailedEnd(outcome.Action, outcome.Reason, k.wish.detail(outcome))
		}
		if outcome.Approver != "" {
			end = declinedEnd(outcome)
		}
		return end, true, k.why(ctx, id, err)
	}
	if err := ctx.Err(); err != nil {
		// Nobody reads the answer of this call, so it does nothing that the next one can do.
		return End{}, false, k.why(ctx, id, err)
	}
	claim, letClose, err := k.begin(ctx, id, outcome.Reference)
	defer letClose()
	switch {
	case errors.Is(err, urlmode.ErrOpen):
		return End{}, false, nil
	case err != nil:
		return End{}, false, k.why(ctx, id, err)
	}
	switch claim.State {
	case urlmode.ClaimChanged:
		return End{}, false, nil
	case urlmode.ClaimLeased:
		return k.call.Output.fit(openEnd(k.wish.Wish, id, "claimed")), true, nil
	case urlmode.ClaimFulfilled:
		k.endWithAnswer(claim, true, false)
		return End{Result: claim.Result}, true, nil
	case urlmode.ClaimTaken:
		if k.wish.claimed != nil {
			end, err := k.wish.claimed(ctx, id)
			if err != nil {
				return End{}, false, k.why(ctx, id, err)
			}
			if end != nil {
				return *end, true, nil
			}
		}
		// The call that has used it was answered just now. This one is about something new; of an account about the same.
		if done.isEarlier && !outcome.Refunded && k.wish.Kind != urlmode.OAuth {
			return End{}, false, nil
		}
		end, err := k.taken(ctx, outcome)
		return end, true, err
	}
	made, isDone, isKept, err := k.work(ctx, claim, Accepted{outcome, done.elicitation.ReturnURL, claim.Fence}, body)
	if err != nil {
		return End{}, false, err
	}
	// That of an account is final.
	if isDone && k.wish.Kind != urlmode.OAuth {
		k.endWithAnswer(claim, !isKept, !isKept)
	}
	return End{Result: made}, true, nil
}

// begin begins the claim. That of an account is final: once it has begun, Close waits until letClose is called, after the exchange of
// the code. The work for another outcome is done by the next call.
func (k *asking) begin(ctx context.Context, id, reference string) (claim *urlmode.Claim, letClose func(), err error) {
	letClose = func() {}
	if k.wish.start != nil {
		end, err := k.wish.start()
		if err != nil {
			return nil, letClose, err
		}
		letClose = end
	}
	rest := max(0, time.Until(k.deadline))
	claim, err = k.a.instance.BeginClaim(ctx, id, k.wish.Owner, urlmode.LeaseOptions{Reference: reference, Wait: rest, Recheck: k.wish.Recheck})
	if err != nil || claim.State != urlmode.ClaimBegun {
		letClose()
	}
	return claim, letClose, err
}

// taken says why a claim is not this call's: it may have gone back since the outcome was read.
func (k *asking) taken(ctx context.Context, read urlmode.Outcome) (End, error) {
	now, _, err := k.look(ctx, read.ElicitationID)
	if err != nil {
		return End{}, err
	}
	switch {
	case now != nil && now.Reason == "held":
		return failureEnd(urlmode.Cancel, "held"), nil
	case read.Refunded || now != nil && now.Refunded:
		return failureEnd(urlmode.Cancel, "refunded"), nil
	}
	return failureEnd(urlmode.Cancel, "claimed"), nil
}

// work runs the body, and keeps its result. The end of the call ends neither. An error is not kept, but the code of an account is good once.
func (k *asking) work(ctx context.Context, claim *urlmode.Claim, accepted Accepted, body Body) (made json.RawMessage, isDone, isKept bool, err error) {
	ctx = context.WithoutCancel(ctx)
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-claim.Lost():
			stop(claim.Err())
		case <-claim.Refunded():
			stop(claim.Err())
		case <-working.Done():
		}
	}()
	defer func() {
		if !isDone { // It has failed, perhaps by a panic: the next call does it.
			claim.Release(ctx)
		}
	}()
	made, err = body(working, accepted)
	if err == nil && made != nil {
		err = k.call.Output.Check(made)
	}
	if err != nil || isError(made) && k.wish.Kind != urlmode.OAuth {
		return made, false, false, err
	}
	isDone = true
	isKept, err = claim.Fulfil(ctx, made)
	return made, true, isKept, err
}

// endWithAnswer confirms a claim when its answer was written. Where no SDK tells that, it counts as written if the client is there when
// the tool has ended well. Until then the next call is given the same result.
//
// failed and gone say whether the next call makes it again, because the result has failed twice, or is not kept: where the answer is an
// error, or the client is gone.
func (k *asking) endWithAnswer(claim *urlmode.Claim, failed, gone bool) {
	end := func(well, written bool) {
		ctx := context.WithoutCancel(k.ctx)
		switch {
		case well && written:
			claim.Confirm(ctx)
		case !well && failed || well && gone:
			claim.Release(ctx)
		}
	}
	tell := func(well bool) {
		isGone := k.ctx.Err() != nil || k.call.Connection != nil && k.call.Connection.Err() != nil
		if well && !isGone && k.call.WhenWritten != nil {
			expected := claim.ExpectConfirmation()
			k.call.WhenWritten(func(written bool) {
				atMost(limits.ClaimConfirm, func() {
					defer expected()
					end(true, written)
				})
			})
			return
		}
		// A client that has the answer can call again at once, so the answer follows the confirmation.
		atMost(limits.ClaimConfirm, func() { end(well || isGone, !isGone) })
	}
	if k.call.WhenEnded == nil {
		tell(true)
	} else {
		k.call.WhenEnded(tell)
	}
}

// atMost waits for a step that goes on by itself.
func atMost(wait time.Duration, step func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		step()
	}()
	select {
	case <-ended:
	case <-time.After(wait):
	}
}

// argumentError is a mistake in a call, which names the argument.
type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }

func (e *argumentError) Unwrap() error { return urlmode.ErrArgument }

// RequestStateData is the member data of the JSON-RPC error (-32602) that answers a call with an [urlmode.ErrRequestState].
func RequestStateData(err error) json.RawMessage {
	if errors.Is(err, urlmode.ErrExpired) {
		return json.RawMessage(`{"reason":"expired_request_state"}`)
	}
	return json.RawMessage(`{"reason":"invalid_request_state"}`)
}

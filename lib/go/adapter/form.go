// SPDX-License-Identifier: MIT

package adapter

import (
	"cmp"
	"context"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

// InputWish is what a tool asks its user to type.
type InputWish struct {
	// InputRequest is that of [urlmode.Instance.CreateInput]. ResumeKey, ClientID and Traceparent are as in a Wish. VerifyTimeout
	// is 30 seconds by default, and not used without Verify.
	urlmode.InputRequest
	// Message tells the user and the model what is asked for, and why. It is required.
	Message string
	// Verify says what is wrong with the values. See [urlmode.WaitOptions]. It is called while a call waits, and after a call that
	// has asked a client with URL mode, as long as its session lives.
	Verify func(context.Context, urlmode.Typed) (*urlmode.Problem, error)
	// Round is how long a call waits: 45 seconds by default.
	Round time.Duration
	// ByError means that a client of 2025-11-25 gets the error -32042, as with Require.
	ByError bool
}

// ApprovalWish is what a tool asks somebody to decide.
type ApprovalWish struct {
	// ApprovalRequest is that of [urlmode.Instance.CreateApproval]. ResumeKey, ClientID and Traceparent are as in a Wish.
	urlmode.ApprovalRequest
	// Message tells the user and the model what is asked for, and why. It is required.
	Message string
	// SendLink sends the link to those who decide, if it is not the subject. It is called once, when the elicitation was created.
	// If it fails, the elicitation is cancelled, and the call has its error. The end of the call does not end its context.
	SendLink func(context.Context, ApprovalLink) error
	// Round is how long a call waits: 45 seconds by default.
	Round time.Duration
	// ByError means that a client of 2025-11-25 gets the error -32042, as with Require.
	ByError bool
}

// ApprovalLink is what those get who decide.
type ApprovalLink struct {
	ElicitationID string    // of which elicitation
	URL           string    // of the page
	ExpiresAt     time.Time // when its link expires
}

// CollectInput asks the user to type something on a page that neither the client nor the model sees, and runs the body with
// the Values. Waiting, resuming and errors are as with Elicit.
func (a *Adapter) CollectInput(ctx context.Context, call Call, wish InputWish, body Body) (End, error) {
	r := wish.InputRequest
	r.ClientID, r.Traceparent = cmp.Or(r.ClientID, call.ClientID), cmp.Or(r.Traceparent, call.Traceparent)
	r.ResumeKey = cmp.Or(r.ResumeKey, urlmode.DefaultResumeKey(r.Provider, urlmode.Input, wish.Message, urlmode.Expected{}))
	if wish.Verify == nil {
		r.VerifyTimeout = 0
	} else {
		r.VerifyTimeout = cmp.Or(r.VerifyTimeout, limits.Verify)
	}
	compared, err := r.Compared()
	if err != nil {
		return End{}, err
	}
	elicitation := Wish{Request: compared, Message: wish.Message, Round: wish.Round}
	return a.run(ctx, call, question{Wish: elicitation, byError: wish.ByError, verify: wish.Verify,
		create: func(ctx context.Context) (urlmode.Elicitation, error) { return ofForm(a.instance.CreateInput(ctx, r)) }}, body)
}

// AskApproval asks for a decision of the user, or of others, and runs the body if somebody approves. A call that asks others ends
// with the link for them, and the next one finds the decision. Waiting, resuming and errors are as with Elicit.
func (a *Adapter) AskApproval(ctx context.Context, call Call, wish ApprovalWish, body Body) (End, error) {
	r := wish.ApprovalRequest
	r.ClientID, r.Traceparent = cmp.Or(r.ClientID, call.ClientID), cmp.Or(r.Traceparent, call.Traceparent)
	r.ResumeKey = cmp.Or(r.ResumeKey, urlmode.DefaultResumeKey(r.Provider, urlmode.Approval, wish.Message, urlmode.Expected{}))
	compared, err := r.Compared()
	if err != nil {
		return End{}, err
	}
	q := question{Wish: Wish{Request: compared, Message: wish.Message, Round: wish.Round}, byError: wish.ByError,
		approvers: r.Approvers, others: r.Others,
		create: func(ctx context.Context) (urlmode.Elicitation, error) {
			return ofForm(a.instance.CreateApproval(ctx, r))
		}}
	if q.isForOthers() {
		q.sendLink = wish.SendLink
	}
	return a.run(ctx, call, q, body)
}

// ofForm makes an elicitation of that of a form, whose link is for the user, or for those who decide.
func ofForm(made urlmode.FormElicitation, err error) (urlmode.Elicitation, error) {
	return urlmode.Elicitation{CallbackURLs: urlmode.CallbackURLs{ElicitationID: made.ElicitationID},
		URL: cmp.Or(made.URL, made.ApprovalURL), ExpiresAt: made.ExpiresAt, Resumed: made.Resumed}, err
}

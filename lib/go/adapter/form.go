// SPDX-License-Identifier: MIT

package adapter

import (
	"cmp"
	"context"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

// InputToolRequest is what a tool asks its user to type.
type InputToolRequest struct {
	// InputRequest is that of [urlmode.Instance.CreateInput]. ResumeKey, ClientID and Traceparent are as in a ToolRequest. VerifyTimeout
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

// ApprovalToolRequest is what a tool asks somebody to decide.
type ApprovalToolRequest struct {
	// ApprovalRequest is that of [urlmode.Instance.CreateApproval]. ResumeKey, ClientID and Traceparent are as in a ToolRequest.
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
func (a *Adapter) CollectInput(ctx context.Context, call Call, request InputToolRequest, body Body) (End, error) {
	r := request.InputRequest
	r.ClientID, r.Traceparent = cmp.Or(r.ClientID, call.ClientID), cmp.Or(r.Traceparent, call.Traceparent)
	r.ResumeKey = cmp.Or(r.ResumeKey, urlmode.DefaultResumeKey(r.Provider, urlmode.Input, request.Message, urlmode.Expected{}))
	if request.Verify == nil {
		r.VerifyTimeout = 0
	} else {
		r.VerifyTimeout = cmp.Or(r.VerifyTimeout, limits.Verify)
	}
	compared, err := r.Compared()
	if err != nil {
		return End{}, err
	}
	elicitation := ToolRequest{Request: compared, Message: request.Message, Round: request.Round}
	return a.run(ctx, call, question{ToolRequest: elicitation, byError: request.ByError, verify: request.Verify,
		create: func(ctx context.Context) (urlmode.Elicitation, error) { return ofForm(a.instance.CreateInput(ctx, r)) }}, body)
}

// AskApproval asks for a decision of the user, or of others, and runs the body if somebody approves. A call that asks others ends
// with the link for them, and the next one finds the decision. Waiting, resuming and errors are as with Elicit.
func (a *Adapter) AskApproval(ctx context.Context, call Call, request ApprovalToolRequest, body Body) (End, error) {
	r := request.ApprovalRequest
	r.ClientID, r.Traceparent = cmp.Or(r.ClientID, call.ClientID), cmp.Or(r.Traceparent, call.Traceparent)
	r.ResumeKey = cmp.Or(r.ResumeKey, urlmode.DefaultResumeKey(r.Provider, urlmode.Approval, request.Message, urlmode.Expected{}))
	compared, err := r.Compared()
	if err != nil {
		return End{}, err
	}
	q := question{ToolRequest: ToolRequest{Request: compared, Message: request.Message, Round: request.Round}, byError: request.ByError,
		approvers: r.Approvers, others: r.Others,
		create: func(ctx context.Context) (urlmode.Elicitation, error) {
			return ofForm(a.instance.CreateApproval(ctx, r))
		}}
	if q.isForOthers() {
		q.sendLink = request.SendLink
	}
	return a.run(ctx, call, q, body)
}

// ofForm makes an elicitation of that of a form, whose link is for the user, or for those who decide.
func ofForm(made urlmode.FormElicitation, err error) (urlmode.Elicitation, error) {
	return urlmode.Elicitation{CallbackURLs: urlmode.CallbackURLs{ElicitationID: made.ElicitationID},
		URL: cmp.Or(made.URL, made.ApprovalURL), ExpiresAt: made.ExpiresAt, Resumed: made.Resumed}, err
}

// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"
	"errors"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/texts"
)

// PaidToolRequest is the subscription that a tool requires.
type PaidToolRequest struct {
	// ToolRequest is what a user without a subscription is asked for: its Item is what the subscription is for, and its Expected is the first
	// price. Kind and Subscription are set.
	ToolRequest
	// ManageURL returns the page where the user manages the subscription, or nothing. Who is past due or has paused is sent there. It may be
	// nil.
	ManageURL func(context.Context, urlmode.Entitlement) (string, error)
	// ByError means that a client of 2025-11-25 gets the error -32042, as with Require.
	ByError bool
}

// PaidBody does what the user may use, and returns the result of the tool as JSON. Its context is that of the call. The entitlement has a
// ManageURL. It runs in each call, and its result is not kept.
type PaidBody func(context.Context, urlmode.Entitlement) (json.RawMessage, error)

// RequirePaid runs the body for a user who has subscribed to the item. Others are asked for the first payment of a subscription; who is past
// due or has paused is sent to the page of ManageURL. Waiting, resuming and errors are as with Elicit.
func (a *Adapter) RequirePaid(ctx context.Context, call Call, request PaidToolRequest, body PaidBody) (End, error) {
	found, err := a.subscribed(ctx, request)
	if err != nil {
		return End{}, err
	}
	if found == nil {
		// The first payment is claimed by its entitlement: a call that has waited for it looks again.
		end, used, err := a.subscribe(ctx, call, request)
		if err != nil || used == nil {
			return end, err
		}
		found = used
	}
	if !found.Entitled {
		return a.manage(ctx, call, request, *found)
	}
	found.ManageURL = func(ctx context.Context) (string, error) { return request.page(ctx, *found) }
	made, err := body(ctx, *found)
	if err == nil {
		err = call.Output.Check(made)
	}
	return End{Result: made}, err
}

// subscribed returns the subscription of the user, as long as it is not over.
func (a *Adapter) subscribed(ctx context.Context, request PaidToolRequest) (*urlmode.Entitlement, error) {
	if request.Item == "" {
		return nil, refuse("Item is required")
	}
	found, err := a.instance.Entitlements(ctx, request.Owner.Subject, request.Item)
	if err != nil || len(found) == 0 || found[0].IsOver() {
		return nil, err
	}
	return &found[0], nil
}

// subscribe asks the user to subscribe. The subscription is nil if the call has ended otherwise.
func (a *Adapter) subscribe(ctx context.Context, call Call, request PaidToolRequest) (End, *urlmode.Entitlement, error) {
	var found *urlmode.Entitlement
	payment := request.ToolRequest
	payment.Kind, payment.Subscription = urlmode.Payment, true
	q := a.questionOf(call, payment, request.ByError)
	q.claimed = func(ctx context.Context, _ string) (end *End, err error) {
		if found, err = a.subscribed(ctx, request); found == nil {
			return nil, err
		}
		return &End{}, nil
	}
	end, err := a.run(ctx, call, q, func(context.Context, Accepted) (json.RawMessage, error) {
		return nil, failure(urlmode.ErrOpen, nil, texts.ClaimedOtherwise)
	})
	if errors.Is(err, urlmode.ErrSubscribed) {
		// Another call has subscribed since this one looked.
		if now, failed := a.subscribed(ctx, request); failed != nil || now != nil {
			return End{}, now, failed
		}
	}
	return end, found, err
}

func (r PaidToolRequest) page(ctx context.Context, entitlement urlmode.Entitlement) (string, error) {
	if r.ManageURL == nil {
		return "", nil
	}
	return r.ManageURL(ctx, entitlement)
}

// manage ends a call of a user whose subscription has a problem.
func (a *Adapter) manage(ctx context.Context, call Call, request PaidToolRequest, entitlement urlmode.Entitlement) (End, error) {
	reason := "past_due"
	if entitlement.Paused {
		reason = "paused"
	}
	url, err := request.page(ctx, entitlement)
	if err != nil {
		return End{}, err
	}
	if url == "" {
		return call.Output.fit(failureEnd(urlmode.Cancel, reason)), nil
	}
	return call.Output.fit(endOf(manageText(request.Message, reasonsTexts[reason], url), true, nil)), nil
}

// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

// inputRequired is the part of a result by which a body asks the client for something itself, as a gateway does for a server behind it.
type inputRequired struct {
	ResultType    string          `json:"resultType"`
	InputRequests json.RawMessage `json:"inputRequests"`
	RequestState  string          `json:"requestState"`
}

// requiresInput is nil if a result is final.
func requiresInput(made json.RawMessage) *inputRequired {
	var asks inputRequired
	if json.Unmarshal(made, &asks) != nil || asks.ResultType != "input_required" && asks.InputRequests == nil && asks.RequestState == "" {
		return nil
	}
	return &asks
}

// IsOpen reports whether structured content is that of a call which has ended without an outcome, with the link for example: a body, or a
// tool, that returns it has not done its work.
func IsOpen(content json.RawMessage) bool {
	var about structured
	return json.Unmarshal(content, &about) == nil && about.Elicitation.ElicitationID != "" && about.Elicitation.Message != ""
}

func isOpen(made json.RawMessage) bool {
	var result sent
	return json.Unmarshal(made, &result) == nil && result.Structured != nil && IsOpen(result.Structured)
}

// hand gives what is left of the requestState to whoever comes next in this call.
func (k *asking) hand(state string, isForeign bool) {
	k.handed = &handed{state, isForeign}
	if d, ok := k.ctx.Value(deliveryKey{}).(*Delivery); ok {
		d.hand(k.handed)
	}
	if k.call.Hand != nil {
		k.call.Hand(state, isForeign)
	}
}

// nextOfBody goes on with a call whose body has asked for something itself, or that something after it has asked. It is false if this call is
// not such a round.
func (k *asking) nextOfBody(ctx context.Context) (end End, done *completed, isRound bool, err error) {
	if k.call.Retry == nil || k.call.Retry.State == "" {
		return End{}, nil, false, nil
	}
	elicitation, round, err := k.a.instance.OpenRoundState(k.call.Retry.State, k.request.Request)
	if err != nil || round == nil {
		return End{}, nil, false, err
	}
	k.hand(round.State, true)
	outcome, status, err := k.look(ctx, elicitation.ElicitationID)
	if err != nil || outcome == nil {
		return k.pending(elicitation, status), nil, true, err
	}
	return End{}, &completed{elicitation: elicitation, outcome: *outcome, round: round}, true, nil
}

// holdFor keeps the claim for the next round, and returns the requestState that goes on with it.
func (k *asking) holdFor(ctx context.Context, claim *urlmode.Claim, done *completed, state string) (string, error) {
	round := urlmode.Round{Reference: claim.Reference, Fence: claim.Fence, State: state}
	sealed, err := k.a.instance.RoundState(done.elicitation, round, k.request.Request)
	if err == nil {
		err = claim.Hold(ctx, limits.ClaimHold)
	}
	return sealed, err
}

// passed is for a call whose work is done when something after it asks: the next call is given its result again.
func (k *asking) passed(claim *urlmode.Claim, done *completed, isKept bool) {
	if k.call.WhenPassed == nil {
		return
	}
	k.call.WhenPassed(func(state string) (string, error) {
		if !isKept {
			claim.Release(context.WithoutCancel(k.ctx))
		}
		return k.a.instance.RoundState(done.elicitation, urlmode.Round{State: state, Passed: true}, k.request.Request)
	})
}

// leaseOptions are those of the claim of this call, or of the round before.
func (k *asking) leaseOptions(done *completed) urlmode.LeaseOptions {
	o := urlmode.LeaseOptions{Reference: done.outcome.Reference, Recheck: k.request.Recheck}
	if done.round != nil && !done.round.Passed {
		o.Reference, o.Fence = done.round.Reference, done.round.Fence
	}
	return o
}

// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
)

// completed is an elicitation with its outcome.
type completed struct {
	elicitation urlmode.Elicitation
	outcome     urlmode.Outcome
	// isEarlier means that it was completed before this call began, and this call was not begun for it.
	isEarlier bool
	// round is that of a body that has asked for something itself.
	round *urlmode.Round
}

// claim is false if the outcome is not there any more.
func (k *asking) claim(ctx context.Context, done *completed, body Body) (End, bool, error) {
	m, outcome, id := k.a.instance, done.outcome, done.elicitation.ElicitationID
	if outcome.Action != urlmode.Accept {
		// The call after a refusal asks again. A refusal claims no payment: what was paid stays for the next one.
		_, err := m.Claim(ctx, id, k.request.Owner, urlmode.ClaimOptions{Action: outcome.Action, Reference: outcome.Reference})
		end := failureEnd(outcome.Action, outcome.Reason)
		if k.request.detail != nil {
			end = detailedEnd(outcome.Action, outcome.Reason, k.request.detail(outcome))
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
	claim, letClose, err := k.begin(ctx, done)
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
		end, err := k.unfinished(openEnd(k.request.ToolRequest, id, "claimed"), nil)
		return end, true, err
	case urlmode.ClaimFulfilled:
		// In the call that goes on with it, what has failed is something after it.
		k.endWithAnswer(id, claim, done.round == nil || !done.round.Passed, false)
		k.passed(claim, done, true)
		return End{Result: claim.Result}, true, nil
	case urlmode.ClaimTaken:
		if k.request.claimed != nil {
			end, err := k.request.claimed(ctx, id)
			switch {
			case errors.Is(err, errGivenBack):
				return k.claim(ctx, done, body)
			case err != nil:
				return End{}, false, k.why(ctx, id, err)
			case end != nil:
				return *end, true, nil
			}
		}
		// The call that has used it was answered just now. This one is about something new; of an account about the same.
		if done.isEarlier && !outcome.Refunded && k.request.Kind != urlmode.OAuth {
			return End{}, false, nil
		}
		end, err := k.taken(ctx, outcome)
		return end, true, err
	}
	work, err := k.work(ctx, claim, done, body)
	if err != nil {
		return End{}, false, err
	}
	// That of an account is final.
	if work.isDone && k.request.Kind != urlmode.OAuth {
		k.endWithAnswer(id, claim, !work.isKept, !work.isKept)
		k.passed(claim, done, work.isKept)
	}
	return End{Result: work.made, State: work.state}, true, nil
}

// begin begins the claim. That of an account is final: once it has begun, Close waits until letClose is called, after the exchange of
// the code. The work for another outcome is done by the next call.
func (k *asking) begin(ctx context.Context, done *completed) (claim *urlmode.Claim, letClose func(), err error) {
	letClose = func() {}
	if k.request.start != nil {
		end, err := k.request.start()
		if err != nil {
			return nil, letClose, err
		}
		letClose = end
	}
	options := k.leaseOptions(done)
	options.Wait = max(0, time.Until(k.deadline))
	claim, err = k.a.instance.BeginClaim(ctx, done.outcome.ElicitationID, k.request.Owner, options)
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

// worked is what has become of a body.
type worked struct {
	made           json.RawMessage
	state          string // of a result that requires input
	isDone, isKept bool
}

// work runs the body, and keeps its result. The end of the call ends neither. An error is not kept, but the code of an account is good once. A
// body that asks for something itself has not ended: its claim goes on with the next call.
func (k *asking) work(ctx context.Context, claim *urlmode.Claim, done *completed, body Body) (work worked, err error) {
	ctx = context.WithoutCancel(ctx)
	inner := &Delivery{handed: k.handed}
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
		inner.Ended(work.isKept)              // What it has asked for in its turn is done when its own result is kept.
		if !work.isDone && work.state == "" { // It has failed, perhaps by a panic: the next call does it.
			claim.Release(ctx)
		}
	}()
	accepted := Accepted{done.outcome, done.elicitation.ReturnURL, claim.Fence}
	work.made, err = body(context.WithValue(working, deliveryKey{}, inner), accepted)
	if asks := requiresInput(work.made); err == nil && asks != nil {
		if k.request.Kind == urlmode.OAuth {
			return work, refuse("the body of an account asks for something itself, which it cannot: the code is good once")
		}
		state, err := inner.Open(asks.RequestState)
		if err == nil {
			work.state, err = k.holdFor(ctx, claim, done, state)
		}
		return work, err
	}
	if err == nil && work.made != nil {
		err = k.call.Output.Check(work.made)
	}
	if err != nil || (isError(work.made) || isOpen(work.made)) && k.request.Kind != urlmode.OAuth {
		return work, err
	}
	work.isDone = true
	work.isKept, err = claim.Fulfil(ctx, work.made)
	return work, err
}

// endWithAnswer confirms a claim when its answer was written. Where no SDK tells that, it counts as written if the client is there when
// the tool has ended well. Until then the next call is given the same result.
//
// failed and gone say whether the next call makes it again, because the result has failed twice, or is not kept: where the answer is an
// error, or the client is gone.
func (k *asking) endWithAnswer(id string, claim *urlmode.Claim, failed, gone bool) {
	end := func(well, written bool) {
		ctx := context.WithoutCancel(k.ctx)
		switch {
		case well && written:
			claim.Confirm(ctx)
		case !well && failed || well && gone:
			claim.Release(ctx)
		}
	}
	report := func(well bool) {
		if run := k.call.Task; well && run != nil && run.isRun {
			// Who reads the result of the task confirms it.
			run.claimed(internals.TaskClaim{ID: id, Fence: claim.Fence}, func(isKept bool) {
				if !isKept {
					end(true, false)
				}
			})
			return
		}
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
		report(true)
	} else {
		k.call.WhenEnded(report)
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

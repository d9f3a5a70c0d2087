// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"errors"

	"urlmode.example/urlmode"
)

// byRetry asks as in protocol revision 2026-07-28: by a result that requires input, with a handle of ours. The client asks
// its user, and calls again with that handle, on any instance. That call waits for the row.
func (k *asking) byRetry(ctx context.Context) (End, *completed, error) {
	if k.call.Retry.State == "" {
		return k.firstRound(ctx)
	}
	retry, err := k.a.instance.OpenRequestState(k.call.Retry.State, k.wish.Request)
	if err != nil {
		return End{}, nil, err
	}
	end, done, err := k.nextRound(ctx, retry)
	if errors.Is(err, urlmode.ErrNotFound) {
		err = urlmode.RequestStateGone() // The row is deleted some time after its end.
	}
	return end, done, err
}

func (k *asking) firstRound(ctx context.Context) (End, *completed, error) {
	elicitation, status, done, err := k.resumeOrCreate(ctx)
	if err != nil || done != nil {
		return End{}, done, err
	}
	if !canBeOpened(elicitation, status) {
		return k.waitOneRound(ctx, elicitation)
	}
	end, err := k.required(urlmode.Retry{Elicitation: elicitation, Round: 1})
	ask := k.askOf(elicitation)
	end.Ask = &ask
	return end, nil, err
}

func (k *asking) nextRound(ctx context.Context, retry urlmode.Retry) (End, *completed, error) {
	elicitation, answer := retry.Elicitation, urlmode.Action(k.call.Retry.Answer)
	id, isRefusal := elicitation.ElicitationID, answer == urlmode.Decline || answer == urlmode.Cancel
	if answer == urlmode.Decline {
		if _, err := k.refuse(ctx, id); err != nil {
			return End{}, nil, k.why(ctx, id, err)
		}
	}
	find := k.wait
	if isRefusal {
		find = k.look // After a refusal of what is open in the browser, this call does not wait for it.
	}
	outcome, status, err := find(ctx, id)
	switch {
	case err != nil || outcome != nil:
		return End{}, k.done(elicitation, outcome), err
	case isRefusal && status == urlmode.Pending:
		return failureEnd(urlmode.Cancel, "dismissed"), nil, nil
	case isRefusal || retry.Round >= k.rounds || !canBeOpened(elicitation, status):
		return k.pending(elicitation, status), nil, nil
	}
	end, err := k.required(urlmode.Retry{Elicitation: elicitation, Round: retry.Round + 1})
	return end, nil, err
}

func (k *asking) required(retry urlmode.Retry) (End, error) {
	state, err := k.a.instance.RequestState(retry, k.wish.Request)
	return End{State: state}, err
}

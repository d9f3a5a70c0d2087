// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"errors"

	"urlmode.example/urlmode"
)

// byRetry asks as in protocol revision 2026-07-28: by a result that requires input, with a handle of ours. The client asks
// its user, and calls again with that handle, on any instance. That call waits for the row.
func (k *asking) byRetry(elicitation urlmode.Elicitation) (End, error) {
	end, err := k.required(urlmode.Retry{Elicitation: elicitation, Round: 1})
	ask := k.askOf(elicitation)
	end.Ask = &ask
	return end, err
}

// continueByRetry goes on with what an earlier call has asked for.
func (k *asking) continueByRetry(ctx context.Context) (End, *completed, error) {
	retry, err := k.a.instance.OpenRequestState(k.call.Retry.State, k.request.Request)
	if err != nil {
		return End{}, nil, err
	}
	k.hand("", false)
	end, done, err := k.nextRound(ctx, retry)
	if errors.Is(err, urlmode.ErrNotFound) {
		err = urlmode.RequestStateGone() // The row is deleted some time after its end.
	}
	return end, done, err
}

func (k *asking) nextRound(ctx context.Context, retry urlmode.Retry) (End, *completed, error) {
	elicitation := retry.Elicitation
	id := elicitation.ElicitationID
	answer, reason := refusalOf(k.call.Retry.Answer)
	if k.call.Retry.Answer == string(urlmode.Accept) {
		answer = accepted
	}
	if answer != "" {
		k.endAsk(ctx, id, answer)
	}
	find := k.wait
	if reason != "" {
		find = k.look // This call does not wait for what its client has not opened.
	}
	outcome, status, err := find(ctx, id)
	switch {
	case err != nil || outcome != nil:
		return End{}, k.done(elicitation, outcome), err
	case reason != "":
		return k.notOpened(elicitation, status, reason), nil, nil
	case retry.Round >= k.rounds || !canBeOpened(elicitation, status):
		return k.pending(elicitation, status), nil, nil
	}
	end, err := k.required(urlmode.Retry{Elicitation: elicitation, Round: retry.Round + 1})
	return end, nil, err
}

func (k *asking) required(retry urlmode.Retry) (End, error) {
	state, err := k.a.instance.RequestState(retry, k.request.Request)
	return End{State: state}, err
}

// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

type response struct {
	action string
	err    error
}

type waited struct {
	outcome *urlmode.Outcome
	status  urlmode.Status
	err     error
}

// byRequest asks as in protocol revision 2025-11-25. The client's response only says whether the client opens the page, and ends no
// elicitation: a client may decline without a word to its user. It may come at once, after the elicitation is completed, or after the call
// has ended.
func (k *asking) byRequest(ctx context.Context, elicitation urlmode.Elicitation) (End, *completed, error) {
	channel, id := k.call.Channel, elicitation.ElicitationID
	notice, release := k.a.notices.use(channel.Session, id)
	defer release()
	// The end of the call does not end its request: it would be taken from a user who looks at it. What ends it is below.
	requesting, withdraw := context.WithDeadline(context.WithoutCancel(ctx), elicitation.ExpiresAt.Add(limits.Response))
	responded := make(chan response, 1)
	go func() {
		action, err := channel.Request(requesting, k.askOf(elicitation))
		responded <- response{action, err}
	}()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan waited, 1)
	go func() {
		outcome, status, err := k.wait(waiting, id)
		ended <- waited{outcome, status, err}
	}()
	hasResponded := false
	var found waited
	select {
	case found = <-ended:
	case said := <-responded:
		hasResponded = true
		if end, isEnd, err := k.afterResponse(ctx, elicitation, said); isEnd || err != nil {
			withdraw()
			return end, nil, err
		}
		found = <-ended
	}
	if found.err == nil && found.outcome != nil {
		notice.send(ctx, id, channel.Complete)
		time.AfterFunc(limits.Response, withdraw)
		return End{}, k.done(elicitation, found.outcome), nil
	}
	isGone := context.Cause(ctx) == errGone
	if !isGone {
		k.reportLater(id)
	}
	if found.err == nil && !hasResponded && !isGone && channel.Session != nil {
		k.watchResponse(id, responded, withdraw)
	} else {
		withdraw()
	}
	if found.err != nil {
		return End{}, nil, found.err
	}
	return k.pending(elicitation, found.status), nil, nil
}

// afterResponse says how the client's response ends the call, if it does.
func (k *asking) afterResponse(ctx context.Context, elicitation urlmode.Elicitation, said response) (End, bool, error) {
	id, channel := elicitation.ElicitationID, k.call.Channel
	answer, reason := refusalOf(said.action)
	switch {
	case said.err != nil && ctx.Err() != nil:
		return End{}, true, k.why(ctx, id, said.err)
	case said.err != nil && channel.IsGone != nil && channel.IsGone(said.err):
		return End{}, true, urlmode.ClientGone(id)
	case said.err != nil:
		reason = clientFailed
		k.hasFailed(ctx, id)
	case reason == "":
		return End{}, false, nil
	default:
		k.endAsk(ctx, id, answer)
	}
	outcome, status, err := k.look(ctx, id)
	if err != nil || outcome != nil {
		return End{}, false, err
	}
	if status != urlmode.Pending { // Somebody has opened it all the same.
		k.reportLater(id)
	}
	return k.notOpened(elicitation, status, reason), true, nil
}

// reportLater notifies the client when the elicitation is completed, after this call, and verifies until then what the user types.
func (k *asking) reportLater(id string) {
	channel := k.call.Channel
	if channel.Session == nil || channel.CompleteLater == nil && k.request.verify == nil {
		return
	}
	notice, release := k.a.notices.use(channel.Session, id)
	if !notice.beginWatch() {
		release()
		return
	}
	go func() {
		defer release()
		options := urlmode.WaitOptions{Recheck: k.request.Recheck, Verify: k.request.verify}
		if _, err := k.a.instance.WaitWith(channel.Life, id, k.request.Owner, options); err == nil {
			notice.send(channel.Life, id, channel.CompleteLater)
		}
	}()
}

// watchResponse waits for the response after the end of the call: a client that declines then gets the link with the next one. It dismisses by
// itself what it was asked for a call that has ended.
func (k *asking) watchResponse(id string, responded <-chan response, withdraw context.CancelFunc) {
	_, release := k.a.notices.use(k.call.Channel.Session, id)
	go func() {
		defer release()
		defer withdraw()
		watching, stop := context.WithCancel(k.call.Channel.Life)
		defer stop()
		over := make(chan struct{})
		go func() { // The request is of no use when the elicitation, the session or the instance has ended.
			defer close(over)
			k.a.instance.Wait(watching, id, k.request.Owner)
		}()
		select {
		case said := <-responded:
			if said.err == nil && said.action == string(urlmode.Decline) {
				k.endAsk(watching, id, declined)
			}
		case <-over:
		}
	}()
}

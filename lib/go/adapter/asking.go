// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"errors"
	"sync"
	"time"

	"urlmode.example/urlmode"
)

// errGone is why a context ends whose client is gone.
var errGone = errors.New("the client is gone")

// asking is one call. The row alone says what has happened.
type asking struct {
	ctx      context.Context // of the call
	a        *Adapter
	call     Call
	request  question
	rounds   int
	deadline time.Time
	handed   *handed
}

// ask asks in the way that the client takes. One that did not open this elicitation before gets the link as text.
func (k *asking) ask(ctx context.Context, capabilities capabilities) (End, *completed, error) {
	if end, done, isRound, err := k.nextOfBody(ctx); isRound || err != nil {
		return end, done, err
	}
	way := k.way(capabilities)
	if isTask := k.call.Task != nil; (way == asksByRetry || isTask) && k.call.Retry != nil && k.call.Retry.State != "" {
		return k.continueByRetry(ctx)
	}
	creating := ctx
	if k.request.isForOthers() {
		// A client that cancels the call does not stop it: the next call would go on with what nobody has been told of.
		creating = context.WithoutCancel(ctx)
	}
	elicitation, status, done, err := k.resumeOrCreate(creating)
	if err != nil || done != nil {
		return End{}, done, err
	}
	if k.call.Task != nil {
		end, err := k.byTask(ctx, creating, elicitation, status, way == asksByRetry)
		return end, nil, err
	}
	if way == asksByText || !canBeOpened(elicitation, status) {
		return k.byLink(ctx, creating, elicitation, status)
	}
	earlier := ""
	if way == asksByRetry || elicitation.Resumed { // Nobody was asked before to open what this call has created.
		if earlier, err = k.beginAsk(ctx, elicitation.ElicitationID, way == asksByRetry); err != nil {
			return End{}, nil, err
		}
	}
	switch {
	case earlier == asAsked && status == urlmode.Pending: // What is open in a browser is waited for.
		return k.notOpened(elicitation, status, clientFailed), nil, nil
	case earlier != "":
		return k.byLink(ctx, creating, elicitation, status)
	case way == asksByRetry:
		end, err := k.byRetry(elicitation)
		return end, nil, err
	case way == asksByError:
		return k.byError(ctx, elicitation, status)
	}
	return k.byRequest(ctx, elicitation)
}

type way int

const (
	asksByText way = iota
	asksByRetry
	asksByRequest
	asksByError
)

// way is how the client is asked. An answer may only require what its call declares (-32021), a request what the client is known to do.
func (k *asking) way(of capabilities) way {
	isOlder := k.call.Channel != nil
	wanted := k.a.knownOf(k.call.Client).Ask
	if wanted == "" && k.request.byError {
		wanted = AskByError
	}
	switch {
	case k.request.isForOthers() || !of.url:
		return asksByText
	case !isOlder && k.call.Retry != nil && of.declares:
		return asksByRetry
	case isOlder && wanted == AskByError:
		return asksByError
	case isOlder:
		return asksByRequest
	}
	return asksByText
}

func (k *asking) byLink(ctx, creating context.Context, elicitation urlmode.Elicitation, status urlmode.Status) (End, *completed, error) {
	if elicitation.Resumed {
		return k.waitOneRound(ctx, elicitation)
	}
	if k.request.sendLink != nil {
		if err := k.sendLink(creating, elicitation); err != nil {
			return End{}, nil, err
		}
	}
	return k.pending(elicitation, status), nil, nil
}

// sendLink cancels the elicitation if its approvers cannot be told of it.
func (k *asking) sendLink(ctx context.Context, elicitation urlmode.Elicitation) error {
	isSent := false
	defer func() {
		if !isSent { // It has failed, perhaps by a panic.
			ending, cancel := context.WithTimeout(ctx, afterwards)
			defer cancel()
			k.a.instance.Abandon(ending, elicitation.ElicitationID, k.request.Owner, urlmode.Cancel, "not_sent")
		}
	}()
	err := k.request.sendLink(ctx, ApprovalLink{elicitation.ElicitationID, elicitation.URL, elicitation.ExpiresAt})
	isSent = err == nil
	return err
}

func (k *asking) byError(ctx context.Context, elicitation urlmode.Elicitation, status urlmode.Status) (End, *completed, error) {
	if elicitation.Resumed {
		outcome, now, err := k.wait(ctx, elicitation.ElicitationID)
		if err != nil || outcome != nil {
			return End{}, k.done(elicitation, outcome), err
		}
		status = now
	}
	if !canBeOpened(elicitation, status) {
		return k.pending(elicitation, status), nil, nil
	}
	k.reportLater(elicitation.ElicitationID)
	return End{}, nil, &RequiredError{k.askOf(elicitation), k.pending(elicitation, status).text()}
}

// resumeOrCreate finds or creates what this call goes on with. done is set if it is completed already.
func (k *asking) resumeOrCreate(ctx context.Context) (elicitation urlmode.Elicitation, status urlmode.Status, done *completed, err error) {
	if elicitation, err = k.request.create(ctx); err != nil || !elicitation.Resumed {
		return elicitation, urlmode.Pending, nil, k.why(ctx, "", err)
	}
	outcome, status, err := k.look(ctx, elicitation.ElicitationID)
	if outcome != nil {
		done = &completed{elicitation: elicitation, outcome: *outcome, isEarlier: true}
	}
	return elicitation, status, done, err
}

// look reads the outcome without waiting, except for a recheck. Nil: it is open, and in this status.
func (k *asking) look(ctx context.Context, id string) (*urlmode.Outcome, urlmode.Status, error) {
	outcome, err := k.a.instance.WaitWith(ctx, id, k.request.Owner, urlmode.WaitOptions{Once: true, Recheck: k.request.Recheck})
	if err == nil {
		return &outcome, urlmode.Completed, nil
	}
	if status, ok := statusOf(err); ok {
		return nil, status, nil
	}
	return nil, "", k.why(ctx, id, err)
}

// wait waits as long as this call may, and sends progress. What happens to the call does not happen to the elicitation.
func (k *asking) wait(ctx context.Context, id string) (*urlmode.Outcome, urlmode.Status, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	waiting, cancel := context.WithDeadline(ctx, k.deadline)
	defer cancel()
	beat := &heartbeat{send: k.call.Progress, kind: k.request.Kind, status: urlmode.Progress(urlmode.Pending), fail: func() { stop(errGone) }}
	options := urlmode.WaitOptions{Recheck: k.request.Recheck, Verify: k.request.verify}
	if k.call.Progress != nil {
		options.Progress = func(heard urlmode.Progress) { beat.report(waiting, heard) }
		go beat.run(waiting, k.a.options.ProgressEvery)
	}
	outcome, err := k.a.instance.WaitWith(waiting, id, k.request.Owner, options)
	if err == nil {
		return &outcome, urlmode.Completed, nil
	}
	if ctx.Err() != nil {
		return nil, "", k.why(ctx, id, ctx.Err())
	}
	if status, ok := statusOf(err); ok {
		return nil, status, nil
	}
	if errors.Is(err, urlmode.ErrClosed) {
		return nil, urlmode.Pending, nil // The next call, on another instance, goes on with it.
	}
	return nil, "", err
}

func (k *asking) waitOneRound(ctx context.Context, elicitation urlmode.Elicitation) (End, *completed, error) {
	outcome, status, err := k.wait(ctx, elicitation.ElicitationID)
	if err != nil || outcome != nil {
		return End{}, k.done(elicitation, outcome), err
	}
	return k.pending(elicitation, status), nil, nil
}

func (k *asking) done(elicitation urlmode.Elicitation, outcome *urlmode.Outcome) *completed {
	if outcome == nil {
		return nil
	}
	return &completed{elicitation: elicitation, outcome: *outcome}
}

// pending ends a call whose elicitation is open: with the link, as long as the user can open it.
func (k *asking) pending(elicitation urlmode.Elicitation, status urlmode.Status) End {
	switch {
	case !canBeOpened(elicitation, status):
		return openEnd(k.request.ToolRequest, elicitation.ElicitationID, status)
	case k.request.isForOthers():
		return approversEnd(k.request, k.a.instance.Name(), elicitation, status, time.Now())
	}
	return linkEnd(k.request.ToolRequest, k.a.instance.Name(), elicitation, status, time.Now())
}

func (k *asking) askOf(elicitation urlmode.Elicitation) Ask {
	return Ask{ElicitationID: elicitation.ElicitationID, URL: elicitation.URL, Message: k.request.Message}
}

// why is the error of a step, or why its context has ended.
func (k *asking) why(ctx context.Context, id string, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case context.Cause(ctx) == errGone:
		return urlmode.ClientGone(id)
	}
	return context.Cause(ctx)
}

// statusOf returns the status of an error by which a wait has ended because its elicitation is open.
func statusOf(err error) (urlmode.Status, bool) {
	var own *urlmode.Error
	if errors.As(err, &own) && own.Code == urlmode.ErrTimeout {
		return own.Status, true
	}
	return "", false
}

func canBeOpened(elicitation urlmode.Elicitation, status urlmode.Status) bool {
	return status != urlmode.Processing && elicitation.ExpiresAt.After(time.Now())
}

// heartbeat sends progress while a call waits.
type heartbeat struct {
	send func(context.Context, float64, string) error
	fail func() // The client is gone.
	kind urlmode.Kind

	mu     sync.Mutex
	status urlmode.Progress
	count  float64
}

func (b *heartbeat) report(ctx context.Context, heard urlmode.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if heard != "" {
		b.status = heard
	}
	b.count++
	if ctx.Err() == nil && b.send(ctx, b.count, progressMessage(b.kind, b.status)) != nil {
		b.fail()
	}
}

func (b *heartbeat) run(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			b.report(ctx, "")
		case <-ctx.Done():
			return
		}
	}
}

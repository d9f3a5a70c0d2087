// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"errors"
	"sync"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
)

// TaskRound is a call that can become a task, or a run of the tool of one, which answers no call. Its claims are confirmed by who reads what
// is kept of it. The zero value is of a call.
type TaskRound struct {
	isRun bool

	mu       sync.Mutex
	awaited  *awaited
	isUndone bool // it has failed before its body, for a reason that can pass by itself
	claims   []internals.TaskClaim
	reports  []func(isKept bool)
}

// awaited is what a task waits for.
type awaited struct {
	elicitation string
	kind        urlmode.Kind
	text        string // for people and models
}

func (w *awaited) kept(call internals.TaskCall) internals.TaskCall {
	call.IsOwn, call.Text, call.Kind = true, w.text, string(w.kind)
	return call
}

// Asks reports whether a function has asked the user, so that the call can become a task.
func (r *TaskRound) Asks() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.awaited != nil
}

// claimed is for a claim of which the result of a run is made.
func (r *TaskRound) claimed(claim internals.TaskClaim, report func(isKept bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims, r.reports = append(r.claims, claim), append(r.reports, report)
}

// end tells once whether the task has the result.
func (r *TaskRound) end(isKept bool) {
	r.mu.Lock()
	reports := r.reports
	r.reports = nil
	r.mu.Unlock()
	for _, each := range reports {
		each(isKept)
	}
}

// undone remembers that a run has failed before its body. What cannot pass by itself ends a task as well.
func (r *TaskRound) undone(err error) {
	if r == nil || errors.Is(err, urlmode.ErrRequestState) || errors.Is(err, urlmode.ErrArgument) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isUndone = true
}

// byTask asks a client that holds its calls as tasks: the call ends at once, and the task says how the client asks its user. declares: it can
// send its user to a URL. Otherwise the task has the link as text.
func (k *asking) byTask(ctx, creating context.Context, elicitation urlmode.Elicitation, status urlmode.Status, declares bool) (End, error) {
	if !elicitation.Resumed && k.request.sendLink != nil {
		if err := k.sendLink(creating, elicitation); err != nil {
			return End{}, err
		}
	}
	end, err := k.required(urlmode.Retry{Elicitation: elicitation, Round: 1})
	if err != nil {
		return End{}, err
	}
	if declares && canBeOpened(elicitation, status) {
		earlier, err := k.beginAsk(ctx, elicitation.ElicitationID, false)
		if err != nil {
			return End{}, err
		}
		if earlier == "" {
			ask := k.askOf(elicitation)
			end.Ask = &ask
		}
	}
	round := k.call.Task
	round.mu.Lock()
	defer round.mu.Unlock()
	round.awaited = &awaited{elicitation.ElicitationID, k.request.Kind, k.pending(elicitation, status).text()}
	return end, nil
}

// waits reports whether a run of a task has nothing to do yet. It goes on waiting, with the requestState that it was given.
func (k *asking) waits(end End, err error) bool {
	return err == nil && end.State == "" && k.call.Task != nil && k.call.Task.isRun && k.call.Retry != nil && k.call.Retry.State != ""
}

// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"slices"
	"sync"
)

// Delivery is the end of a tool, which its SDK tells later than the function that asks the user returns. It is safe for use by any
// number of goroutines.
type Delivery struct {
	outer *Delivery

	mu      sync.Mutex
	waiting []func(well bool)
	passes  []func(state string) (string, error)
	handed  *handed
}

// handed is what a function that has opened the requestState of a call leaves to what comes after it, or runs under it.
type handed struct {
	state string
	// isForeign: the answers of the client are to what asks with this state, not to ours.
	isForeign bool
}

type deliveryKey struct{}

// WithDelivery returns a context for a tool whose end is told to the Delivery.
func WithDelivery(ctx context.Context) (context.Context, *Delivery) {
	outer, _ := ctx.Value(deliveryKey{}).(*Delivery)
	d := &Delivery{outer: outer}
	return context.WithValue(ctx, deliveryKey{}, d), d
}

// WhenEnded is for [Call.WhenEnded]. It is nil if nobody tells how the tool of the context ends.
func WhenEnded(ctx context.Context) func(report func(well bool)) {
	if d, ok := ctx.Value(deliveryKey{}).(*Delivery); ok {
		return d.when
	}
	return nil
}

// WhenPassed is for [Call.WhenPassed].
func WhenPassed(ctx context.Context) func(pass func(state string) (string, error)) {
	if d, ok := ctx.Value(deliveryKey{}).(*Delivery); ok {
		return d.whenPassed
	}
	return nil
}

// HandedTo is what is left of the requestState of a call for the code that has this context, which may be a body. isForeign: so are the answers
// of its client. It is false if the call has what the client has sent.
func HandedTo(ctx context.Context) (state string, isForeign, ok bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	if !ok {
		return "", false, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handed == nil {
		return "", false, false
	}
	return d.handed.state, d.handed.isForeign, true
}

func (d *Delivery) hand(left *handed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handed = left
}

func (d *Delivery) whenPassed(pass func(state string) (string, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes = append(d.passes, pass)
}

// Open is for a tool that has not ended, because its result requires input, with this requestState, or is a link, with none. The call that goes
// on is given the results of what is done by now, with the requestState that Open returns, or without one.
func (d *Delivery) Open(state string) (requestState string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	passes := d.passes
	d.passes, d.waiting = nil, nil
	for _, pass := range slices.Backward(passes) {
		var err error
		if state, err = pass(state); err != nil {
			return "", err
		}
	}
	return state, nil
}

func (d *Delivery) when(report func(well bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, report)
}

// Ended tells whether the tool has returned a result that is no error. A Delivery around this one may know more of one that has.
func (d *Delivery) Ended(well bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, report := range d.waiting {
		if d.outer != nil && well {
			d.outer.when(report)
		} else {
			report(well)
		}
	}
	d.waiting, d.passes = nil, nil
}

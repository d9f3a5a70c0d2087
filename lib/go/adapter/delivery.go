// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"sync"
)

// Delivery is the end of a tool, which its SDK tells later than the function that asks the user returns. It is safe for use by any
// number of goroutines.
type Delivery struct {
	outer *Delivery

	mu      sync.Mutex
	waiting []func(well bool)
}

type deliveryKey struct{}

// WithDelivery returns a context for a tool whose end is told to the Delivery.
func WithDelivery(ctx context.Context) (context.Context, *Delivery) {
	outer, _ := ctx.Value(deliveryKey{}).(*Delivery)
	d := &Delivery{outer: outer}
	return context.WithValue(ctx, deliveryKey{}, d), d
}

// WhenEnded is for [Call.WhenEnded]. It is nil if nobody tells how the tool of the context ends.
func WhenEnded(ctx context.Context) func(tell func(well bool)) {
	if d, ok := ctx.Value(deliveryKey{}).(*Delivery); ok {
		return d.when
	}
	return nil
}

func (d *Delivery) when(tell func(well bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, tell)
}

// Ended tells whether the tool has returned a result that is no error. A Delivery around this one may know more of one that has.
func (d *Delivery) Ended(well bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, tell := range d.waiting {
		if d.outer != nil && well {
			d.outer.when(tell)
		} else {
			tell(well)
		}
	}
	d.waiting = nil
}

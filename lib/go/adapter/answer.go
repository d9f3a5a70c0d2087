// SPDX-License-Identifier: MIT

package adapter

import "sync"

// Answer is that of an HTTP request, of which an SDK does not tell its tools whether it was written. It is safe for use by any number of
// goroutines.
type Answer struct {
	mu    sync.Mutex
	ended bool
	tell  []func(written bool)
}

// WhenWritten is for [Call.WhenWritten].
func (a *Answer) WhenWritten(tell func(written bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		go tell(false)
		return
	}
	a.tell = append(a.tell, tell)
}

// End tells once whether the answer was written.
func (a *Answer) End(written bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	for _, tell := range a.tell {
		tell(written)
	}
}

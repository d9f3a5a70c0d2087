// SPDX-License-Identifier: MIT

package adapter

import "sync"

// Answer is that of an HTTP request, of which an SDK does not tell its tools whether it was written. It is safe for use by any number of
// goroutines.
type Answer struct {
	mu      sync.Mutex
	ended   bool
	reports []func(written bool)
}

// WhenWritten is for [Call.WhenWritten].
func (a *Answer) WhenWritten(report func(written bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		go report(false)
		return
	}
	a.reports = append(a.reports, report)
}

// End tells once whether the answer was written.
func (a *Answer) End(written bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	for _, report := range a.reports {
		report(written)
	}
}

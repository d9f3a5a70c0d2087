// SPDX-License-Identifier: MIT

package urlmode

import "sync"

// beginnings are waits that are about to begin. One goroutine begins them all, and ends when there are none: the stack of a goroutine
// that has done so itself has grown to 4 KB, and the runtime does not shrink it again. 100,000 waits would need 200 MB more.
type beginnings struct {
	mu     sync.Mutex
	all    []beginning
	isBusy bool
}

type beginning struct {
	one   *wait
	id    string
	owner Owner
}

// begin begins a wait, and wakes it when it has begun or could not.
func (w *waits) begin(one *wait, id string, owner Owner) {
	w.asked.mu.Lock()
	w.asked.all = append(w.asked.all, beginning{one, id, owner})
	isBusy := w.asked.isBusy
	w.asked.isBusy = true
	w.asked.mu.Unlock()
	if !isBusy {
		go w.beginAll()
	}
}

func (w *waits) beginAll() {
	for {
		w.asked.mu.Lock()
		all := w.asked.all
		w.asked.all = nil
		w.asked.isBusy = len(all) > 0
		w.asked.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, each := range all {
			k, err := checkRow(each.id, each.owner)
			if err == nil {
				w.purger.start()
				err = w.add(k, each.one)
			}
			if err != nil {
				each.one.err = err
			}
			each.one.wake()
		}
	}
}

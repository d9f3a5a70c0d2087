// SPDX-License-Identifier: MIT

package urlmode

import "sync"

// starter has the waits that are about to begin. One goroutine begins them all, and ends when there are none: the stack of a goroutine
// that has done so itself has grown to 4 KB, and the runtime does not shrink it again. 100,000 waits would need 200 MB more.
type starter struct {
	mu     sync.Mutex
	all    []starting
	isBusy bool
}

type starting struct {
	wait  *wait
	id    string
	owner Owner
}

// begin begins a wait, and wakes it when it has begun or could not.
func (ws *waits) begin(w *wait, id string, owner Owner) {
	ws.starter.mu.Lock()
	ws.starter.all = append(ws.starter.all, starting{w, id, owner})
	isBusy := ws.starter.isBusy
	ws.starter.isBusy = true
	ws.starter.mu.Unlock()
	if !isBusy {
		go ws.beginAll()
	}
}

func (ws *waits) beginAll() {
	for {
		ws.starter.mu.Lock()
		all := ws.starter.all
		ws.starter.all = nil
		ws.starter.isBusy = len(all) > 0
		ws.starter.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, each := range all {
			k, err := ws.tenant.checkRow(each.id, each.owner)
			if err == nil {
				ws.purger.start()
				ws.rechecks.start()
				err = ws.add(k, each.wait)
			}
			if err != nil {
				each.wait.err = err
			}
			each.wait.wake()
		}
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// notification is what the database announces. Anyone who can connect to it can send another text.
type notification struct {
	ID       string `json:"id"`
	Late     bool   `json:"late"`
	Refunded bool   `json:"refunded"`
	Outcome  string `json:"outcome"`
	Status   string `json:"status"`
}

// parseNotifications reads one object, or an array of those of a statement. A member of another type than it should be does not count.
func parseNotifications(payload []byte) []notification {
	if text := bytes.TrimLeft(payload, " \t\r\n"); len(text) == 0 || text[0] != '[' {
		payload = slices.Concat([]byte("["), payload, []byte("]"))
	}
	var notified []notification
	if err := json.Unmarshal(payload, &notified); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return nil
	}
	return slices.DeleteFunc(notified, func(one notification) bool { return !isID(one.ID) })
}

// subscriber is told what the listener hears, and that it listens from now on, or polls: what was announced before may not be known.
type subscriber interface {
	notified([]notification)
	listening()
}

// audience is who hears what the listener hears. Who is told must not come or go meanwhile.
type audience struct {
	mu  sync.Mutex
	all map[subscriber]struct{}
}

func (a *audience) add(who subscriber) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[subscriber]struct{}{}
	}
	a.all[who] = struct{}{}
}

func (a *audience) remove(who subscriber) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, who)
}

func (a *audience) notified(all []notification) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for who := range a.all {
		who.notified(all)
	}
}

func (a *audience) listening() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for who := range a.all {
		who.listening()
	}
}

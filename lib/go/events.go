// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// Event is something that has become of an elicitation, for an audit log. An instance tells of its own actions, and of the changes that it sees
// while it waits, each once; of late payments and of refunds each instance tells.
type Event struct {
	Type          EventType // what has happened
	ElicitationID string    // of which elicitation
	Provider      string    // its name in the configuration
	Owner         Owner     // whose it is
	// Kind is empty for EventLate and EventRefunded.
	Kind Kind
	// ExpiresAt is that of EventCreated.
	ExpiresAt time.Time
	// Action and Reason are those of EventCompleted.
	Action Action
	Reason string
	// Payment is that of EventLate, and Refund that of EventRefunded.
	Payment *ProvenPayment
	Refund  *Refund
}

var eventRanks = map[EventType]byte{EventCreated: 1, EventOpened: 2, EventProcessing: 3, EventCompleted: 4}

// events reports to Config.OnEvent. It is nil without one.
type events struct {
	report func(context.Context, Event)
	begin  func() // to follow late payments and refunds

	mu           sync.Mutex
	ranks, older map[string]byte
}

// once tells it unless a later status of the elicitation was told, or the same one.
func (es *events) once(ctx context.Context, event Event) {
	rank := eventRanks[event.Type]
	es.mu.Lock()
	known, isKnown := es.ranks[event.ElicitationID]
	if !isKnown {
		known = es.older[event.ElicitationID]
	}
	if rank > known {
		es.ranks[event.ElicitationID] = rank
		if len(es.ranks) == limits.RememberedMin {
			es.older, es.ranks = es.ranks, map[string]byte{}
		}
	}
	es.mu.Unlock()
	if rank > known {
		es.report(ctx, event)
	}
}

func (es *events) created(ctx context.Context, at placed, owner Owner) {
	if es == nil {
		return
	}
	es.begin()
	if !at.isResumed {
		es.once(ctx, Event{Type: EventCreated, ElicitationID: at.key.id, Provider: at.provider, Owner: owner, Kind: at.kind, ExpiresAt: at.expiresAt})
	}
}

// waitEvents are those of a wait. waits.mu protects provider and kind until they are set.
type waitEvents struct {
	events   *events
	owner    Owner
	provider string
	kind     Kind
}

// read says what the row is.
func (t *waitEvents) read(of *row) {
	if t != nil && t.provider == "" {
		t.provider, t.kind = of.provider, of.kind
	}
}

func (t *waitEvents) event(w *wait, what EventType) Event {
	return Event{Type: what, ElicitationID: w.entry.key.id, Provider: t.provider, Owner: t.owner, Kind: t.kind}
}

// follow has a wait that is about to begin tell what it sees. Not in the frame of Wait: see await.
//
//go:noinline
func (es *events) follow(w *wait, owner Owner) {
	es.begin()
	t, options := &waitEvents{events: es, owner: owner}, *w.options
	progress := options.Progress
	options.Progress = func(each Progress) {
		if each != ProgressAttemptFailed {
			es.once(w.ctx, t.event(w, EventType(each)))
		}
		if progress != nil {
			progress(each)
		}
	}
	options.events = t
	w.options = &options
}

// completed tells how a wait has ended.
//
//go:noinline
func (t *waitEvents) completed(w *wait) {
	event := t.event(w, EventCompleted)
	event.Action, event.Reason = w.outcome.Action, w.outcome.Reason
	t.events.once(w.ctx, event)
}

// reportCompleted reports what this instance has completed. An event that cannot be reported fails nothing else.
func (m *Instance) reportCompleted(ctx context.Context, k rowKey, owner Owner) {
	if m.events == nil {
		return
	}
	if read, err := m.db.read(ctx, k); err == nil && read.status == Completed {
		m.events.once(ctx, Event{Type: EventCompleted, ElicitationID: k.id, Provider: read.provider, Owner: owner, Kind: read.kind,
			Action: read.action, Reason: read.reason})
	}
}

func (m *Instance) newEvents(report func(context.Context, Event), running context.Context) *events {
	if report == nil {
		return nil
	}
	return &events{report: report, ranks: map[string]byte{}, begin: sync.OnceFunc(func() {
		late, refunds := m.LatePayments(running), m.NewRefunds(running)
		m.waits.run(func() {
			for each := range late {
				report(running, Event{Type: EventLate, ElicitationID: each.ElicitationID, Provider: each.Provider, Owner: each.Owner, Payment: &each})
			}
		})
		m.waits.run(func() {
			for each := range refunds {
				report(running, Event{Type: EventRefunded, ElicitationID: each.ElicitationID, Provider: each.Provider, Owner: each.Owner, Refund: &each})
			}
		})
	})}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/texts"
)

func endOf(outcome *Outcome, err error) string {
	switch {
	case err == nil:
		return string(outcome.Action)
	case errors.Is(err, ErrTimeout):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "aborted"
	case errors.Is(err, ErrClosed):
		return "closed"
	}
	return "error"
}

// Stats is what an instance knows of its waits. A look without a wait (WaitOptions.Once) is none.
type Stats struct {
	// OpenWaits is how many calls wait for an outcome, and OldestWait for how long the oldest of them has.
	OpenWaits  int
	OldestWait time.Duration
	// EndedWaits is how many have ended, by the action of the outcome, or by why there is none: timeout, aborted, closed or error.
	EndedWaits map[string]int
	// Receiving means that notifications of PostgreSQL arrive. Otherwise rows are polled, or nobody waits.
	Receiving bool
	// ConnectionsLost is how many listening connections were lost or not made, each followed by another attempt.
	ConnectionsLost int
	// CallsInProgress is how many calls wait for PostgreSQL, or for a connection to it.
	CallsInProgress int
}

// Stats is what this instance knows now. Metrics has the same as text.
func (m *Instance) Stats() Stats {
	var now Stats
	now.OpenWaits, now.OldestWait, now.EndedWaits = m.waits.measure()
	now.Receiving, now.ConnectionsLost = m.listener.measure()
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	now.CallsInProgress = m.pool.inProgress
	return now
}

// Metrics is what this instance knows of its waits, for Prometheus (text format 0.0.4). The names are those of
// the Node package. A look without a wait (WaitOptions.Once) is none.
func (m *Instance) Metrics() string {
	now := m.Stats()
	ended := make([]string, len(waitEnds))
	for i, end := range waitEnds {
		ended[i] = fmt.Sprintf("{end=%q} %d", end, now.EndedWaits[end])
	}
	arrive := 0
	if now.Receiving {
		arrive = 1
	}
	var text strings.Builder
	metric := func(name, kind, help string, samples ...string) {
		fmt.Fprintf(&text, "# HELP urlmode_server_%s %s\n# TYPE urlmode_server_%[1]s %[3]s\n", name, help, kind)
		for _, sample := range samples {
			fmt.Fprintf(&text, "urlmode_server_%s%s\n", name, sample)
		}
	}
	metric("waits", "gauge", texts.WaitsMetric, fmt.Sprintf(" %d", now.OpenWaits))
	metric("oldest_wait_age_seconds", "gauge", texts.OldestWaitMetric,
		fmt.Sprintf(" %.3f", now.OldestWait.Seconds()))
	metric("waits_ended_total", "counter", texts.WaitsEndedMetric, ended...)
	metric("notifications_arrive", "gauge", texts.NotificationsMetric,
		fmt.Sprintf(" %d", arrive))
	metric("connections_lost_total", "counter", texts.ConnectionsLostMetric,
		fmt.Sprintf(" %d", now.ConnectionsLost))
	return text.String()
}

func (ws *waits) measure() (open int, oldest time.Duration, counts map[string]int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now := ws.now()
	ws.all(func(e *entry) {
		for each := e.first; each != nil; each = each.next {
			if !each.options.Once {
				open++
				oldest = max(oldest, now-each.began)
			}
		}
	})
	return open, oldest, maps.Clone(ws.ends)
}

func (l *listener) measure() (receiving bool, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.receiving, l.lost
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
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

// Metrics is what this instance knows of its waits, for Prometheus (text format 0.0.4). The names are those of
// the Node package. A look without a wait (WaitOptions.Once) is none.
func (m *Instance) Metrics() string {
	open, oldest, counts := m.waits.measure()
	ended := make([]string, len(waitEnds))
	for i, end := range waitEnds {
		ended[i] = fmt.Sprintf("{end=%q} %d", end, counts[end])
	}
	arrive, lost := m.listener.measure()
	var text strings.Builder
	metric := func(name, kind, help string, samples ...string) {
		fmt.Fprintf(&text, "# HELP urlmode_server_%s %s\n# TYPE urlmode_server_%[1]s %[3]s\n", name, help, kind)
		for _, sample := range samples {
			fmt.Fprintf(&text, "urlmode_server_%s%s\n", name, sample)
		}
	}
	metric("waits", "gauge", "Calls that wait for an outcome.", fmt.Sprintf(" %d", open))
	metric("oldest_wait_age_seconds", "gauge", "For how long the oldest of them has waited; 0: there is none.",
		fmt.Sprintf(" %.3f", oldest.Seconds()))
	metric("waits_ended_total", "counter", "Waits that have ended, by the action of the outcome, or by why there is none.", ended...)
	metric("notifications_arrive", "gauge", "Whether notifications of PostgreSQL arrive; 0: rows are polled, or nobody waits.",
		fmt.Sprintf(" %d", arrive))
	metric("connections_lost_total", "counter", "Listening connections that were lost or not made, each followed by another attempt.",
		fmt.Sprintf(" %d", lost))
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

func (l *listener) measure() (arrive, lost int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.receiving {
		arrive = 1
	}
	return arrive, l.lost
}

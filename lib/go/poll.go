// SPDX-License-Identifier: MIT

package urlmode

import (
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// polls are the times at which all rows are read where no notification arrives.
type polls struct {
	every time.Duration
	at    time.Time
}

// start polls soon. Where waits begin all the time, that does not delay the next poll.
func (p *polls) start(now time.Time) {
	p.every = limits.PollMin
	first := now.Add(timing.Jittered(limits.PollMin))
	if p.at.IsZero() || first.Before(p.at) {
		p.at = first
	}
}

func (p *polls) isDue(now time.Time) bool {
	if now.Before(p.at) {
		return false
	}
	p.every = min(limits.PollMax, time.Duration(float64(p.every)*limits.PollGrowth))
	p.at = now.Add(timing.Jittered(p.every))
	return true
}

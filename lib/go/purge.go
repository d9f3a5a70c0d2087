// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// kept is for how long something is kept.
type kept struct {
	results   time.Duration // after a wait has read them
	unclaimed time.Duration // the result of a payment that no call has claimed
	rows      time.Duration // rows that are over; less than zero: for ever
}

func checkKept(c Config) (kept, error) {
	k := kept{orDefault(c.KeepResults, limits.KeepResults), orDefault(c.KeepUnclaimed, limits.KeepUnclaimed),
		orDefault(c.Retention, limits.Retention)}
	k.results = max(k.results, 0)
	if err := checkDuration("KeepResults", k.results, 0, limits.KeepResultsMax); err != nil {
		return k, err
	}
	// The database purges no unclaimed result that is younger, and deletes nothing that has been over for less.
	if err := checkDuration("KeepUnclaimed", k.unclaimed, limits.KeepUnclaimedMin, limits.KeepUnclaimedMax); err != nil {
		return k, err
	}
	if k.rows < 0 {
		return k, nil
	}
	return k, checkDuration("Retention", k.rows, limits.RetentionMin, limits.RetentionMax)
}

func orDefault(value, otherwise time.Duration) time.Duration {
	if value == 0 {
		return otherwise
	}
	return value
}

// purger keeps nothing for longer than necessary. It marks results as read after a wait has received them, and has
// the database purge the results that are due once a minute, and purgeable elicitations once an hour.
type purger struct {
	db   *database
	kept kept
	log  *slog.Logger
	ctx  context.Context
	done sync.WaitGroup

	begin    sync.Once
	warnOnce sync.Once
	marking  sync.Mutex
	mu       sync.Mutex
	unmarked []rowKey
	timer    *time.Timer
}

// start purges regularly, until the context of the instance ends.
func (p *purger) start() {
	p.begin.Do(func() {
		p.done.Add(1)
		go p.every(limits.PurgeResultsEvery, "results are", p.purgeResults)
		if p.kept.rows >= 0 {
			p.done.Add(1)
			go p.every(limits.PurgeRowsEvery, "elicitations are", p.purgeRows)
		}
	})
}

func (p *purger) every(interval time.Duration, what string, purge func() error) {
	defer p.done.Done()
	for timing.Sleep(p.ctx, timing.Jittered(interval)) == nil {
		// When PostgreSQL is unavailable, the next purge catches up.
		if err := purge(); isRefusal(err) {
			p.warn(what, err)
		}
	}
}

func (p *purger) purgeResults() error {
	p.markAll()
	for {
		more, err := p.db.purgeResults(p.ctx, p.kept.unclaimed)
		if err != nil || !more {
			return err
		}
	}
}

func (p *purger) purgeRows() error {
	_, err := p.db.purge(p.ctx, p.kept.rows, "")
	return err
}

// markRead marks a row whose result a wait has received.
func (p *purger) markRead(k rowKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.unmarked) >= limits.UnmarkedMax {
		return
	}
	p.unmarked = append(p.unmarked, k)
	if p.timer == nil {
		p.timer = time.AfterFunc(limits.MarkDelay, p.markAll)
	}
}

// markAll marks all rows, if PostgreSQL is available. Otherwise they are marked with the next ones, or before the next purge.
func (p *purger) markAll() {
	p.marking.Lock()
	defer p.marking.Unlock()
	for {
		p.mu.Lock()
		if p.timer != nil {
			p.timer.Stop()
			p.timer = nil
		}
		batch := p.unmarked[:min(limits.PurgeBatchMax, len(p.unmarked))]
		p.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if err := p.db.markRead(context.Background(), batch, p.kept.results); err != nil {
			if !isRefusal(err) {
				return
			}
			p.warn("results are", err)
		}
		p.mu.Lock()
		if p.unmarked = p.unmarked[len(batch):]; len(p.unmarked) == 0 {
			p.unmarked = nil
		}
		p.mu.Unlock()
	}
}

func (p *purger) warn(what string, err error) {
	p.warnOnce.Do(func() { warn(p.log, "URLMODE_PURGE", what+" not purged: "+err.Error()) })
}

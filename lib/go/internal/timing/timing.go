// SPDX-License-Identifier: MIT

// Package timing is how the modules of this repository pause.
package timing

import (
	"context"
	"math/rand/v2"
	"time"
)

// Jittered changes an interval by up to a quarter, at random, so that many processes do not act at the same moment.
func Jittered(interval time.Duration) time.Duration {
	return time.Duration(float64(interval) * (0.75 + rand.Float64()/2))
}

// Sleep pauses until the interval is over, or the context has ended, whose error it then returns.
func Sleep(ctx context.Context, interval time.Duration) error {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SPDX-License-Identifier: MIT

// The race detector needs memory of its own: tests/run runs this test without it.
//go:build !race

package urlmode

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// What 100,000 open waits take, with the goroutines that wait, and contexts that have deadlines of their own: 360 to 450 MB, because the
// runtime begins goroutines with 2 or 4 KB of stack, as it sees fit. The limit is below what they took (590 MB) when all stacks had grown.
func TestMemoryOfWaits(t *testing.T) {
	const count, most = 100_000, 540_000_000
	m := offline(t)
	ids := make([]string, count)
	for i := range ids {
		ids[i] = newID()
	}
	before := inUse()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Add(count)
	for _, id := range ids {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		go func() {
			m.Wait(ctx, id, Owner{Subject: id})
			group.Done()
		}()
	}
	until(t, "all waits are open", func() bool { return m.OpenWaits() == count })
	m.waits.mu.Lock()
	m.waits.all(func(of *entry) {
		m.waits.goOn(of, &row{id: of.key.id, kind: Payment, status: Opened, closesInMs: 3_600_000})
	})
	m.waits.mu.Unlock()
	used := inUse() - before
	t.Logf("%d waits take %d MB, %d bytes each", count, used/1_000_000, used/count)
	if used > most {
		t.Errorf("more than %d MB", most/1_000_000)
	}
	stop()
	group.Wait()
	if m.OpenWaits() != 0 {
		t.Errorf("%d waits are still open", m.OpenWaits())
	}
}

// inUse is what the runtime has from the system, without what it has given back.
func inUse() uint64 {
	runtime.GC()
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys - stats.HeapReleased
}

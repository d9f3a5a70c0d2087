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

// What 100,000 open waits take, with the goroutines that wait. The contexts are their callers', and so they are made before: one
// with a deadline takes 400 bytes more. The runtime begins a goroutine with 2 KB of stack, of which the caller has about 400 bytes:
// see await and beginnings.
func TestMemoryOfWaits(t *testing.T) {
	const count, most = 100_000, 400_000_000
	m := offline(t)
	start := inUse()
	ids, contexts := make([]string, count), make([]context.Context, count)
	all, stop := context.WithCancel(t.Context())
	for i := range ids {
		one, cancel := context.WithTimeout(all, time.Hour)
		defer cancel()
		ids[i], contexts[i] = newID(), one
	}
	before := inUse()
	var group sync.WaitGroup
	group.Add(count)
	for i, id := range ids {
		ctx := contexts[i]
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
	t.Logf("%d waits take %d MB, %d bytes each, and their contexts and ids %d MB", count, used/1_000_000, used/count, (before-start)/1_000_000)
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

// SPDX-License-Identifier: MIT

// The race detector needs memory of its own: tests/run runs this test without it.
//go:build !race

package urlmode

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/statements"
)

// What 100,000 open waits take, with the goroutines that wait. The contexts are their callers', and so they are made before: one
// with a deadline takes 400 bytes more. The runtime begins a goroutine with 2 KB of stack, of which the caller has about 400 bytes:
// see await and starter.
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
	m.waits.all(func(e *entry) {
		m.waits.keepWaiting(e, &row{id: e.key.id, kind: Payment, status: Opened, closesInMs: 3_600_000})
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

// What a plain caller has: each goroutine makes its context, keeps the outcome, and waits. Its stack has grown to 4 KB by then, which the
// runtime does not shrink. The goroutine and its context alone, without a wait, are most of the rest.
func TestMemoryOfPlainCallers(t *testing.T) {
	const count = 100_000
	m := offline(t)
	measured := func(call func(ctx context.Context, id string) error, isReady func(begun int64) bool) uint64 {
		before := inUse()
		all, stop := context.WithCancel(t.Context())
		defer stop()
		var begun atomic.Int64
		var group sync.WaitGroup
		for range count {
			group.Add(1)
			go func() {
				defer group.Done()
				ctx, cancel := context.WithTimeout(all, time.Hour)
				defer cancel()
				begun.Add(1)
				if err := call(ctx, newID()); err == nil {
					t.Error("it has ended")
				}
			}()
		}
		until(t, "all have begun", func() bool { return isReady(begun.Load()) })
		used := inUse() - before
		stop()
		group.Wait()
		return used / 1_000_000
	}
	alone := measured(func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(begun int64) bool { return begun == count })
	waiting := measured(func(ctx context.Context, id string) error {
		outcome, err := m.Wait(ctx, id, Owner{Subject: id})
		if err == nil {
			t.Log(outcome)
		}
		return err
	}, func(int64) bool { return m.OpenWaits() == count })
	t.Logf("%d goroutines with their contexts take %d MB, and %d MB when they wait", count, alone, waiting)
	if waiting > 640 || waiting > alone+330 {
		t.Errorf("a wait adds %d MB", waiting-alone)
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

// callsOr is how many calls a test makes: CALLS, or so many.
func callsOr(few int) int {
	if given, err := strconv.Atoi(os.Getenv("CALLS")); err == nil {
		return given
	}
	return few
}

// keepsNothing compares what is allocated before and after so many rounds.
func keepsNothing(t *testing.T, rounds int, round func()) {
	t.Helper()
	allocated := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc + stats.StackInuse)
	}
	for range max(10, rounds/10) {
		round()
	}
	before, goroutines := allocated(), runtime.NumGoroutine()
	for range rounds {
		round()
	}
	growth := allocated() - before
	t.Logf("%d bytes a round", growth/int64(rounds))
	// What the runtime and pgx keep for themselves differs by some pages.
	if growth > int64(10*rounds+100_000) {
		t.Errorf("%d bytes after %d rounds", growth, rounds)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 20 {
		t.Errorf("%d goroutines more after %d rounds", more, rounds)
	}
}

// What an elicitation takes from its begin to its end, on a real PostgreSQL.
func TestMemoryOfCalls(t *testing.T) {
	const together = 25
	m := open(t)
	ctx := t.Context()
	one := func() error {
		me := someone()
		made, err := m.Create(ctx, Request{Provider: "stripe", Kind: Signature, Owner: me, Item: newID(), TargetURL: "https://sign.example"})
		if err != nil {
			return err
		}
		id := made.ElicitationID
		if _, err := m.Complete(ctx, id, me, Answer{Action: Accept}); err != nil {
			return err
		}
		if outcome, err := m.Wait(ctx, id, me); err != nil || outcome.Action != Accept {
			return fmt.Errorf("%v, %w", outcome, err)
		}
		claim, err := m.BeginClaim(ctx, id, me, LeaseOptions{})
		if err != nil || claim.State != ClaimBegun {
			return fmt.Errorf("%v, %w", claim, err)
		}
		if _, err := claim.Fulfil(ctx, "signed"); err != nil {
			return err
		}
		_, err = claim.Confirm(ctx)
		return err
	}
	keepsNothing(t, callsOr(500)/together, func() {
		ended := make(chan error, together)
		for range together {
			go func() { ended <- one() }()
		}
		for range together {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A connection that listens, is lost, and is opened again.
func TestMemoryOfTheListener(t *testing.T) {
	m, name := open(t), "memory-"+newID()
	l := m.listener
	l.server.ConnConfig.RuntimeParams["application_name"] = name
	admin := asOperator(t)
	keepsNothing(t, callsOr(10_000)/100, func() {
		ended := make(chan error, 1)
		go func() {
			_, err := l.serve()
			ended <- err
		}()
		for !l.isReceiving() {
			time.Sleep(100 * time.Microsecond)
		}
		if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", name); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Fatal("it was not lost")
		}
		l.mu.Lock()
		l.receiving = false // as keep() says
		l.mu.Unlock()
	})
}

// Notifications, and the reports of late payments, of which the last ten thousand are remembered.
func TestMemoryOfReports(t *testing.T) {
	m := offline(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reported, count := make(chan int32), int32(0)
	m.db.offset.Store(new(time.Duration))
	kind := kindOfReport[int32, int32, bool]{matches: func(a notification) bool { return a.Late }, reported: func(n int32) (int32, bool) { return n, true },
		read: func(_ context.Context, f filter) ([]int32, error) {
			if f.id == "" {
				return nil, nil
			}
			count++
			return []int32{count}, nil
		}}
	go func() {
		for each := range reportsOf(ctx, m, kind) {
			reported <- each
		}
		close(reported)
	}()
	until(t, "somebody listens", func() bool {
		m.listener.audience.mu.Lock()
		defer m.listener.audience.mu.Unlock()
		return len(m.listener.audience.all) == 1
	})
	report := func() {
		m.listener.notified(&pgconn.Notification{Channel: statements.Channel, Payload: `{"id":"` + newID() + `","late":true}`})
		<-reported
	}
	for range 2 * limits.ReportedMax {
		report()
	}
	keepsNothing(t, callsOr(20_000), report)
	stop()
	for range reported {
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode/internal/limits"
)

// statement is one that the test answers.
type statement struct {
	elements []int
	answer   chan error
}

// playBatches makes batches with a clock. pass: all who are waiting have waited as long as they may.
func playBatches() (played *batches[int, int], sent chan statement, pass func()) {
	var mu sync.Mutex
	clock := make(chan time.Time)
	after := func(time.Duration) <-chan time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock
	}
	pass = func() {
		mu.Lock()
		defer mu.Unlock()
		close(clock)
		clock = make(chan time.Time)
	}
	sent = make(chan statement)
	return &batches[int, int]{after: after, run: func(_ context.Context, wanted func() []int) ([]int, error) {
		elements := wanted()
		this := statement{elements, make(chan error)}
		sent <- this
		return elements, <-this.answer
	}}, sent, pass
}

func ask(b *batches[int, int], element int) chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := b.ask(context.Background(), element)
		ended <- err
	}()
	return ended
}

// waiting are those who wait for a statement, when there are so many.
func waiting(t *testing.T, b *batches[int, int], count int) (all []*queued[int, int]) {
	t.Helper()
	until(t, "they wait", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		all = slices.Clone(b.queued)
		return len(all) == count
	})
	return all
}

func isBusy(err error) bool { return errors.Is(err, ErrBusy) }

func TestWhatIsNotSentInTimeIsRefusedAndNeverSent(t *testing.T) {
	b, sent, pass := playBatches()
	first, second := ask(b, 1), (chan error)(nil)
	one := <-sent
	second = ask(b, 2)
	two := <-sent
	third := ask(b, 3)
	waiting(t, b, 1)
	pass()
	if err := <-third; !isBusy(err) {
		t.Fatalf("it ends with %v", err)
	}
	one.answer <- nil
	two.answer <- nil
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatalf("what was sent is waited for: %v", err)
	}
	last := ask(b, 4)
	if next := <-sent; len(next.elements) != 1 || next.elements[0] != 4 {
		t.Fatalf("%v was sent", next.elements)
	} else {
		next.answer <- nil
	}
	if err := <-last; err != nil {
		t.Fatal(err)
	}
}

func TestHalvesAreTriedOnlyForThoseWhoStillWait(t *testing.T) {
	b, sent, pass := playBatches()
	var busy []statement
	for range limits.BatchesAtOnce {
		ask(b, 0)
		busy = append(busy, <-sent) // before the next one is asked: it must not come into the same statement
	}
	late := []chan error{ask(b, 1), ask(b, 2)}
	both := waiting(t, b, 2)
	busy[0].answer <- nil
	batch := <-sent
	pass()
	until(t, "both are overdue", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return both[0].late != nil && both[1].late != nil
	})
	batch.answer <- &pgconn.PgError{Code: "57014"}
	for _, each := range late {
		if err := <-each; !isBusy(err) {
			t.Errorf("it ends with %v", err)
		}
	}
	busy[1].answer <- nil
	if err := <-func() chan error { e := ask(b, 3); (<-sent).answer <- nil; return e }(); err != nil {
		t.Error(err)
	}
}

func TestNoMoreCallsThanALimitAreInProgress(t *testing.T) {
	p := offline(t).pool
	for range limits.CallsMax {
		if err := p.begin(); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.begin(); !isBusy(err) {
		t.Errorf("one more begins: %v", err)
	}
	for range limits.CallsMax {
		p.end()
	}
	if err := p.begin(); err != nil {
		t.Error(err)
	}
	p.end()
}

// staysFlat compares what is allocated before and after many calls. CALLS makes more than the tests do.
func staysFlat(t *testing.T, call func()) {
	t.Helper()
	calls := 20_000
	if given, err := strconv.Atoi(os.Getenv("CALLS")); err == nil {
		calls = given
	}
	inHeap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	for range calls / 10 {
		call()
	}
	// What a call keeps is kept in each round. What else is at work may allocate in one, and what the runtime keeps for itself differs by
	// some pages.
	for round := 1; ; round++ {
		before := inHeap()
		for range calls {
			call()
		}
		growth := inHeap() - before
		if growth <= int64(10*calls+100_000) {
			return
		}
		if round == 3 {
			t.Errorf("%d bytes after %d calls", growth, calls)
			return
		}
	}
}

func TestCallsKeepNothing(t *testing.T) {
	m := offline(t)
	b := &batches[int, int]{run: func(_ context.Context, elements func() []int) ([]int, error) { return elements(), nil }}
	staysFlat(t, func() {
		if _, err := call(t.Context(), m.pool, func(ctx context.Context) (int, error) { return b.ask(ctx, 1) }); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWaitsKeepNothing(t *testing.T) {
	m := offline(t)
	ended, stop := context.WithCancel(t.Context())
	stop()
	staysFlat(t, func() {
		id := newID()
		w := newWait(t.Context(), defaultWaitOptions)
		if err := m.waits.add(rowKey{id, bindingOf(Owner{Subject: id})}, w); err != nil {
			t.Fatal(err)
		}
		m.waits.notified([]notification{{ID: id}, {ID: newID()}})
		m.waits.remove(w, nil, errorClosed())
		if _, err := m.Wait(ended, id, Owner{Subject: id}); err == nil {
			t.Fatal("it waits")
		}
	})
	if m.OpenWaits() != 0 {
		t.Errorf("%d waits are open", m.OpenWaits())
	}
}

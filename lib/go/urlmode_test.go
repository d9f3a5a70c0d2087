// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestManyWaitsOfManyGoroutines(t *testing.T) {
	m, p := open(t), openPrograms(t)
	const count = 200
	var group sync.WaitGroup
	owners, ids := make([]Owner, count), make([]string, count)
	for i := range count {
		owners[i] = someone()
		group.Go(func() {
			made, err := m.Create(t.Context(), account(owners[i]))
			if err != nil {
				t.Error(err)
			}
			ids[i] = made.ElicitationID
		})
	}
	group.Wait()
	ends := make([]<-chan ending, count)
	for i := range count {
		ends[i] = begin(t, t.Context(), m, ids[i], owners[i], WaitOptions{})
	}
	if m.OpenWaits() != count {
		t.Fatalf("%d waits are open", m.OpenWaits())
	}
	for i := range count {
		p.comeBack(t, ids[i], owners[i], fmt.Sprint(i))
	}
	for i, end := range ends {
		if got := <-end; got.err != nil || got.outcome.Result["code"] != fmt.Sprint(i) {
			t.Fatalf("%d: %#v, %v", i, got.outcome, got.err)
		}
	}
	until(t, "all waits have ended", func() bool { return m.OpenWaits() == 0 })
}

func TestEndsWithoutAnOutcome(t *testing.T) {
	m, other, p := open(t), open(t), openPrograms(t)
	endOf := func(id string, of Owner) string {
		t.Helper()
		outcome, err := other.WaitWith(t.Context(), id, of, WaitOptions{Once: true})
		var own *Error
		if errors.As(err, &own) {
			return string(own.Status)
		}
		if err != nil {
			t.Fatal(err)
		}
		return outcome.Reason
	}
	for _, row := range []struct {
		abandon, opened, deadline bool
		end                       string
	}{
		{false, false, false, "pending"}, {false, false, true, "pending"}, {true, false, false, "aborted"},
		{true, false, true, "timeout"}, {true, true, false, "opened"}, {true, true, true, "opened"},
	} {
		me := someone()
		elicitation := create(t, m, account(me))
		if row.opened {
			p.open(t, elicitation.ElicitationID, me)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wanted := context.Canceled
		if row.deadline {
			ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
			wanted = context.DeadlineExceeded
		}
		wait := begin(t, ctx, m, elicitation.ElicitationID, me, WaitOptions{Abandon: row.abandon})
		if !row.deadline {
			cancel()
		}
		got := <-wait
		cancel()
		if !errors.Is(got.err, wanted) || errors.Is(got.err, ErrTimeout) != row.deadline {
			t.Errorf("%+v: %v", row, got.err)
		}
		until(t, fmt.Sprintf("the end of %+v", row), func() bool { return endOf(elicitation.ElicitationID, me) == row.end })
	}
	me := someone()
	elicitation := create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{Abandon: true})
	m.Close()
	if got := <-wait; !errors.Is(got.err, ErrClosed) {
		t.Errorf("closed: %v", got.err)
	}
	if end := endOf(elicitation.ElicitationID, me); end != "closed" {
		t.Errorf("closed: it is %s", end)
	}
}

// An error of PostgreSQL quotes no row.
func TestErrorsOfPostgreSQL(t *testing.T) {
	m := open(t, func(c *Config) { c.DatabaseURL = required(t, "URLMODE_PROGRAMS_DATABASE_URL") })
	_, err := m.Unclaimed(t.Context(), ListOptions{})
	if !isRefusal(err) {
		t.Fatalf("another role: %v", err)
	}
	if _, err := m.Wait(t.Context(), newID(), someone()); !isRefusal(err) {
		t.Fatalf("a wait of another role: %v", err)
	}
}

// Close leaves no goroutine.
func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	m, me := open(t), someone()
	elicitation := create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range m.LatePayments(context.Background()) {
			t.Error("a late payment")
		}
	}()
	m.Close()
	<-wait
	<-done
	until(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

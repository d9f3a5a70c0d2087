// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode/internal/limits"
)

// A pool of the caller, whose password comes from elsewhere, and whose connections get settings of their own.
func TestPoolOfTheCaller(t *testing.T) {
	config, err := pgxpool.ParseConfig(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	password := config.ConnConfig.Password
	config.ConnConfig.Password = ""
	config.BeforeConnect = func(_ context.Context, to *pgx.ConnConfig) error {
		to.Password = password
		return nil
	}
	var prepared sync.Map
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		prepared.Store(conn.PgConn().PID(), true)
		_, err := conn.Exec(ctx, "SET application_name TO 'gateway'")
		return err
	}
	mine, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	m, p, me := open(t, func(c *Config) { c.DatabaseURL, c.Pool = "", mine }), openPrograms(t), someone()
	elicitation := create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	until(t, "notifications arrive", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	p.comeBack(t, elicitation.ElicitationID, me, "c")
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "c" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	m.Close()
	count := 0
	prepared.Range(func(any, any) bool { count++; return true })
	if own := int(mine.Stat().TotalConns()); count != own+1 {
		t.Errorf("%d of %d connections were prepared", count, own+1)
	}
	if err := mine.Ping(t.Context()); err != nil {
		t.Errorf("Close has closed the pool of its caller: %v", err)
	}
	if _, err := New(t.Context(), Config{DatabaseURL: "postgresql://a/b", Pool: mine, Keys: testKeys, BaseURL: "https://callback.example"}); !errors.Is(err, ErrArgument) {
		t.Errorf("both: %v", err)
	}
}

func TestSizeOfThePool(t *testing.T) {
	for _, row := range []struct {
		url  string
		size int32
	}{
		{"postgresql://127.0.0.1:1/x", limits.PoolMax}, {"postgresql://127.0.0.1:1/x?pool_max_conns=9", 9}, {"host=127.0.0.1 port=1 pool_max_conns=2", 2},
	} {
		if got := open(t, func(c *Config) { c.DatabaseURL = row.url }).pool.pgx.Config().MaxConns; got != row.size {
			t.Errorf("%s: %d", row.url, got)
		}
	}
}

// openDying has a pool with all of its connections, which go through a gate.
func openDying(t *testing.T) (*Instance, *gate) {
	gate := openGate(t)
	m := open(t, func(c *Config) { c.DatabaseURL = gate.url })
	var taken []*pgxpool.Conn
	for range limits.PoolMax {
		conn, err := m.pool.pgx.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, conn)
	}
	for _, conn := range taken {
		conn.Release()
	}
	until(t, "all are idle", func() bool { return m.pool.pgx.Stat().IdleConns() == limits.PoolMax })
	return m, gate
}

// silence lasts so long that connections are asked before the next call.
func silence(gate *gate) {
	gate.silence()
	time.Sleep(limits.Alive + 100*time.Millisecond)
}

func TestConnectionThatHasJustAnswered(t *testing.T) {
	gate := openGate(t)
	m := open(t, func(c *Config) { c.DatabaseURL = gate.url + "&pool_max_conns=1" })
	call := func() {
		if _, err := m.Unclaimed(t.Context(), ListOptions{}); err != nil {
			t.Fatal(err)
		}
		until(t, "its connection is idle", func() bool { return m.pool.pgx.Stat().IdleConns() == 1 })
	}
	call()
	before := gate.questions.Load()
	for _, row := range []struct {
		answered  time.Duration
		questions int32
	}{{time.Hour, 0}, {-limits.Alive, 1}, {time.Hour, 1}} { // in an hour: also where the machine is slow
		m.pool.mu.Lock()
		for each := range m.pool.idle {
			m.pool.idle[each] = time.Now().Add(row.answered)
		}
		m.pool.mu.Unlock()
		call()
		if got := gate.questions.Load() - before; got != row.questions {
			t.Errorf("%d questions, not %d", got, row.questions)
		}
	}
}

func TestCallsOnConnectionsThatDied(t *testing.T) {
	m, gate := openDying(t)
	me := someone()
	silence(gate)
	var running sync.WaitGroup
	for range limits.PoolMax {
		running.Go(func() { create(t, m, account(me)) })
	}
	if _, err := m.Unclaimed(t.Context(), ListOptions{}); err != nil {
		t.Error(err)
	}
	running.Wait()
	var rows int
	if err := asOperator(t).QueryRow(t.Context(), "SELECT count(*) FROM urlmode.elicitation WHERE subject = $1", me.Subject).Scan(&rows); err != nil || rows != limits.PoolMax {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A read is repeated; a change is not, and says that it may have been made.
func TestConnectionsThatDieBeforeTheAnswer(t *testing.T) {
	m, gate := openDying(t)
	m.pool.limit = 10 * time.Second
	holder, operator := asOperator(t), asOperator(t)
	unlock := lock(t, holder, "LOCK TABLE urlmode.payment, urlmode.elicitation")
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := m.Unclaimed(t.Context(), ListOptions{}); err != nil {
			t.Errorf("a read: %v", err)
		}
	})
	running.Go(func() {
		_, err := m.Create(t.Context(), account(someone()))
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), "it is not known whether this call was carried out") {
			t.Errorf("a change: %v", err)
		}
	})
	until(t, "both wait for the lock", func() bool {
		var waiting int
		// Not the holder: in a transaction, pg_stat_activity shows the sessions of the first time it was asked.
		err := operator.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))", holder.PgConn().PID()).Scan(&waiting)
		return err == nil && waiting == 2
	})
	silence(gate)
	unlock()
	running.Wait()
}

func TestNoConnectionInTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m := open(t, func(c *Config) {
		c.DatabaseURL = "postgresql://u@" + silent.Addr().String() + "/d?sslmode=disable&connect_timeout=2"
	})
	_, err = m.Create(t.Context(), account(someone()))
	if !errors.Is(err, ErrUnavailable) || !strings.HasSuffix(err.Error(), "Nothing was changed") {
		t.Error(err)
	}
}

// What was not sent when its caller gives up leaves the queue, and is not carried out.
func TestWhatWasNotSentIsNotCarriedOut(t *testing.T) {
	m := open(t, func(c *Config) { c.DatabaseURL += "?pool_max_conns=1" })
	other, me := open(t), someone()
	id := create(t, other, account(me)).ElicitationID
	if _, err := other.Complete(t.Context(), id, me, Answer{Action: Accept}); err != nil {
		t.Fatal(err)
	}
	busy, err := m.pool.pgx.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	const calls = 200
	for range calls {
		running.Go(func() {
			if made, err := m.Create(ctx, account(me)); !errors.Is(err, context.Canceled) {
				t.Errorf("Create: %v, %v", made, err)
			}
		})
		running.Go(func() {
			if claim, err := m.BeginClaim(ctx, id, me, LeaseOptions{}); !errors.Is(err, context.Canceled) {
				t.Errorf("BeginClaim: %v, %v", claim, err)
			}
		})
		running.Go(func() {
			if claimed, err := m.Claim(ctx, id, me, ClaimOptions{}); !errors.Is(err, context.Canceled) {
				t.Errorf("Claim: %t, %v", claimed, err)
			}
		})
	}
	inProgress := func() int {
		m.pool.mu.Lock()
		defer m.pool.mu.Unlock()
		return m.pool.inProgress
	}
	until(t, "all are in the queue", func() bool { return inProgress() >= 3*calls })
	cancel()
	running.Wait()
	until(t, "the queue is empty", func() bool { return inProgress() <= 1 }) // The purge of the instance is still in it.
	busy.Release()
	if _, err := m.Unclaimed(t.Context(), ListOptions{}); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := asOperator(t).QueryRow(t.Context(), "SELECT count(*) FROM urlmode.elicitation WHERE subject = $1", me.Subject).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if claim := beginClaim(t, other, id, me, LeaseOptions{}); claim.State != ClaimBegun {
		t.Errorf("the account is %s", claim.State)
	}
}

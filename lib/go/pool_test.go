// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"sync"
	"testing"

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
	asked := create(t, m, account(me))
	wait := begin(t, t.Context(), m, asked.ElicitationID, me, WaitOptions{})
	until(t, "notifications arrive", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	p.comeBack(t, asked.ElicitationID, me, "c")
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

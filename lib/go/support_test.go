// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// These tests need a stack: tests/stack/up, and the variables that it writes.

func required(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: source the env of a stack that tests/stack/up has started", name)
	}
	return value
}

var testKeys = "1 " + secret(32)

func open(t testing.TB, change ...func(*Config)) *Instance {
	t.Helper()
	config := Config{DatabaseURL: required(t, "URLMODE_DATABASE_URL"), Keys: testKeys, BaseURL: "https://callback.example"}
	for _, each := range change {
		each(&config)
	}
	made, err := New(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

func someone() Owner { return Owner{"user-" + newID(), "s"} }

func account(of Owner) Request {
	return Request{Provider: "github", Kind: OAuth, Owner: of, TargetURL: "https://provider.example/authorize?client_id=a"}
}

func create(t testing.TB, m *Instance, r Request) Elicitation {
	t.Helper()
	made, err := m.Create(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// connect opens a connection of a role, by the variable that has its URL.
func connect(t testing.TB, variable string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), required(t, variable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func asOperator(t testing.TB) *pgx.Conn {
	t.Helper()
	return connect(t, "URLMODE_ADMIN_DATABASE_URL")
}

// lock holds what a statement locks, until unlock is called.
func lock(t testing.TB, over *pgx.Conn, statement string, values ...any) (unlock func()) {
	t.Helper()
	locking, err := over.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locking.Exec(t.Context(), statement, values...); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := locking.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// programs complete rows as the callback programs do.
type programs struct {
	conn *pgx.Conn
	ring keys
}

func openPrograms(t testing.TB) *programs {
	t.Helper()
	conn := connect(t, "URLMODE_PROGRAMS_DATABASE_URL")
	ring, err := parseKeys(testKeys, "keys")
	if err != nil {
		t.Fatal(err)
	}
	return &programs{conn, ring}
}

func (p *programs) ask(t testing.TB, statement string, values ...any) string {
	t.Helper()
	for {
		var answer string
		err := p.conn.QueryRow(context.Background(), statement, values...).Scan(&answer)
		if sqlstate(err) == "55P03" {
			continue // The programs try again, too.
		}
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

func (p *programs) open(t testing.TB, id string, of Owner) {
	t.Helper()
	binding, browser := bindingOf(of), browserOf("c")
	if got := p.ask(t, "SELECT outcome FROM urlmode.open($1::text[]::uuid[], $2::bytea[], '{github}', $3::bytea[])",
		[]string{id}, [][]byte{binding[:]}, [][]byte{browser[:]}); got != "opened" {
		t.Fatalf("it is %s", got)
	}
}

func (p *programs) comeBack(t testing.TB, id string, of Owner, code string) {
	t.Helper()
	k := rowKey{id, bindingOf(of)}
	result := fmt.Sprintf(`{"code":%q}`, code)
	sealed := seal(p.ring, useResult, k, []byte(result), nil)
	outcome := seal(p.ring, useOutcome, k, []byte(`{"action":"accept","reason":"","result":`+result+`}`), nil)
	if got := p.ask(t, `SELECT outcome FROM urlmode.complete($1::text[]::uuid[], $2::bytea[], '{github}', '{accept}', '{""}', $3::bytea[],
		NULL, $4::bytea[])`, []string{id}, [][]byte{k.binding[:]}, [][]byte{sealed}, [][]byte{outcome}); got != "completed" {
		t.Fatalf("it is %s", got)
	}
}

func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for giveUp := time.Now().Add(60 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(giveUp) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

type ending struct {
	outcome Outcome
	err     error
}

// begin waits in a goroutine of its own, until the row was read.
func begin(t testing.TB, ctx context.Context, m *Instance, id string, of Owner, o WaitOptions) <-chan ending {
	t.Helper()
	ended := make(chan ending, 1)
	go func() {
		outcome, err := m.WaitWith(ctx, id, of, o)
		ended <- ending{outcome, err}
	}()
	until(t, "the row is read", func() bool {
		m.waits.mu.Lock()
		defer m.waits.mu.Unlock()
		first := m.waits.entries[id]
		return first != nil && first.isRead || len(ended) > 0
	})
	return ended
}

// bindingOf is that of an owner without a tenant.
func bindingOf(owner Owner) digest { return tenant("").bindingOf(owner) }

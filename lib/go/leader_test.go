// SPDX-License-Identifier: MIT

package urlmode

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode/internal/limits"
)

// pair is tests/support/pair.mjs: a primary and its standby, which part.
type pair struct {
	input   io.Writer
	output  *bufio.Reader
	server  string // the URL of both
	primary string // of the administrator, as the next one
	standby string
}

func startPair(t *testing.T) *pair {
	t.Helper()
	command := exec.Command("node", "../../tests/support/pair.mjs")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close()
		command.Wait()
	})
	p := &pair{input: input, output: bufio.NewReader(output)}
	urls := strings.Fields(p.line(t))
	if len(urls) != 4 {
		t.Fatalf("the pair says %q", urls)
	}
	p.server, p.primary, p.standby = urls[1], urls[2], urls[3]
	return p
}

func (p *pair) line(t *testing.T) string {
	t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (p *pair) ask(t *testing.T, command string) string {
	t.Helper()
	if _, err := io.WriteString(p.input, command+"\n"); err != nil {
		t.Fatal(err)
	}
	return p.line(t)
}

// countAt is a number that this server has.
func countAt(t *testing.T, url, query string, values ...any) (count int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query, values...).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

func TestLeaderThatDoesNotCommit(t *testing.T) {
	// What writes waits for it. A wait that looks at its row again goes on.
	const lockWrites = "LOCK TABLE urlmode.elicitation IN SHARE MODE"
	const byID = "SELECT count(*) FROM urlmode.elicitation WHERE id = $1"
	p, me := startPair(t), someone()
	m := open(t, func(c *Config) { c.DatabaseURL = p.server })
	before := create(t, m, account(me))
	wait := begin(t, t.Context(), m, before.ElicitationID, me, WaitOptions{})

	admin, err := pgx.Connect(t.Context(), p.primary)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	rename := func(from, to string) {
		if _, err := admin.Exec(t.Context(), "ALTER FUNCTION urlmode."+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	waitedFor := func() {
		t.Helper()
		unlock := lock(t, admin, lockWrites)
		slow := make(chan error, 1)
		go func() {
			_, err := m.Create(t.Context(), account(me))
			slow <- err
		}()
		time.Sleep(limits.CommitUnanswered + 2*time.Second)
		unlock()
		if err := <-slow; err != nil {
			t.Fatal(err)
		}
	}
	// What is slow is waited for, also where the functions are older than the package, and cannot say it.
	waitedFor()
	rename("leader", "leader_of_later")
	waitedFor()
	rename("leader_of_later", "leader")

	// What waits for a lock when it is asked about, and in its commit when it is asked again.
	unlock := lock(t, admin, lockWrites)
	again := account(me)
	again.ID = newID()
	stuck := make(chan error, 1)
	go func() {
		_, err := m.Create(t.Context(), again)
		stuck <- err
	}()
	p.ask(t, "part")
	time.Sleep(limits.CommitUnanswered + 2*time.Second)
	unlock()
	if err := <-stuck; !errors.Is(err, ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	// It was closed, and not cancelled, which would have committed it.
	if hung, rows := p.ask(t, "hung"), countAt(t, p.primary, byID, again.ID); hung != "1" || rows != 0 {
		t.Errorf("%s commits hang, %d rows", hung, rows)
	}
	// The same is asked again. Where the leader does not answer in time, on a busy machine, the old primary is tried once more.
	for tries := 1; ; tries++ {
		asked := time.Now()
		_, err := m.Create(t.Context(), again)
		if err == nil {
			break
		}
		if tries == 5 || !errors.Is(err, ErrUnavailable) || time.Since(asked) < limits.CommitUnanswered {
			t.Fatal(err)
		}
	}
	stillHung := p.ask(t, "hung")
	if rows := countAt(t, p.standby, byID, again.ID); rows != 1 {
		t.Errorf("%d rows", rows)
	}
	until(t, "it listens again", func() bool { return samplesOf(t, m)["notifications_arrive"] == 1 })
	if listens := countAt(t, p.standby, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'urlmode_server'"); listens < 2 {
		t.Errorf("%d sessions", listens)
	}
	end, err := pgx.Connect(t.Context(), p.standby)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close(context.Background())
	if _, err := end.Exec(t.Context(), "SELECT urlmode.abandon(ARRAY[$1::uuid], ARRAY[(SELECT binding FROM urlmode.elicitation WHERE id = $1)], '{cancel}', '{gone}')",
		before.ElicitationID); err != nil {
		t.Fatal(err)
	}
	if got := <-wait; got.err != nil || got.outcome.Action != Cancel {
		t.Errorf("%#v, %v", got.outcome, got.err)
	}
	if hung := p.ask(t, "hung"); hung != stillHung {
		t.Errorf("%s commits hang", hung)
	}
}

// TestLeaderIsLookedFor has it looked for as long as a host says nothing, which may be the old primary, and come back as it was.
func TestLeaderIsLookedFor(t *testing.T) {
	p := startPair(t)
	server, err := pgx.ParseConfig(p.server)
	if err != nil {
		t.Fatal(err)
	}
	l := &leadership{server: server}
	first := func() uint16 {
		t.Helper()
		to := server.Copy()
		if err := l.prepare(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		return to.Port
	}
	l.doubt()
	if port := first(); port != server.Port || l.isDoubted.Load() {
		t.Errorf("both have answered: %d, %v", port, l.isDoubted.Load())
	}
	p.ask(t, "part")
	l.doubt()
	p.ask(t, "stop")
	alone := first()
	p.ask(t, "start")
	if beside := first(); alone == server.Port || beside != alone {
		t.Errorf("%d, and then %d", alone, beside)
	}
}

// A statement whose context ends while it waits goes on, and commits.
func TestNeverCancel(t *testing.T) {
	admin := connect(t, "URLMODE_ADMIN_DATABASE_URL")
	do := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TABLE public.never_cancel (n integer)")
	defer do("DROP TABLE public.never_cancel")
	config, err := pgxpool.ParseConfig(required(t, "URLMODE_ADMIN_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error { called++; return nil }
	NeverCancel(config)
	mine, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	conn, err := mine.Acquire(t.Context())
	if err != nil || called != 1 {
		t.Fatal(err, called)
	}
	lost := conn.Conn().PgConn()

	unlock := lock(t, admin, "LOCK TABLE public.never_cancel")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(ctx, "INSERT INTO public.never_cancel VALUES (1)"); err == nil {
		t.Fatal("it did not wait")
	}
	conn.Release()
	<-lost.CleanupDone()
	unlock()
	until(t, "the row is there", func() bool {
		return countAt(t, config.ConnString(), "SELECT count(*) FROM public.never_cancel") == 1
	})
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// behindPgBouncer starts one in transaction mode, as the user postgres if the tests run as root. It returns the URL through it.
func behindPgBouncer(t *testing.T) string {
	t.Helper()
	through, err := url.Parse(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	folder, err := os.MkdirTemp("", "urlmode-pooler-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	users, settings := filepath.Join(folder, "users"), filepath.Join(folder, "ini")
	password, _ := through.User.Password()
	texts := map[string]string{
		users: fmt.Sprintf("%q %q\n", through.User.Username(), password),
		settings: fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = %s\n"+
			"auth_type = plain\nauth_file = %s\npool_mode = transaction\ndefault_pool_size = 4\n", through.Hostname(), through.Port(), folder, users),
	}
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pooler := exec.Command(program, settings)
	if os.Getuid() == 0 {
		postgres, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(postgres.Uid)
		gid, _ := strconv.Atoi(postgres.Gid)
		for _, name := range []string{folder, users, settings} {
			if err := os.Chown(name, uid, gid); err != nil {
				t.Fatal(err)
			}
		}
		pooler.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pooler.Process.Kill() // SIGTERM waits for its clients, from PgBouncer 1.23 on.
		pooler.Wait()
	})
	query := through.Query()
	query.Set("host", folder)
	query.Set("port", "6432")
	through.Host, through.RawQuery = "", query.Encode()
	until(t, "it answers", func() bool {
		conn, err := net.Dial("unix", filepath.Join(folder, ".s.PGSQL.6432"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return through.String()
}

// LISTEN does nothing there. Waits, late payments, refunds and the ledger poll, and everything else works.
func TestBehindPgBouncer(t *testing.T) {
	log := &lines{}
	m := open(t, func(c *Config) { c.DatabaseURL, c.Logger = behindPgBouncer(t), log.logger() })
	p, me, consumer := openPrograms(t), someone(), startsHere(t)
	heardLate, heardBack := heard(me, m.LatePayments(t.Context()), m.NewRefunds(t.Context()))
	entered := make(chan LedgerEntry, 100)
	go func() {
		for entry, err := range m.Ledger(t.Context(), LedgerOptions{consumer}) {
			if err != nil {
				return
			}
			if entry.Subject == me.Subject {
				entered <- entry
			}
		}
	}()
	for range 2 {
		late, back := latePayment(t, m, p, me), refunded(t, m, p, me)
		if got := within(t, "a late payment", heardLate); got != late {
			t.Errorf("%s, not %s", got, late)
		}
		if got := within(t, "a refund", heardBack); got != back {
			t.Errorf("%s, not %s", got, back)
		}
		for entry := within(t, "the payment", entered); entry.Type != LedgerLate || entry.Payment != late; {
			entry = within(t, "the late payment", entered)
		}
		for entry := within(t, "the refund", entered); entry.Type != LedgerRefunded || entry.Payment != "cs_"+back; {
			entry = within(t, "the refund", entered)
		}
	}
	elicitation := create(t, m, account(me))
	wait := begin(t, t.Context(), m, elicitation.ElicitationID, me, WaitOptions{})
	p.open(t, elicitation.ElicitationID, me)
	p.comeBack(t, elicitation.ElicitationID, me, "c")
	if got := <-wait; got.err != nil || got.outcome.Result["code"] != "c" {
		t.Fatalf("%#v, %v", got.outcome, got.err)
	}
	until(t, "it is warned", func() bool { return log.count("URLMODE_POLLING") == 1 })
	if m.listener.isReceiving() {
		t.Error("notifications arrive")
	}
}

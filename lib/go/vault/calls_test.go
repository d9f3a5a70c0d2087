// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"fmt"
	"testing"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

// Of two calls that need an account, the one that has not exchanged the code hears as well that the user has connected another.
func TestOtherAccountForTwo(t *testing.T) {
	b := newBed(t)
	wanted := urlmode.ConnectRequest{Provider: demo, Owner: b.me, Account: "other"}
	asked, err := b.vault.Connect(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	b.comeBack(asked.ElicitationID, code)
	for _, who := range []string{"who exchanges the code", "the other one"} {
		account, err := asked.Wait(t.Context())
		if err == nil {
			t.Fatalf("%s gets the account %q", who, account)
		}
		b.is("what "+who+" hears", err.Error(), "no account was connected: cancel, other_account")
	}
	b.is("what there is", b.names(), "acme connected")
	// Nor do two calls share more than was granted.
	for _, account := range []string{"", "acme"} {
		asked.request.Account, asked.request.RequiredScopes = account, []string{"read", "admin"}
		_, err := asked.Wait(t.Context())
		b.is("what is missing", fmt.Sprint(err), "no account was connected: cancel, scope_missing (admin)")
	}
	asked.request.RequiredScopes = nil
	account, err := asked.Wait(t.Context())
	b.is("the account", fmt.Sprintf("%s, %v", account, err), "acme, <nil>")
}

// A code that is claimed while the instance is being closed is exchanged.
func TestCloseDuringClaim(t *testing.T) {
	b := newBed(t)
	asked, err := b.vault.Connect(t.Context(), urlmode.ConnectRequest{Provider: demo, Owner: b.me})
	if err != nil {
		t.Fatal(err)
	}
	b.comeBack(asked.ElicitationID, code)
	holds, looks := adaptertest.AsOperator(b.t), adaptertest.AsOperator(b.t)
	tx, err := holds.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE", asked.ElicitationID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		account, err := asked.Wait(context.WithoutCancel(t.Context()))
		ended <- fmt.Sprintf("%s, %v", account, err)
	}()
	adaptertest.Until(t, "the claim", func() (isWaiting bool) {
		err := looks.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))", holds.PgConn().PID()).Scan(&isWaiting)
		return err == nil && isWaiting
	})
	closed := make(chan error, 1)
	go func() { closed <- b.instance.Close() }()
	adaptertest.Until(t, "the end", func() bool { return b.vault.inside.CheckOpen() != nil })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.is("the account", <-ended, "acme, <nil>")
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

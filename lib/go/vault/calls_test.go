// SPDX-License-Identifier: MIT

package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
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

// tool calls UseAccount, over the account, of a client that sends its user nowhere. It returns the token, or what the client is told.
func (b *bed) tool(ctx context.Context, of adapter.Accounts, request urlmode.ConnectRequest) string {
	token := ""
	end, err := adapter.New(b.instance, adapter.Options{}).UseAccount(ctx, adapter.Call{},
		adapter.AccountToolRequest{Vault: of, Message: "Connect.", ConnectRequest: request},
		func(_ context.Context, used urlmode.AccessToken) (json.RawMessage, error) {
			token = used.Token
			return nil, nil
		})
	if err != nil {
		return err.Error()
	}
	return token + string(end.Result)
}

// watched tells when a call waits for the exchange of another.
type watched struct {
	*Vault
	awaits chan struct{}
}

func (w watched) Connecting(ctx context.Context, r urlmode.ConnectRequest) (urlmode.Connecting, error) {
	begun, err := w.Vault.Connecting(ctx, r)
	return watchedConnecting{begun, w.awaits}, err
}

type watchedConnecting struct {
	urlmode.Connecting
	awaits chan struct{}
}

func (w watchedConnecting) Await(ctx context.Context, id string) (string, bool, error) {
	close(w.awaits)
	return w.Connecting.Await(ctx, id)
}

// A call of a tool that waits for the exchange of another call uses what that has connected, or says why it cannot.
func TestToolAfterTheExchangeOfAnotherCall(t *testing.T) {
	const other, missing = "another account was connected than the one that is needed", "not everything was granted that is needed (admin)"
	for _, row := range []struct {
		what, account string
		required      []string
		has           bool // the account that is needed, before
		granted, says string
	}{
		{"what it needs", "", nil, false, "acme", "access-1"},
		{"another account", "other", nil, false, "acme", other},
		{"too little", "", []string{"admin"}, false, "acme", missing},
		{"too little of the account that it needs", "acme", []string{"admin"}, true, "acme", missing},
		{"another account than the one that lacks a scope", "acme", []string{"admin"}, true, "beta", other},
	} {
		t.Run(row.what, func(t *testing.T) {
			b := newBed(t)
			if row.has {
				b.store()
			}
			b.endpoint.granted["account"] = row.granted
			wanted := urlmode.ConnectRequest{Provider: demo, Owner: b.me, RequestOptions: urlmode.RequestOptions{ResumeKey: "one"}, Account: row.account, Scopes: append([]string{"read"}, row.required...)}
			asked, err := b.vault.Connect(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			b.comeBack(asked.ElicitationID, code)
			isAsked, goesOn := make(chan struct{}), make(chan struct{})
			b.endpoint.answers(func(http.ResponseWriter, *http.Request) bool {
				close(isAsked)
				<-goesOn
				return false
			})
			ended, said := make(chan struct{}), make(chan string, 1)
			go func() {
				defer close(ended)
				asked.Wait(t.Context())
			}()
			<-isAsked
			wanted.Scopes, wanted.RequiredScopes = []string{"read"}, row.required
			of := watched{b.vault, make(chan struct{})}
			go func() { said <- b.tool(t.Context(), of, wanted) }()
			select {
			case <-of.awaits:
			case got := <-said:
				t.Errorf("it does not wait for the exchange: %s", got)
				said <- got
			}
			close(goesOn)
			if got := <-said; !strings.Contains(got, row.says) {
				t.Errorf("it says %s", got)
			}
			<-ended
		})
	}
}

// A call that waits for another one goes on where that gives the account back, whose code it has not sent.
func TestAccountGivenBack(t *testing.T) {
	b := newBed(t)
	operator := adaptertest.AsOperator(t)
	wanted := urlmode.ConnectRequest{Provider: demo, Owner: b.me, RequestOptions: urlmode.RequestOptions{ResumeKey: "one"}}
	connect := func(claim string, values ...any) *Connection {
		asked, err := b.vault.Connect(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		b.comeBack(asked.ElicitationID, code)
		if _, err := operator.Exec(t.Context(), "SELECT "+claim+" FROM urlmode.elicitation e WHERE e.id = $1", append([]any{asked.ElicitationID}, values...)...); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	// Nobody exchanges it, ever.
	_, err := connect("urlmode.claim(e.id, e.binding)").Wait(t.Context())
	b.is("what a connection hears", fmt.Sprint(err), "no account was connected: cancel, claimed")

	const name = "9b8f0c1e-6a55-4c0f-8d7e-2f1a3b4c5d6e"
	asked := connect("(urlmode.begin_lease(e.id, e.binding, NULL, 60000, 600000, $2)).outcome", name)
	of, said := watched{b.vault, make(chan struct{})}, make(chan string, 1)
	go func() { said <- b.tool(t.Context(), of, wanted) }()
	<-of.awaits
	isReleased := false
	err = operator.QueryRow(t.Context(), "SELECT urlmode.release_unsent(e.id, e.binding, $2) FROM urlmode.elicitation e WHERE e.id = $1", asked.ElicitationID, name).Scan(&isReleased)
	if err != nil || !isReleased {
		t.Fatal("it is not given back", err)
	}
	b.is("what the tool has", <-said, "access-1")
}

// A code that is claimed while the instance is being closed is exchanged.
func TestCloseDuringClaim(t *testing.T) {
	for what, call := range map[string]struct {
		run  func(*bed, *Connection) string
		says string
	}{
		"a connection": {func(b *bed, asked *Connection) string {
			account, err := asked.Wait(context.WithoutCancel(b.t.Context()))
			return fmt.Sprintf("%s, %v", account, err)
		}, "acme, <nil>"},
		// It can use the account no more.
		"a tool": {func(b *bed, asked *Connection) string {
			return b.tool(context.WithoutCancel(b.t.Context()), b.vault, asked.request)
		}, "this UrlMode is closed"},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBed(t)
			asked, err := b.vault.Connect(t.Context(), urlmode.ConnectRequest{Provider: demo, Owner: b.me, RequestOptions: urlmode.RequestOptions{ResumeKey: "one"}})
			if err != nil {
				t.Fatal(err)
			}
			b.comeBack(asked.ElicitationID, code)
			holds, looks := adaptertest.AsOperator(t), adaptertest.AsOperator(t)
			tx, err := holds.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE", asked.ElicitationID); err != nil {
				t.Fatal(err)
			}
			ended := make(chan string, 1)
			go func() { ended <- call.run(b, asked) }()
			adaptertest.Until(t, "the claim", func() (isWaiting bool) {
				err := looks.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))", holds.PgConn().PID()).Scan(&isWaiting)
				return err == nil && isWaiting
			})
			closed := make(chan error, 1)
			go func() { closed <- b.instance.Close() }()
			adaptertest.Until(t, "the end", func() bool { return b.vault.internals.CheckOpen() != nil })
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.is("the end", <-ended, call.says)
			if err := <-closed; err != nil {
				t.Error(err)
			}
			_, b.vault = b.open(b.keys)
			b.is("what there is", b.names(), "acme connected")
			var page string
			if err := looks.QueryRow(t.Context(), "SELECT exchange FROM urlmode.elicitation WHERE id = $1", asked.ElicitationID).Scan(&page); err != nil {
				t.Fatal(err)
			}
			b.is("what the page says", page, "")
		})
	}
}

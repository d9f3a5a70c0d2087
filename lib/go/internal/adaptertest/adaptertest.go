// SPDX-License-Identifier: MIT

// Package adaptertest is what the tests of the adapters share. They need a stack: tests/stack/up, and the variables that it
// writes. tests/e2e/adapters-go.test.mjs has the scenarios.
package adaptertest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode"
)

// BaseURL is that of each instance.
const BaseURL = "https://callback.example"

// Trace is that of a call.
const Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// Open makes an instance, which is closed with the test.
func Open(t *testing.T) *urlmode.Instance {
	t.Helper()
	made, err := urlmode.New(t.Context(), urlmode.Config{DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"),
		KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: BaseURL})
	if err != nil {
		t.Fatalf("source the env of a stack that tests/stack/up has started: %v", err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

// AsOperator connects as the role that may do anything. The connection is closed with the test.
func AsOperator(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), os.Getenv("URLMODE_ADMIN_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// Someone is a user whom no other test knows.
func Someone() urlmode.Owner { return urlmode.Owner{Subject: "user-" + rand.Text()} }

// NewID is the id of an elicitation.
func NewID() string {
	var bytes [16]byte
	rand.Read(bytes[:])
	text := hex.EncodeToString(bytes[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// Until fails the test if the condition does not become true.
func Until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for giveUp := time.Now().Add(60 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(giveUp) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// Payment asks for 1.00 EUR, for this item.
func Payment(me urlmode.Owner, item string) urlmode.Request {
	return urlmode.Request{Provider: "stripe", Kind: urlmode.Payment, Owner: me, Item: item,
		Expected: urlmode.Expected{Amount: 100, Currency: "EUR"}, TargetURL: "https://checkout.example/pay"}
}

// Pay pays what Payment has asked for, by a reference that begins with pay_.
func Pay(t *testing.T, m *urlmode.Instance, me urlmode.Owner, id string) {
	answer := urlmode.Answer{Action: urlmode.Accept, Amount: 100, Currency: "EUR", Reference: "pay_" + rand.Text()}
	if done, err := m.Complete(context.Background(), id, me, answer); err != nil || !done {
		t.Errorf("it is not paid: %v", err)
	}
}

// PayFor pays what was asked of the user last.
func PayFor(t *testing.T, m *urlmode.Instance, me urlmode.Owner) {
	t.Helper()
	Complete(t, m, me, urlmode.Answer{Action: urlmode.Accept, Amount: 100, Currency: "EUR", Reference: "pay_" + rand.Text()})
}

// Complete completes what was asked of the user last.
func Complete(t *testing.T, m *urlmode.Instance, me urlmode.Owner, answer urlmode.Answer) {
	t.Helper()
	var id string
	err := AsOperator(t).QueryRow(context.Background(), "SELECT id::text FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1", me.Subject).Scan(&id)
	if err != nil {
		t.Errorf("nothing is asked for: %v", err)
	}
	if done, err := m.Complete(context.Background(), id, me, answer); err != nil || !done {
		t.Errorf("it is not completed: %v", err)
	}
}

// UnclaimedOf are the references of what the user has paid, and no call has claimed.
func UnclaimedOf(t *testing.T, m *urlmode.Instance, me urlmode.Owner) (references []string) {
	t.Helper()
	listed, err := m.Unclaimed(t.Context(), urlmode.ListOptions{})
	if err != nil {
		t.Error(err)
	}
	for _, each := range listed {
		if each.Owner.Subject == me.Subject {
			references = append(references, each.Reference)
		}
	}
	return references
}

// RowsOf is how many elicitations the user has.
func RowsOf(t *testing.T, me urlmode.Owner) int {
	return count(t, "SELECT count(*) FROM urlmode.elicitation WHERE subject = $1", me)
}

// UnclaimedRowsOf is how many of them no answer has claimed.
func UnclaimedRowsOf(t *testing.T, me urlmode.Owner) int {
	return count(t, "SELECT count(*) FROM urlmode.elicitation WHERE subject = $1 AND claimed_at IS NULL", me)
}

func count(t *testing.T, statement string, me urlmode.Owner) (rows int) {
	t.Helper()
	if err := AsOperator(t).QueryRow(context.Background(), statement, me.Subject).Scan(&rows); err != nil {
		t.Error(err)
	}
	return rows
}

// Key asks for a key.
func Key(me urlmode.Owner, id string) urlmode.InputRequest {
	return urlmode.InputRequest{Provider: "intake", Owner: me, RequestOptions: urlmode.RequestOptions{ID: id}, Form: urlmode.InputForm{Title: urlmode.Text("Your key"),
		Fields: []urlmode.Field{{Name: "api_key", Type: urlmode.SecretField, Label: urlmode.Text("Key"), Required: true}}}}
}

// Type types the key that Key has asked for.
func Type(t *testing.T, m *urlmode.Instance, me urlmode.Owner, id, key string) {
	answer := urlmode.Answer{Action: urlmode.Accept, Result: map[string]any{"values": map[string]any{"api_key": key}}}
	if done, err := m.Complete(context.Background(), id, me, answer); err != nil || !done {
		t.Errorf("it is not typed: %v", err)
	}
}

// Deletion asks others for a decision.
func Deletion(me urlmode.Owner) urlmode.ApprovalRequest {
	return urlmode.ApprovalRequest{Provider: "approvals", Owner: me, Others: true, Form: urlmode.ApprovalForm{Title: urlmode.Text("Delete?")}}
}

// UntilConfirmed waits until the answer of a call counts as written. It only reads: a claim of its own would overtake the confirmation.
func UntilConfirmed(t *testing.T, id string) {
	t.Helper()
	conn := AsOperator(t)
	Until(t, "the answer is confirmed", func() bool {
		var leases int
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM urlmode.lease WHERE elicitation = $1::text::uuid", id).Scan(&leases); err != nil {
			t.Fatal(err)
		}
		return leases == 0
	})
}

// SPDX-License-Identifier: MIT

// Package urlmodetest is for the tests of servers. New makes an instance without a database, whose elicitations end as the test says.
// Database makes a real database with the schema for one test.
package urlmodetest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"urlmode.example/urlmode"
)

// End is how an elicitation ends.
type End struct {
	Action urlmode.Action // how the elicitation ends
	Reason string         // a code
	Result map[string]any // what the provider has sent
	// Of a payment. By default it is the price that was asked, and a reference that begins with test_.
	Reference string
	Amount    int64  // in minor units
	Currency  string // ISO 4217
}

// Accept says that the user came back, or has paid.
func Accept() End { return End{Action: urlmode.Accept} }

// TypeIn says what the user has typed, for CreateInput.
func TypeIn(values map[string]any) End {
	return End{Action: urlmode.Accept, Result: map[string]any{"values": values}}
}

// Approve says that this approver has agreed, for CreateApproval. comment may be empty.
func Approve(approver, comment string) End {
	result := map[string]any{"approver": approver, "decided_at": time.Now().UTC().Format(time.RFC3339)}
	if comment != "" {
		result["comment"] = comment
	}
	return End{Action: urlmode.Accept, Result: result}
}

// Decline says that the user, or the provider, has refused.
func Decline() End { return End{Action: urlmode.Decline, Reason: "declined"} }

// Expire says that nobody has opened the link in time.
func Expire() End { return End{Action: urlmode.Cancel, Reason: "expired"} }

// Hold says that it was paid, and that the operator must decide, because a part of it may have gone back.
func Hold() End { return End{Action: urlmode.Cancel, Reason: "held"} }

// New makes an instance without a database, which is closed with the test. The first elicitation that is created ends as the first end says,
// and so on; without one it stays open, so that a wait for it times out. Everything but PostgreSQL is the real package. Nothing else is
// remembered: what a database decides about claims, refunds and calls that go on with earlier ones is not tested, and Unclaimed and the
// like are empty. Of config, the database and the keys are New's own, and BaseURL is https://callback.example if it is empty.
func New(t testing.TB, config urlmode.Config, ends ...End) *urlmode.Instance {
	t.Helper()
	var secret [32]byte
	rand.Read(secret[:])
	script := &script{ends: ends, rows: map[string]*row{}}
	server, err := pgxpool.ParseConfig("postgres://urlmode@scripted.invalid/none?sslmode=disable&pool_max_conns=64&statement_cache_capacity=0")
	if err != nil {
		t.Fatal(err)
	}
	server.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"scripted.invalid"}, nil }
	server.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go script.serve(theirs)
		return ours, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	config.DatabaseURL, config.Pool = "", pool
	config.KeysFile, config.Keys = "", "1 "+base64.StdEncoding.EncodeToString(secret[:])+"\n"
	if config.BaseURL == "" {
		config.BaseURL = "https://callback.example"
	}
	made, err := urlmode.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	script.instance = made
	return made
}

// SPDX-License-Identifier: MIT

package urlmodetest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/urlmodetest"
)

var ada = urlmode.Owner{Subject: "ada"}

func payment() urlmode.Request {
	return urlmode.Request{Provider: "stripe", Kind: urlmode.Payment, Owner: ada, Item: "report:42",
		Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"}, TargetURL: "https://checkout.example/pay"}
}

func pay(t *testing.T, m *urlmode.Instance) (urlmode.Outcome, error) {
	t.Helper()
	elicitation, err := m.Create(t.Context(), payment())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(elicitation.URL, "https://callback.example/connect/stripe?state=") {
		t.Error(elicitation.URL)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return m.Wait(ctx, elicitation.ElicitationID, ada)
}

func TestEachElicitationEndsAsTheTestSays(t *testing.T) {
	named := urlmodetest.Accept()
	named.Reference, named.Result = "cs_1", map[string]any{"event": "e"}
	more := urlmodetest.Accept()
	more.Amount = 2000
	m := urlmodetest.New(t, urlmode.Config{}, named, more, urlmodetest.Decline(), urlmodetest.Expire(), urlmodetest.Hold())
	first, err := pay(t, m)
	if err != nil || first.Reference != "cs_1" || first.Amount != 1050 || first.Currency != "EUR" || first.Result["event"] != "e" {
		t.Fatal(first, err)
	}
	if second, err := pay(t, m); err != nil || second.Amount != 2000 || second.Reference != "test_"+second.ElicitationID {
		t.Error(second, err)
	}
	for _, want := range []string{"decline declined", "cancel expired", "cancel held"} {
		if got, err := pay(t, m); err != nil || string(got.Action)+" "+got.Reason != want {
			t.Error(got, err)
		}
	}
	claim, err := m.BeginClaim(t.Context(), first.ElicitationID, ada, urlmode.LeaseOptions{})
	if err != nil || claim.State != urlmode.ClaimBegun {
		t.Fatal(claim, err)
	}
	if kept, err := claim.Fulfil(t.Context(), []byte(`"done"`)); err != nil || !kept {
		t.Error(kept, err)
	}
	if confirmed, err := claim.Confirm(t.Context()); err != nil || !confirmed {
		t.Error(confirmed, err)
	}
}

func TestFormsEndAsTheTestSays(t *testing.T) {
	m := urlmodetest.New(t, urlmode.Config{}, urlmodetest.TypeIn(map[string]any{"key": "12345"}), urlmodetest.Approve("eve", "Fine."))
	typed, err := m.CreateInput(t.Context(), urlmode.InputRequest{Provider: "intake", Owner: ada, Form: urlmode.InputForm{
		Title: urlmode.Text("Your key"), Fields: []urlmode.Field{{Name: "key", Type: urlmode.SecretField, Label: urlmode.Text("Key")}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Wait(t.Context(), typed.ElicitationID, ada); err != nil || got.Values["key"] != "12345" {
		t.Error(got, err)
	}
	elicitation, err := m.CreateApproval(t.Context(), urlmode.ApprovalRequest{Provider: "approvals", Owner: ada, Others: true,
		Form: urlmode.ApprovalForm{Title: urlmode.Text("Sure?")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Wait(t.Context(), elicitation.ElicitationID, ada); err != nil || got.Approver != "eve" || got.Comment != "Fine." {
		t.Error(got, err)
	}
}

func TestWithoutAnEndItStaysOpenAndWhatIsWrongIsRefused(t *testing.T) {
	m := urlmodetest.New(t, urlmode.Config{})
	elicitation, err := m.Create(t.Context(), payment())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.WaitWith(t.Context(), elicitation.ElicitationID, ada, urlmode.WaitOptions{Once: true}); !errors.Is(err, urlmode.ErrTimeout) {
		t.Error(err)
	}
	if _, err := m.BeginClaim(t.Context(), elicitation.ElicitationID, ada, urlmode.LeaseOptions{}); !errors.Is(err, urlmode.ErrOpen) {
		t.Error(err)
	}
	wrong := payment()
	wrong.Item = ""
	if _, err := m.Create(t.Context(), wrong); !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
	if paid, err := m.Paid(t.Context(), urlmode.PaidOptions{Subject: "ada", Item: "report:42"}); err != nil || paid {
		t.Error(paid, err)
	}
	if all, err := m.Unclaimed(t.Context(), urlmode.ListOptions{}); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

func TestManyAtOnce(t *testing.T) {
	ends := make([]urlmodetest.End, 500)
	for n := range ends {
		ends[n] = urlmodetest.Accept()
	}
	m := urlmodetest.New(t, urlmode.Config{}, ends...)
	var all sync.WaitGroup
	for range ends {
		all.Go(func() {
			if got, err := pay(t, m); err != nil || got.Action != urlmode.Accept {
				t.Error(got, err)
			}
		})
	}
	all.Wait()
}

func TestADatabaseIsARealOneAndIsDropped(t *testing.T) {
	admin := os.Getenv("URLMODE_ADMIN_DATABASE_URL")
	objects := func(url string) (all []string) {
		rows, err := connect(t, url).Query(t.Context(), "SELECT concat_ws(' ', kind, name, holder, digest) FROM urlmode.object ORDER BY 1")
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil || len(all) == 0 {
			t.Fatal(err, "source the env of a stack that tests/stack/up has started")
		}
		return all
	}
	var name string
	t.Run("while the test runs", func(t *testing.T) {
		url := urlmodetest.Database(t, admin)
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		name = config.Database
		m, err := urlmode.New(t.Context(), urlmode.Config{DatabaseURL: url, Keys: "1 MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n", BaseURL: "https://callback.example"})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		elicitation, err := m.Create(t.Context(), payment())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Complete(t.Context(), elicitation.ElicitationID, ada, urlmode.Answer{Action: urlmode.Accept, Amount: 1050, Currency: "EUR", Reference: "cs_1"}); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Wait(t.Context(), elicitation.ElicitationID, ada); err != nil || got.Reference != "cs_1" {
			t.Error(got, err)
		}
		if _, err := connect(t, url).Exec(t.Context(), "SELECT FROM urlmode.elicitation"); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Error(err)
		}
		own := strings.Replace(url, "urlmode_server", "none", 1)
		if made, wanted := objects(own), objects(admin); strings.Join(made, "\n") != strings.Join(wanted, "\n") {
			t.Error("the schema is not that of the migrations")
		}
	})
	var left int
	if err := connect(t, admin).QueryRow(t.Context(), "SELECT count(*) FROM pg_database WHERE datname = $1", name).Scan(&left); err != nil || left != 0 || name == "" {
		t.Error(left, name, err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

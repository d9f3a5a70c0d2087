// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// shop is a provider of its own, so that no other test's rows are asked about.
type shop struct {
	m        *Instance
	p        *programs
	t        testing.TB
	provider string
	me       Owner
	paid     []string
	refunds  []RefundEntry
	asked    []string
	failure  error
}

func openShop(t testing.TB) *shop {
	return &shop{t: t, m: open(t), p: openPrograms(t), me: someone(), provider: "p" + newID()[:8]}
}

func (s *shop) recheck(_ context.Context, event Recheck) (*Answer, error) {
	s.asked = append(s.asked, event.ElicitationID)
	if s.failure != nil {
		return nil, s.failure
	}
	answer := &Answer{Refunds: s.refunds}
	for _, each := range s.paid {
		answer.Payments = append(answer.Payments, entryOf(event.ElicitationID, each))
	}
	return answer, nil
}

func (s *shop) server() *Instance {
	return open(s.t, func(c *Config) { c.Rechecks = map[string]RecheckFunc{s.provider: s.recheck} })
}

func (s *shop) create() string { return create(s.t, s.m, payment(s.me, s.provider)).ElicitationID }

func (s *shop) event(id string) {
	s.t.Helper()
	s.p.ask(s.t, `SELECT outcome FROM urlmode.record_events($1::text[]::uuid[], $2::text[], $3::text[], '{checkout}', '{recheck}', '{NULL}', '{NULL}',
		'{cs_1}', '{NULL}')`, []string{id}, []string{s.provider}, []string{newID()})
}

// pass makes the last answer, and the last failure, older.
func (s *shop) pass(id string, seconds int) {
	s.t.Helper()
	if _, err := asOperator(s.t).Exec(s.t.Context(), `UPDATE urlmode.recheck SET answered_at = answered_at - $2::integer * interval '1 second',
		recheck_at = recheck_at - $2::integer * interval '1 second' WHERE elicitation = $1::text::uuid`, id, seconds); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) due(m *Instance, wanted int) {
	s.t.Helper()
	if asked, err := m.RecheckDue(s.t.Context()); err != nil || asked != wanted {
		s.t.Fatalf("asked about %d, not %d: %v", asked, wanted, err)
	}
}

func TestARefundAfterTheDeliveryIsAskedFor(t *testing.T) {
	s := openShop(t)
	server := s.server()
	id, reference := s.create(), "tr_"+newID()
	s.paid = []string{reference}
	s.event(id)
	// A wait without a function has that of the provider.
	if outcome, err := server.Wait(t.Context(), id, s.me); err != nil || outcome.Reference != reference {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if ok, err := server.Claim(t.Context(), id, s.me, ClaimOptions{}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.due(server, 0)
	s.refunds = []RefundEntry{{Reference: "re_" + reference, Payment: reference, Amount: 1050, Status: EntryPaid}}
	s.event(id)
	s.due(server, 1)
	listed, err := server.Refunds(t.Context(), ListOptions{Provider: s.provider})
	if err != nil || len(listed) != 1 || listed[0].Payment == nil || !listed[0].Payment.Claimed || listed[0].Payment.Refunded != 1050 {
		t.Fatalf("%+v, %v", listed, err)
	}
	rows, err := asOperator(t).Query(t.Context(), "SELECT type FROM urlmode.ledger WHERE payment = $1 ORDER BY id", reference)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var types []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		types = append(types, one)
	}
	if !slices.Equal(types, []string{"paid", "claimed", "delivered", "refunded"}) {
		t.Fatal(types)
	}
}

func TestARecheckThatFailsIsBegunAgainLater(t *testing.T) {
	s := openShop(t)
	server := s.server()
	first, second := s.create(), s.create()
	s.failure = errors.New("the provider cannot be asked")
	s.event(first)
	if _, err := server.RecheckDue(t.Context()); !errors.Is(err, s.failure) || !strings.Contains(err.Error(), first) {
		t.Fatal(err)
	}
	s.due(server, 0) // It has failed just now.
	s.failure = nil
	s.event(second)
	s.pass(first, 60)
	s.due(server, 2)
	if !slices.Equal(s.asked, []string{first, second, first}) {
		t.Fatal(s.asked)
	}
	s.event(first)
	s.due(s.m, 0)
	s.due(open(t, func(c *Config) { c.Rechecks = map[string]RecheckFunc{"other": s.recheck} }), 0)
}

// A function that never comes back holds up neither other providers nor a claim.
func TestARecheckHasATimeLimit(t *testing.T) {
	hung, other := openShop(t), openShop(t)
	called, never := make(chan context.Context, 1), make(chan struct{})
	defer close(never)
	hangs := func(ctx context.Context, _ Recheck) (*Answer, error) {
		called <- ctx
		<-never
		return nil, nil
	}
	server := open(t, func(c *Config) {
		c.Rechecks = map[string]RecheckFunc{hung.provider: hangs, other.provider: other.recheck}
	})
	server.waits.recheckLimit = time.Second
	id := hung.create()
	hung.event(id)
	hung.pass(id, 60)
	other.event(other.create())
	_, err := server.RecheckDue(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), "has not answered within 1s") {
		t.Fatal(err)
	}
	if len(other.asked) != 1 || (<-called).Err() == nil {
		t.Fatal(other.asked)
	}

	if _, err := hung.m.Complete(t.Context(), id, hung.me, Answer{Action: Accept, Amount: 1050, Currency: "EUR", Reference: "tr_" + id}); err != nil {
		t.Fatal(err)
	}
	hung.pass(id, 61)
	ctx, cancel := context.WithCancel(t.Context())
	claimed := make(chan error)
	go func() {
		_, err := hung.m.BeginClaim(ctx, id, hung.me, LeaseOptions{Recheck: hangs})
		claimed <- err
	}()
	asking := <-called
	cancel()
	if err := <-claimed; !errors.Is(err, context.Canceled) || asking.Err() == nil {
		t.Fatal(err)
	}
	hung.pass(id, 61)
	begun, err := hung.m.BeginClaim(t.Context(), id, hung.me, LeaseOptions{Recheck: hung.recheck})
	if err != nil || begun.State != ClaimBegun {
		t.Fatalf("%+v, %v", begun, err)
	}
}

func TestAClaimWithBothEndsAtOnceAsksFirst(t *testing.T) {
	s := openShop(t)
	id, reference := s.create(), "tr_"+newID()
	s.paid = []string{reference}
	s.event(id)
	if _, err := s.m.WaitWith(t.Context(), id, s.me, WaitOptions{Recheck: s.recheck}); err != nil {
		t.Fatal(err)
	}
	s.failure = errors.New("the provider cannot be asked")
	s.pass(id, 61)
	if ok, err := s.m.Claim(t.Context(), id, s.me, ClaimOptions{Recheck: s.recheck}); ok || !errors.Is(err, s.failure) {
		t.Fatal(ok, err)
	}
	if listed, err := s.m.Unclaimed(t.Context(), ListOptions{Provider: s.provider}); err != nil || len(listed) != 1 {
		t.Fatalf("%+v, %v", listed, err)
	}
	s.failure = nil
	s.refunds = []RefundEntry{{Reference: "re_" + reference, Payment: reference, Amount: 1050, Status: EntryPaid}}
	// It went back. A failure has nobody ask for a second.
	if ok, err := s.m.Claim(t.Context(), id, s.me, ClaimOptions{Recheck: s.recheck}); ok || err != nil || len(s.asked) != 3 {
		t.Fatal(ok, err, s.asked)
	}
	if _, err := s.m.Claim(t.Context(), id, s.me, ClaimOptions{RecheckAfter: 48 * 60 * 60 * 1e9}); !errors.Is(err, ErrArgument) {
		t.Fatal(err)
	}
}

func TestHowOldTheLastAnswerMayBeIsForTheCallerToSay(t *testing.T) {
	s := openShop(t)
	id := s.create()
	s.paid = []string{"tr_" + id}
	s.event(id)
	if _, err := s.m.WaitWith(t.Context(), id, s.me, WaitOptions{Recheck: s.recheck}); err != nil {
		t.Fatal(err)
	}
	asked := 1
	for _, row := range []struct {
		old, more int
		after     time.Duration
	}{{61, 0, time.Hour}, {0, 1, -1}, {3601, 1, time.Hour}} {
		s.pass(id, row.old)
		claim, err := s.m.BeginClaim(t.Context(), id, s.me, LeaseOptions{Recheck: s.recheck, RecheckAfter: row.after})
		if asked += row.more; err != nil || claim.State != ClaimBegun || len(s.asked) != asked {
			t.Fatalf("%+v: %+v, %v, asked %d times", row, claim, err, len(s.asked))
		}
		if released, err := claim.Release(t.Context()); !released || err != nil {
			t.Fatal(released, err)
		}
	}
	s.pass(id, 61)
	if ok, err := s.m.Claim(t.Context(), id, s.me, ClaimOptions{Recheck: s.recheck, RecheckAfter: time.Hour}); !ok || err != nil || len(s.asked) != asked {
		t.Fatal(ok, err, s.asked)
	}
}

func TestAClaimDoesNotAskWithoutAReason(t *testing.T) {
	s := openShop(t)
	var ids []string
	for range 3 {
		id := s.create()
		ids = append(ids, id)
		s.paid = []string{"tr_" + id}
		s.event(id)
		if _, err := s.m.WaitWith(t.Context(), id, s.me, WaitOptions{Recheck: s.recheck}); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(m *Instance, id string, ask RecheckFunc) {
		t.Helper()
		if ok, err := m.Claim(t.Context(), id, s.me, ClaimOptions{Recheck: ask}); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	claim(s.m, ids[0], s.recheck) // The last answer is younger than a minute.
	s.pass(ids[1], 61)
	claim(open(t, func(c *Config) { c.Rechecks = map[string]RecheckFunc{"other": s.recheck} }), ids[1], nil) // Nobody can ask.
	if len(s.asked) != 3 {
		t.Fatal(s.asked)
	}
	s.pass(ids[2], 61)
	begun, err := s.server().BeginClaim(t.Context(), ids[2], s.me, LeaseOptions{})
	if err != nil || begun.State != ClaimBegun || len(s.asked) != 4 {
		t.Fatalf("%+v, %v", begun, err)
	}
}

func TestRechecksAreChecked(t *testing.T) {
	s := openShop(t)
	for _, rechecks := range []map[string]RecheckFunc{{"demo": nil}, {"a b": s.recheck}} {
		config := Config{DatabaseURL: required(t, "URLMODE_DATABASE_URL"), Keys: testKeys, BaseURL: "https://callback.example", Rechecks: rechecks}
		if _, err := New(t.Context(), config); !errors.Is(err, ErrArgument) {
			t.Fatal(err)
		}
	}
}

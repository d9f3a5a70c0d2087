// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// whileLocked runs a call that needs the row, which it does not get, ends its context meanwhile, and then lets it go on.
func whileLocked(t *testing.T, id string, run func(context.Context)) {
	t.Helper()
	operator := asOperator(t)
	unlock := lock(t, operator, "SELECT FROM urlmode.elicitation WHERE id = $1::text::uuid FOR UPDATE", id)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	watching := asOperator(t)
	until(t, "it waits for the row", func() bool {
		var waits bool
		err := watching.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND $1 = ANY (pg_blocking_pids(pid)))",
			int32(operator.PgConn().PID())).Scan(&waits)
		return err == nil && waits
	})
	end()
	time.Sleep(20 * time.Millisecond)
	unlock()
	<-done
}

// A client that cancels while PostgreSQL claims leaves no account unconnected: nobody else can exchange its code.
func TestClaimIsOfTheCallThatHasAsked(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	connected := create(t, m, account(me)).ElicitationID
	p.open(t, connected, me)
	p.comeBack(t, connected, me, "c")
	signed := create(t, m, Request{Provider: "stripe", Kind: Signature, Owner: me, Item: newID(), TargetURL: "https://sign.example"}).ElicitationID
	plain := create(t, m, Request{Provider: "stripe", Kind: Signature, Owner: me, Item: newID(), TargetURL: "https://sign.example"}).ElicitationID
	for _, id := range []string{signed, plain} {
		if _, err := m.Complete(t.Context(), id, me, Answer{Action: Accept}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{connected, signed} {
		whileLocked(t, id, func(ctx context.Context) {
			claim, err := m.BeginClaim(ctx, id, me, LeaseOptions{})
			if err != nil || claim.State != ClaimBegun {
				t.Errorf("%+v, %v", claim, err)
				return
			}
			claim.Release(context.Background())
		})
	}
	whileLocked(t, plain, func(ctx context.Context) {
		if claimed, err := m.Claim(ctx, plain, me, ClaimOptions{}); err != nil || !claimed {
			t.Errorf("%t, %v", claimed, err)
		}
	})
	ended, end := context.WithCancel(t.Context())
	end()
	workIsDoneOnce(t, ended, m, signed, me)
	if _, err := m.BeginClaim(ended, signed, me, LeaseOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := m.Claim(ended, plain, me, ClaimOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A client that cancels while the work is done: what the call does after it still counts.
func workIsDoneOnce(t *testing.T, ended context.Context, m *Instance, id string, of Owner) {
	t.Helper()
	begin := func(wanted ClaimState) *Claim {
		claim, err := m.BeginClaim(t.Context(), id, of, LeaseOptions{})
		if err != nil || claim.State != wanted {
			t.Fatalf("%+v, %v", claim, err)
		}
		return claim
	}
	if released, err := begin(ClaimBegun).Release(ended); err != nil || !released {
		t.Errorf("released: %t, %v", released, err)
	}
	one := begin(ClaimBegun)
	if kept, err := one.Fulfil(ended, "done"); err != nil || !kept {
		t.Errorf("fulfilled: %t, %v", kept, err)
	}
	if released, err := one.Release(t.Context()); err != nil || released {
		t.Errorf("released what is done: %t, %v", released, err)
	}
	two := begin(ClaimFulfilled)
	if confirmed, err := two.Confirm(ended); err != nil || !confirmed || string(two.Result) != `"done"` {
		t.Errorf("confirmed: %t, %v, %s", confirmed, err, two.Result)
	}
	begin(ClaimTaken)
}

// The end of the context ends the wait for another call.
func TestWaitForAnotherCallEndsWithItsContext(t *testing.T) {
	m, me := open(t), someone()
	id := create(t, m, Request{Provider: "stripe", Kind: Signature, Owner: me, Item: newID(), TargetURL: "https://sign.example"}).ElicitationID
	if _, err := m.Complete(t.Context(), id, me, Answer{Action: Accept}); err != nil {
		t.Fatal(err)
	}
	if claim, err := m.BeginClaim(t.Context(), id, me, LeaseOptions{Lease: time.Hour}); err != nil || claim.State != ClaimBegun {
		t.Fatalf("%+v, %v", claim, err)
	}
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if claim, err := m.BeginClaim(ctx, id, me, LeaseOptions{Wait: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%+v, %v", claim, err)
	}
}

func TestLeaseIsRenewed(t *testing.T) {
	m, other, me := open(t), open(t), someone()
	elicitation := create(t, m, Request{Provider: "stripe", Kind: Signature, Owner: me, Item: newID(), TargetURL: "https://sign.example"})
	if _, err := m.Complete(t.Context(), elicitation.ElicitationID, me, Answer{Action: Accept}); err != nil {
		t.Fatal(err)
	}
	lease := LeaseOptions{Lease: time.Second}
	one, err := m.BeginClaim(t.Context(), elicitation.ElicitationID, me, lease)
	if err != nil || one.State != ClaimBegun {
		t.Fatalf("%v, %v", one, err)
	}
	lease.Wait = 3 * time.Second
	two, err := other.BeginClaim(t.Context(), elicitation.ElicitationID, me, lease)
	if err != nil {
		t.Fatal(err)
	}
	if two.State == ClaimBegun {
		<-one.Lost() // The machine was too slow to renew it. Then the other call may begin.
	} else if two.State != ClaimLeased {
		t.Fatalf("after three times the lease it is %s", two.State)
	}
	m.Close()
	<-one.Lost()
	if _, err := one.Fulfil(t.Context(), 1); !errors.Is(err, ErrClosed) {
		t.Fatalf("a claim of an instance that is closed: %v", err)
	}
}

// event records one about money, as a webhook does.
func (p *programs) event(t testing.TB, id, effect string, amount int64, reference string) {
	t.Helper()
	p.ask(t, `SELECT outcome FROM urlmode.record_events(ARRAY[$1::text::uuid], '{stripe}', ARRAY[gen_random_uuid()::text], ARRAY[$2::text], ARRAY[$2::text],
		ARRAY[$3::bigint], '{EUR}', ARRAY[$4::text], ARRAY['sealed'::bytea], ARRAY[NULL::bytea], ARRAY[NULL::text])`, id, effect, amount, reference)
}

// paid is a claim that has begun, of a payment.
func paid(t *testing.T, m *Instance, p *programs, me Owner, o LeaseOptions) (string, *Claim) {
	t.Helper()
	id := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), TargetURL: "https://pay.example", Expected: Expected{Amount: 1050, Currency: "EUR"}}).ElicitationID
	p.event(t, id, "paid", 1050, "cs_"+id)
	return id, beginClaim(t, m, id, me, o)
}

func beginClaim(t *testing.T, m *Instance, id string, me Owner, o LeaseOptions) *Claim {
	t.Helper()
	claim, err := m.BeginClaim(t.Context(), id, me, o)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}

// Results up to 16 MiB are kept. The claim of what cannot be kept stays open.
func TestSizesOfResults(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id, claim := paid(t, m, p, me, LeaseOptions{})
	largest := strings.Repeat("x", fulfilledMax-len(`{"result":""}`))
	if kept, err := claim.Fulfil(t.Context(), largest); !kept || err != nil {
		t.Fatalf("%t, %v", kept, err)
	}
	again := beginClaim(t, m, id, me, LeaseOptions{})
	if again.State != ClaimFulfilled || len(again.Result) != len(largest)+2 {
		t.Fatalf("%s, %d bytes", again.State, len(again.Result))
	}
	if ok, err := again.Release(t.Context()); !ok || err != nil {
		t.Fatalf("an answer that fails twice: %t, %v", ok, err)
	}
	if ok, _ := again.Confirm(t.Context()); ok {
		t.Fatal("it was released")
	}
	next := beginClaim(t, m, id, me, LeaseOptions{Lease: time.Second})
	for _, result := range []any{largest + "x", make(chan int)} {
		if kept, err := next.Fulfil(t.Context(), result); kept || err != nil {
			t.Fatalf("%t, %v", kept, err)
		}
	}
	time.Sleep(1500 * time.Millisecond)
	if state := beginClaim(t, open(t), id, me, LeaseOptions{}).State; state != ClaimLeased {
		select {
		case <-next.Lost(): // The machine was too slow to renew it.
			return
		default:
			t.Fatal(state)
		}
	}
	if ok, err := next.Release(t.Context()); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	last := beginClaim(t, m, id, me, LeaseOptions{})
	if last.State != ClaimBegun || last.Reference != claim.Reference {
		t.Fatalf("%s of %s", last.State, last.Reference)
	}
	if ok, err := last.Confirm(t.Context()); !ok || err != nil {
		t.Fatalf("%t, %v", ok, err)
	}
	if state := beginClaim(t, m, id, me, LeaseOptions{}).State; state != ClaimTaken {
		t.Fatal(state)
	}
}

// What does not match is refunded under a lease, and says so. The same caller begins the same claim again.
func TestEndOfWhatIsListed(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id := create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), TargetURL: "https://pay.example", Expected: Expected{Amount: 1050, Currency: "EUR"}}).ElicitationID
	part := "part_" + id
	p.event(t, id, "paid", 1, part)
	if state := beginClaim(t, m, id, me, LeaseOptions{Reference: part}).State; state != ClaimChanged {
		t.Fatal(state)
	}
	named := LeaseOptions{Reference: part, AnyPayment: true, ClaimID: id}
	one, again := beginClaim(t, m, id, me, named), beginClaim(t, open(t), id, me, named)
	if one.State != ClaimBegun || again.Fence != one.Fence {
		t.Fatalf("%s, %d, %d", one.State, one.Fence, again.Fence)
	}
	for _, wrong := range []ClaimEnd{"lost", ClaimDelivered} {
		if err := one.End(t.Context(), wrong, "re_1"); !errors.Is(err, ErrArgument) {
			t.Fatalf("%s: %v", wrong, err)
		}
	}
	for range 2 {
		if err := one.End(t.Context(), ClaimRefunded, "re_1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.End(t.Context(), ClaimDelivered, ""); !errors.Is(err, ErrClaimLost) {
		t.Fatal(err)
	}
	if _, err := m.BeginClaim(t.Context(), id, me, LeaseOptions{ClaimID: "mine"}); !errors.Is(err, ErrArgument) {
		t.Fatal(err)
	}
}

// A call is told that all that was paid went back.
func TestRefundWhileTheCallWorks(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id, claim := paid(t, m, p, me, LeaseOptions{Lease: time.Second})
	p.event(t, id, "refunded", 1050, claim.Reference)
	if err := claim.Err(); err != nil {
		t.Fatal(err)
	}
	<-claim.Refunded()
	if err := claim.Err(); !errors.Is(err, ErrClaimRefunded) && !errors.Is(err, ErrClaimLost) {
		t.Fatal(err)
	}
	if kept, err := claim.Fulfil(t.Context(), "done"); err != nil && !errors.Is(err, ErrClaimLost) || err == nil && !kept {
		t.Fatalf("it can go on: %t, %v", kept, err)
	}
}

// A notification tells it twenty minutes before the lease is renewed.
func TestRefundIsReportedAtOnce(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id, claim := paid(t, m, p, me, LeaseOptions{Lease: time.Hour})
	for !m.listener.isReceiving() {
		time.Sleep(10 * time.Millisecond)
	}
	p.event(t, id, "refunded", 1050, claim.Reference)
	<-claim.Refunded()
	if kept, err := claim.Fulfil(t.Context(), "done"); err != nil || !kept {
		t.Fatalf("%t, %v", kept, err)
	}
}

// Two calls with a ClaimID of the caller have the same claim: one of them does not give back what the other is sending.
func TestAccountOfTwoCalls(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id := create(t, m, account(me)).ElicitationID
	p.open(t, id, me)
	p.comeBack(t, id, me, "c")
	same := LeaseOptions{ClaimID: newID()}
	sending, again := beginClaim(t, m, id, me, same), beginClaim(t, m, id, me, same)
	if sending.State != ClaimBegun || again.State != ClaimBegun {
		t.Fatalf("%s, %s", sending.State, again.State)
	}
	if released, err := again.ReleaseUnsent(t.Context()); err != nil || released {
		t.Errorf("%t, %v", released, err)
	}
	if third := beginClaim(t, m, id, me, LeaseOptions{}); third.State != ClaimTaken {
		t.Errorf("a third call is %s while the first one sends the code", third.State)
	}
}

// The claim of an account whose code was not sent is given back, so that its user need not authorise again.
func TestAccountWhoseCodeWasNotSent(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id := create(t, m, account(me)).ElicitationID
	p.open(t, id, me)
	p.comeBack(t, id, me, "c")
	whileLocked(t, id, func(ctx context.Context) {
		claim, err := m.BeginClaim(ctx, id, me, LeaseOptions{})
		if err != nil || ctx.Err() == nil {
			t.Fatalf("%+v, %v", claim, err)
		}
		if released, err := claim.ReleaseUnsent(ctx); err != nil || !released {
			t.Errorf("%t, %v", released, err)
		}
		if again, err := claim.ReleaseUnsent(ctx); err != nil || again {
			t.Errorf("again: %t, %v", again, err)
		}
	})
	claim := beginClaim(t, m, id, me, LeaseOptions{})
	if outcome, err := m.Wait(t.Context(), id, me); err != nil || claim.State != ClaimBegun || outcome.Result["code"] != "c" {
		t.Fatalf("the next call is %s: %v, %v", claim.State, outcome, err)
	}
	claim.Fulfil(t.Context(), nil) // which has sent the code
	if released, err := claim.ReleaseUnsent(t.Context()); err != nil || released {
		t.Errorf("after its end: %t, %v", released, err)
	}
}

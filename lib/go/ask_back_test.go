// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// types sends what a user has typed, until the page takes it.
func (p *programs) types(t testing.TB, id string, of Owner, value string) {
	t.Helper()
	k, browser := rowKey{id, bindingOf(of)}, browserOf("c")
	sealed := seal(p.ring, useResult, k, fmt.Appendf(nil, `{"values":{"api_key":%q}}`, value), nil)
	until(t, "the page is open", func() bool {
		return p.ask(t, `SELECT outcome FROM urlmode.look_up_form($1::text[]::uuid[], $2::bytea[], '{intake}', '{input}', $3::text[], '{f}')`,
			[]string{id}, [][]byte{k.binding[:]}, []string{of.Subject}) != "processing"
	})
	if got := p.ask(t, `SELECT outcome FROM urlmode.answer_form($1::text[]::uuid[], $2::bytea[], '{intake}', '{input}', $3::bytea[], $4::text[],
		'{f}', '{accept}', '{""}', $5::bytea[], NULL, NULL)`, []string{id}, [][]byte{k.binding[:]}, [][]byte{browser[:]}, []string{of.Subject},
		[][]byte{sealed}); got != "processing" {
		t.Fatalf("it is %s", got)
	}
}

func askForKey(t testing.TB, m *Instance, of Owner, limit time.Duration) string {
	t.Helper()
	made, err := m.CreateInput(t.Context(), InputRequest{Provider: "intake", Owner: of, Form: keyForm(), VerifyTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	return made.ElicitationID
}

// The error of Verify, or of a Problem that is not valid, ends the wait. The page is open again.
func TestErrorOfVerify(t *testing.T) {
	m, p, me := open(t), openPrograms(t), someone()
	id := askForKey(t, m, me, time.Minute)
	failed := errors.New("the shop does not answer")
	for wanted, answer := range map[error]func() (*Problem, error){
		failed:      func() (*Problem, error) { return nil, failed },
		ErrArgument: func() (*Problem, error) { return &Problem{Field: "api_key"}, nil },
	} {
		wait := begin(t, t.Context(), m, id, me, WaitOptions{Verify: func(context.Context, Typed) (*Problem, error) { return answer() }})
		p.types(t, id, me, "s3cret")
		if got := <-wait; !errors.Is(got.err, wanted) || strings.Contains(got.err.Error(), "s3cret") {
			t.Fatalf("%v", got.err)
		}
	}
	wait := begin(t, t.Context(), m, id, me, WaitOptions{Verify: func(context.Context, Typed) (*Problem, error) { return nil, nil }})
	p.types(t, id, me, "right")
	if got := <-wait; got.err != nil || got.outcome.Values["api_key"] != "right" {
		t.Fatalf("%v, %v", got.outcome, got.err)
	}
}

// It ends the wait, and not the process: no function of the caller is below it.
func TestPanicOfTheCaller(t *testing.T) {
	log := &lines{}
	m, p, me := open(t, func(c *Config) { c.Logger = log.logger() }), openPrograms(t), someone()
	id := askForKey(t, m, me, time.Minute)
	wait := begin(t, t.Context(), m, id, me, WaitOptions{Verify: func(_ context.Context, typed Typed) (*Problem, error) {
		panic(typed.Values["api_key"])
	}})
	p.types(t, id, me, "s3cret")
	if got := <-wait; !errors.Is(got.err, errPanicked) || strings.Contains(got.err.Error(), "s3cret") {
		t.Errorf("Verify: %v", got.err)
	}
	id = create(t, m, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), Expected: Expected{Any: true}, TargetURL: "https://checkout.example/"}).ElicitationID
	wait = begin(t, t.Context(), m, id, me, WaitOptions{Recheck: func(_ context.Context, event Recheck) (*Answer, error) {
		return nil, errors.New(event.References[len(event.References)])
	}})
	p.ask(t, `SELECT outcome FROM urlmode.record_events($1::text[]::uuid[], '{stripe}', $1::text[], '{checkout}', '{recheck}', '{NULL}', '{NULL}',
		'{cs_1}', '{NULL}')`, []string{id})
	if got := <-wait; !errors.Is(got.err, errPanicked) || !strings.Contains(got.err.Error(), "index out of range") {
		t.Errorf("Recheck: %v", got.err)
	}
	if log.count("URLMODE_VERIFY") != 1 || log.count("URLMODE_RECHECK") != 1 {
		t.Error("the place is not logged")
	}
}

// A function that does not come back holds up nobody.
func TestVerifyHasATimeLimit(t *testing.T) {
	log := &lines{}
	m, p, me := open(t, func(c *Config) { c.Logger = log.logger() }), openPrograms(t), someone()
	id := askForKey(t, m, me, time.Second)
	never := make(chan struct{})
	defer close(never)
	wait := begin(t, t.Context(), m, id, me, WaitOptions{Verify: func(ctx context.Context, typed Typed) (*Problem, error) {
		if typed.Values["api_key"] == "slow" {
			<-never
		}
		return nil, nil
	}})
	p.types(t, id, me, "slow")
	until(t, "the limit is logged", func() bool { return log.count("URLMODE_VERIFY") > 0 })
	// On a slow machine the second one may be late as well.
	for tries := 0; len(wait) == 0 && tries < 8; tries++ {
		p.types(t, id, me, "right")
		until(t, "it is verified, or the limit is over", func() bool { return len(wait) > 0 || log.count("URLMODE_VERIFY") > tries+1 })
	}
	if got := <-wait; got.err != nil || got.outcome.Values["api_key"] != "right" {
		t.Fatalf("%v, %v", got.outcome, got.err)
	}
}

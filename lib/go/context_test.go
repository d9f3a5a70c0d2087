// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A nil context is a mistake in a call, which nothing but that call notices.
func TestNilContextIsAnError(t *testing.T) {
	m, me := open(t), someone()
	elicitation := create(t, m, account(me))
	ofContext := reflect.TypeFor[context.Context]()
	given := map[reflect.Type]reflect.Value{
		reflect.TypeFor[string](): reflect.ValueOf(elicitation.ElicitationID), reflect.TypeFor[Owner](): reflect.ValueOf(me),
		reflect.TypeFor[Request](): reflect.ValueOf(account(me)), reflect.TypeFor[Answer](): reflect.ValueOf(Answer{Action: Decline}),
		reflect.TypeFor[LedgerOptions](): reflect.ValueOf(LedgerOptions{Consumer: "nil"}),
		reflect.TypeFor[Action]():        reflect.ValueOf(Cancel),
	}
	check := func(name string, err error) {
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "nil context") {
			t.Errorf("%s: %v", name, err)
		}
	}
	called := 0
	for _, of := range []any{m, &Claim{State: ClaimBegun, Fence: 1, claims: m.claims}} {
		value := reflect.ValueOf(of)
		for n := range value.NumMethod() {
			name, method := value.Type().Method(n).Name, value.Method(n)
			if method.Type().NumIn() == 0 || method.Type().In(0) != ofContext {
				continue
			}
			called++
			arguments := []reflect.Value{reflect.Zero(ofContext)}
			for i := 1; i < method.Type().NumIn(); i++ {
				argument, is := given[method.Type().In(i)]
				if !is {
					argument = reflect.Zero(method.Type().In(i))
				}
				arguments = append(arguments, argument)
			}
			results := method.Call(arguments)
			switch last := results[len(results)-1].Interface().(type) {
			case error:
				check(name, last)
			case iter.Seq2[LedgerEntry, error]:
				for _, err := range last {
					check(name, err)
				}
			case iter.Seq[ProvenPayment]:
				for range last {
					t.Errorf("%s goes on", name)
				}
			case iter.Seq[Refund]:
				for range last {
					t.Errorf("%s goes on", name)
				}
			default:
				t.Errorf("%s returns %v", name, results)
			}
		}
	}
	if called < 24 {
		t.Errorf("only %d methods are called", called)
	}
	var none context.Context
	if _, err := New(none, Config{}); !errors.Is(err, ErrArgument) {
		t.Errorf("New: %v", err)
	}
	if row, err := m.db.read(t.Context(), rowKey{elicitation.ElicitationID, bindingOf(me)}); err != nil || row.status != Pending {
		t.Errorf("it is %v, %v", row, err)
	}
}

type spanKey struct{}

// spans notes the span of the caller by which each statement of the pool is traced.
type spans struct{ seen chan string }

func (s *spans) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	span, _ := ctx.Value(spanKey{}).(string)
	if strings.Contains(data.SQL, "urlmode.") {
		s.seen <- span
	}
	return ctx
}

func (s *spans) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The driver, Target, Recheck and Verify see the values of the caller's context.
func TestValuesOfTheCallersContext(t *testing.T) {
	config, err := pgxpool.ParseConfig(required(t, "URLMODE_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	traced := &spans{make(chan string, 1000)}
	config.ConnConfig.Tracer = traced
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	m, me := open(t, func(c *Config) { c.DatabaseURL, c.Pool = "", pool }), someone()
	mine := context.WithValue(t.Context(), spanKey{}, "mine")
	made, err := m.Create(mine, account(me)) // in a batch
	if err != nil {
		t.Fatal(err)
	}
	if span := <-traced.seen; span != "mine" {
		t.Errorf("Create has the span %q", span)
	}
	if _, err := m.Complete(mine, made.ElicitationID, me, Answer{Action: Accept}); err != nil {
		t.Fatal(err)
	}
	if span := <-traced.seen; span != "mine" {
		t.Errorf("Complete has the span %q", span)
	}
	if _, err := m.Claim(mine, made.ElicitationID, me, ClaimOptions{}); err != nil {
		t.Fatal(err)
	}
	if span := <-traced.seen; span != "mine" {
		t.Errorf("Claim has the span %q", span)
	}

	type call struct{ who, span string }
	reported := make(chan call, 100)
	report := func(ctx context.Context, who string) {
		span, _ := ctx.Value(spanKey{}).(string)
		reported <- call{who, span}
	}
	want := func(who string) {
		t.Helper()
		last := within(t, who, reported)
		for last.who != who { // Recheck may be asked again.
			last = within(t, who, reported)
		}
		if last.span != "mine" {
			t.Errorf("%s has the span %q", who, last.span)
		}
	}
	p := openPrograms(t)
	bought, err := m.Create(mine, Request{Provider: "stripe", Kind: Payment, Owner: me, Item: newID(), Expected: Expected{Any: true}, Target: func(ctx context.Context, _ TargetArguments) (Target, error) {
		report(ctx, "Target")
		return Target{URL: "https://checkout.example/"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	want("Target")
	waiting, stop := context.WithCancel(mine)
	defer stop()
	begin(t, waiting, m, bought.ElicitationID, me, WaitOptions{Recheck: func(ctx context.Context, _ Recheck) (*Answer, error) {
		report(ctx, "Recheck")
		return nil, nil
	}})
	p.ask(t, `SELECT outcome FROM urlmode.record_events($1::text[]::uuid[], '{stripe}', $1::text[], '{checkout}', '{recheck}', '{NULL}', '{NULL}',
		'{cs_1}', '{NULL}')`, []string{bought.ElicitationID})
	want("Recheck")
	stop()

	id := askForKey(t, m, me, time.Minute)
	verified := begin(t, mine, m, id, me, WaitOptions{Verify: func(ctx context.Context, _ Typed) (*Problem, error) {
		report(ctx, "Verify")
		return nil, nil
	}})
	p.types(t, id, me, "right")
	want("Verify")
	if got := <-verified; got.err != nil {
		t.Error(got.err)
	}
}

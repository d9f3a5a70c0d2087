// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"iter"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

func (m *Instance) readUnclaimed(ctx context.Context, f filter) ([]UnclaimedPayment, error) {
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]unclaimedRow, error) {
		return run(ctx, m.pool, sqlUnclaimedPayments, f.values())
	})
	return column(found, m.toUnclaimed), err
}

func (m *Instance) toUnclaimed(r unclaimedRow) (p UnclaimedPayment) {
	p.ElicitationID, p.Provider, p.Owner, p.Reference = r.elicitation, r.providerName, Owner{r.subject, r.session}, r.reference
	p.Amount, p.Currency, p.Matches, p.Item, p.ResumeKey, p.Late = r.amount, r.currency, r.matches, r.item, r.resumeKey, r.late
	p.ProvenAt, p.Refunded, p.Held = r.provenAt, r.refunded, r.held
	if len(r.result) > 0 && len(r.binding) == len(digest{}) {
		// A payment whose result cannot be opened must be listed all the same.
		if unseal(m.ring, useResult, rowKey{r.elicitation, digest(r.binding)}, r.result, &p.Result) != nil {
			p.Result = nil
		}
	}
	return p
}

func (m *Instance) readRefunds(ctx context.Context, f filter) ([]Refund, error) {
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]refundRow, error) {
		return run(ctx, m.pool, sqlRefunds, refundsValues(f.values()))
	})
	return column(found, toRefund), err
}

func toRefund(r refundRow) Refund {
	made := Refund{ElicitationID: r.elicitation, Provider: r.providerName, Owner: Owner{r.subject, r.session}, ResumeKey: r.resumeKey,
		Reference: r.reference, Amount: r.amount, Currency: r.currency, Reversed: r.reversed, ReceivedAt: r.receivedAt, ChangedAt: r.changedAt}
	if r.payment != "" {
		made.Payment = &RefundedPayment{Reference: r.payment, Amount: r.paid, Refunded: r.refunded, Held: r.held, Claimed: r.claimed}
	}
	return made
}

// Unclaimed lists the payments that were proved, not refunded, and claimed by no call, of all users, the oldest first.
func (m *Instance) Unclaimed(ctx context.Context, o ListOptions) ([]UnclaimedPayment, error) {
	f, err := o.filter()
	if err != nil {
		return nil, err
	}
	return m.readUnclaimed(ctx, f)
}

// Undelivered lists the claims that were fulfilled and never confirmed, of all users, the oldest first. Nobody knows that their
// answers were written; some may be on their way.
func (m *Instance) Undelivered(ctx context.Context, o ListOptions) ([]UndeliveredClaim, error) {
	f, err := o.filter()
	if err != nil {
		return nil, err
	}
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]undeliveredRow, error) {
		return run(ctx, m.pool, sqlUndeliveredClaims, undeliveredClaimsValues(f.values()))
	})
	return column(found, toUndelivered), err
}

func toUndelivered(r undeliveredRow) UndeliveredClaim {
	return UndeliveredClaim{ElicitationID: r.elicitation, Provider: r.providerName, Kind: r.kind, Owner: Owner{r.subject, r.session},
		Item: r.item, ResumeKey: r.resumeKey, Reference: r.reference, Amount: r.amount, Currency: r.currency, FulfilledAt: r.fulfilledAt, GivenAt: r.givenAt,
		HasResult: r.hasResult, Refunded: r.refunded, Held: r.held}
}

// Refunds lists the refunds of payments, and how much came again, of all users, the last change last.
// Transactions commit in another order than they begin: ask again for the last minute.
func (m *Instance) Refunds(ctx context.Context, o ListOptions) ([]Refund, error) {
	f, err := o.filter()
	if err != nil {
		return nil, err
	}
	return m.readRefunds(ctx, f)
}

func (o ListOptions) filter() (filter, error) {
	if o.Provider != "" {
		if err := checkProvider(o.Provider); err != nil {
			return filter{}, err
		}
	}
	return filter{provider: o.Provider, since: o.Since}, nil
}

// LatePayments is each payment that is proved after the end of its elicitation, from the begin of the loop until
// its context or the instance ends. Nothing is repeated after a lost connection: Unclaimed lists all of them.
func (m *Instance) LatePayments(ctx context.Context) iter.Seq[ProvenPayment] {
	type name struct {
		provider, reference string
		amount              int64
	}
	reports := reports(ctx, m, func(a notification) bool { return a.Late }, m.readUnclaimed,
		func(p UnclaimedPayment) name { return name{p.Provider, p.Reference, p.Amount} })
	return func(yield func(ProvenPayment) bool) {
		for each := range reports {
			if each.Late && !yield(each.ProvenPayment) {
				return
			}
		}
	}
}

// NewRefunds is each change of Refunds, from the begin of the loop until its context or the instance ends.
func (m *Instance) NewRefunds(ctx context.Context) iter.Seq[Refund] {
	type name struct {
		provider, reference, payment string
		amount, reversed             int64
	}
	return reports(ctx, m, func(a notification) bool { return a.Refunded }, m.readRefunds, func(r Refund) name {
		of := name{provider: r.Provider, reference: r.Reference, amount: -1, reversed: r.Reversed}
		if r.Amount != nil {
			of.amount = *r.Amount
		}
		if r.Payment != nil {
			of.payment = r.Payment.Reference
		}
		return of
	})
}

// paymentReports collects the elicitations whose notifications tell of money.
type paymentReports struct {
	matches func(notification) bool
	woken   chan struct{}

	mu      sync.Mutex
	pending []string
	missed  bool
}

func (a *paymentReports) notified(all []notification) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, each := range all {
		if !a.matches(each) {
			continue
		}
		if len(a.pending) < limits.ReportsPendingMax {
			a.pending = append(a.pending, each.ID)
		} else {
			a.missed = true
		}
		select {
		case a.woken <- struct{}{}:
		default:
		}
	}
}

// next is the filter of what is to be read, if there is something.
func (a *paymentReports) next() (filter, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending) > 0 {
		id := a.pending[0]
		a.pending = a.pending[1:]
		return filter{id: id}, true
	}
	missed := a.missed
	a.missed = false
	return filter{since: time.Now().Add(-limits.ReportsMissed)}, missed
}

// reports reads what is announced: one query at a time, however many notifications there are, because anyone
// in the database can forge them. nameOf is what is reported once.
func reports[R any, N comparable](ctx context.Context, m *Instance, matches func(notification) bool,
	read func(context.Context, filter) ([]R, error), nameOf func(R) N) iter.Seq[R] {
	return func(yield func(R) bool) {
		m.rechecks.start()
		pending := &paymentReports{matches: matches, woken: make(chan struct{}, 1)}
		m.listener.subscribe(pending)
		defer m.listener.unsubscribe(pending)
		reported := map[N]struct{}{}
		var order []N
		for {
			f, found := pending.next()
			if !found {
				select {
				case <-pending.woken:
				case <-ctx.Done():
					return
				case <-m.waits.closing:
					return
				}
				continue
			}
			all, err := read(ctx, f)
			if err != nil {
				continue // It is listed when PostgreSQL is available again.
			}
			for _, each := range all {
				name := nameOf(each)
				if _, known := reported[name]; known {
					continue
				}
				reported[name] = struct{}{}
				if order = append(order, name); len(order) > limits.ReportedMax {
					delete(reported, order[0])
					order = order[1:]
				}
				if !yield(each) {
					return
				}
			}
		}
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import "context"

func (m *Instance) readUnclaimed(ctx context.Context, f filter) ([]UnclaimedPayment, error) {
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]unclaimedRow, error) {
		return run(ctx, m.pool, sqlUnclaimedOf, f.values(m.tenant))
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
		return run(ctx, m.pool, sqlRefundsWithItem, refundsWithItemValues(f.values(m.tenant)))
	})
	return column(found, toRefund), err
}

func toRefund(r refundRow) Refund {
	made := Refund{ElicitationID: r.elicitation, Provider: r.providerName, Owner: Owner{r.subject, r.session}, Item: r.item, ResumeKey: r.resumeKey,
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
		return run(ctx, m.pool, sqlUndeliveredOf, undeliveredOfValues(f.values(m.tenant)))
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

// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// ReconcileOptions say what Reconcile compares.
type ReconcileOptions struct {
	Provider string // its name in the configuration
	// Since is from when what was proved here must be in the list, and Until until when; the zero time is now.
	Since, Until time.Time
	// List is what the provider has, perhaps of a longer time: at most 100,000 payments and as many refunds.
	List func(context.Context, ReconcileOptions) ([]PaymentEntry, []RefundEntry, error)
}

// Reconciliation is what a provider and this database do not both have.
type Reconciliation struct {
	MissingHere  []Difference // The provider has it, for an elicitation of this database.
	MissingThere []Difference // It is here, and not in the list.
	Differs      []Difference // Amount, currency, or the elicitation that it is for.
}

// Difference is a payment or a refund.
type Difference struct {
	Kind          string    // payment or refund
	Reference     string    // of the payment or of the refund
	Payment       string    // the reference of the payment
	ElicitationID string    // that it is about
	Here, There   *Expected // nil: it is missing
}

// Reconcile compares what a provider lists with what is here: payments, and what went back of them. It only reads, and records
// nothing. What names no elicitation and no checkout of this database is somebody else's.
func (m *Instance) Reconcile(ctx context.Context, o ReconcileOptions) (made Reconciliation, err error) {
	if err := cmp.Or(checkContext(ctx), checkProvider(o.Provider)); err != nil {
		return made, err
	}
	if o.Since.IsZero() || o.List == nil {
		return made, argumentError("Since and List are required")
	}
	if o.Until.IsZero() {
		o.Until = time.Now()
	}
	payments, refunds, err := o.List(ctx, o)
	if err != nil {
		return made, err
	}
	paid, back, err := entryRows(payments, refunds, limits.ListedMax)
	if err != nil {
		return made, err
	}
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]reconciledRow, error) {
		return run(ctx, m.pool, sqlReconcile, reconcileValues{tenant: string(m.tenant), provider: o.Provider, since: o.Since, until: o.Until,
			payments: rowsJSON(paid), refunds: rowsJSON(back)})
	})
	for _, row := range found {
		difference := Difference{Kind: row.kind, Reference: row.reference, Payment: row.payment, ElicitationID: row.elicitation,
			Here: moneyOf(row.amount, row.currency), There: moneyOf(row.theirAmount, row.theirCurrency)}
		switch row.what {
		case "missing_here":
			made.MissingHere = append(made.MissingHere, difference)
		case "missing_there":
			made.MissingThere = append(made.MissingThere, difference)
		default:
			made.Differs = append(made.Differs, difference)
		}
	}
	return made, err
}

// moneyOf is nil where there is none.
func moneyOf(amount int64, currency string) *Expected {
	if currency == "" {
		return nil
	}
	return &Expected{Amount: amount, Currency: currency}
}

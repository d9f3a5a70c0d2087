// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// What a provider has, as a function of the caller says it, for a recheck or for Reconcile: payments, and what went
// back of them.

// entryRow is one of them, as the database takes it.
type entryRow struct {
	Reference     string      `json:"reference"`
	Payment       string      `json:"payment,omitempty"`
	Amount        int64       `json:"amount"`
	Currency      string      `json:"currency,omitempty"`
	Status        EntryStatus `json:"status"`
	ElicitationID string      `json:"elicitation_id,omitempty"`
	Checkout      string      `json:"checkout,omitempty"`
	Result        []byte      `json:"result,omitempty"` // sealed
}

// entryRows are checked entries. most: of each.
func entryRows(payments []PaymentEntry, refunds []RefundEntry, most int) (paid, back []entryRow, err error) {
	if len(payments) > most || len(refunds) > most {
		return nil, nil, argumentError("Payments and Refunds must have at most %d entries each", most)
	}
	paid, back = make([]entryRow, len(payments)), make([]entryRow, len(refunds))
	for n, entry := range payments {
		paid[n] = entryRow{Reference: entry.Reference, Amount: entry.Amount, Currency: entry.Currency, Status: entry.Status,
			ElicitationID: entry.ElicitationID, Checkout: entry.Checkout}
		if err := paid[n].check(fmt.Sprintf("Payments[%d]", n), false); err != nil {
			return nil, nil, err
		}
	}
	for n, entry := range refunds {
		back[n] = entryRow{Reference: entry.Reference, Payment: entry.Payment, Amount: entry.Amount, Currency: entry.Currency,
			Status: entry.Status, ElicitationID: entry.ElicitationID, Checkout: entry.Checkout}
		if err := back[n].check(fmt.Sprintf("Refunds[%d]", n), true); err != nil {
			return nil, nil, err
		}
	}
	return paid, back, nil
}

func (r *entryRow) check(place string, isRefund bool) error {
	if err := checkText(place+".Reference", r.Reference, 1, limits.ReferenceMax); err != nil {
		return err
	}
	if isRefund {
		if err := checkText(place+".Payment", r.Payment, 1, limits.ReferenceMax); err != nil {
			return err
		}
	}
	if err := checkText(place+".ElicitationID", r.ElicitationID, 0, limits.ReferenceMax); err != nil {
		return err
	}
	if err := checkText(place+".Checkout", r.Checkout, 0, limits.ReferenceMax); err != nil {
		return err
	}
	currency := r.Currency
	if isRefund && currency == "" {
		currency = "EUR" // It has that of its payment.
	}
	currency, err := checkMoney(place, r.Amount, currency)
	if err != nil {
		return err
	}
	if r.Currency != "" {
		r.Currency = currency
	}
	if !slices.Contains(entryStatuses, string(r.Status)) {
		return argumentError("%s.Status "+texts.MustBeOneOf, place, strings.Join(entryStatuses, ", "))
	}
	return nil
}

// rowsJSON is an array, also of none.
func rowsJSON(rows []entryRow) string {
	text, err := json.Marshal(append([]entryRow{}, rows...))
	if err != nil {
		panic(err) // they are texts and numbers
	}
	return string(text)
}

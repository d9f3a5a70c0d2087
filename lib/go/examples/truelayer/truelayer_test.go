// SPDX-License-Identifier: MIT

package truelayer

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"urlmode.example/urlmode"
)

// double is of the used part of TrueLayer's Payments API v3, compared on 28 November 2026 with its documents
// payment-statuses-for-payments-v3, payout-and-refund-statuses and refund-webhooks at https://docs.truelayer.com/docs/.
type double struct {
	payments map[string]map[string]any
	refunds  map[string][]map[string]any
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer token-1" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v3/payments/"), "/")
	found, known := d.payments[id]
	switch {
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case rest == "refunds":
		json.NewEncoder(w).Encode(map[string]any{"items": d.refunds[id]})
	default:
		json.NewEncoder(w).Encode(found)
	}
}

func payable(id, status string, metadata map[string]string) map[string]any {
	return map[string]any{"id": id, "amount_in_minor": 1050, "currency": "GBP", "status": status, "metadata": metadata,
		"user": map[string]string{"id": "u1"}, "payment_method": map[string]string{"type": "bank_transfer"}}
}

func TestRecheck(t *testing.T) {
	mine := map[string]string{"elicitation_id": "e1"}
	bank := &double{
		payments: map[string]map[string]any{"p1": payable("p1", "authorizing", mine), "p2": payable("p2", "settled", nil)},
		refunds:  map[string][]map[string]any{},
	}
	server := httptest.NewServer(bank)
	defer server.Close()
	token := "token-1"
	client := &Client{BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil }}
	ask := func(references ...string) *urlmode.Answer {
		t.Helper()
		answer, err := client.Recheck(t.Context(), urlmode.Recheck{ElicitationID: "e1", Provider: "truelayer", References: references})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if answer := ask("made up", "p1"); len(answer.Payments)+len(answer.Refunds) != 0 {
		t.Fatalf("nobody has paid yet: %+v", answer)
	}
	for status, wanted := range map[string]urlmode.EntryStatus{
		"authorized": urlmode.EntryProcessing, "executed": urlmode.EntryPaid, "settled": urlmode.EntryPaid, "failed": urlmode.EntryFailed,
	} {
		bank.payments["p1"]["status"] = status
		paid := urlmode.PaymentEntry{Reference: "p1", Amount: 1050, Currency: "GBP", Status: wanted, ElicitationID: "e1"}
		if answer := ask("p1"); !reflect.DeepEqual(answer.Payments, []urlmode.PaymentEntry{paid}) {
			t.Fatalf("%s: %+v", status, answer)
		}
	}
	// Of somebody else: its entry names nobody, so that urlmode does not record it.
	if answer := ask("p2"); len(answer.Payments) != 1 || answer.Payments[0].ElicitationID != "" {
		t.Fatalf("%+v", answer)
	}
	bank.payments["p1"]["status"] = "settled"
	for status, wanted := range map[string]urlmode.EntryStatus{
		"pending": urlmode.EntryProcessing, "authorized": urlmode.EntryProcessing, "executed": urlmode.EntryPaid, "failed": urlmode.EntryFailed,
	} {
		bank.refunds["p1"] = []map[string]any{{"id": "r1", "amount_in_minor": 400, "currency": "GBP", "status": status, "reference": "a refund"}}
		back := urlmode.RefundEntry{Reference: "r1", Payment: "p1", Amount: 400, Currency: "GBP", Status: wanted}
		if answer := ask("p1"); !reflect.DeepEqual(answer.Refunds, []urlmode.RefundEntry{back}) {
			t.Fatalf("%s: %+v", status, answer)
		}
	}
	token = "expired"
	if _, err := client.Recheck(t.Context(), urlmode.Recheck{References: []string{"p1"}}); err == nil || err.Error() != "TrueLayer answers 401" {
		t.Fatal(err)
	}
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/json"
	"os"
	"testing"
)

func readJSON(t testing.TB, name string, value any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestPriceOf(t *testing.T) {
	for _, row := range []struct {
		provider string
		price    Expected
		written  string
	}{
		{"stripe", Expected{Amount: 1050, Currency: "EUR"}, "1050"},
		{"stripe", Expected{Amount: 5, Currency: "ISK"}, "500"},
		{"stripe", Expected{Amount: 1050, Currency: "JPY"}, "1050"},
		{"stripe", Expected{Amount: 10500, Currency: "KWD"}, "10500"},
		{"paypal", Expected{Amount: 1050, Currency: "EUR"}, "10.50"},
		{"paypal", Expected{Amount: 7, Currency: "USD"}, "0.07"},
		{"paypal", Expected{Amount: 7, Currency: "JPY"}, "7"},
		{"nobody-knows-it", Expected{Amount: 7, Currency: "JPY"}, ""},
	} {
		written, err := priceOf(row.provider, row.price)
		if err != nil || written != row.written {
			t.Errorf("%s %v: %q, %v, and not %q", row.provider, row.price, written, err, row.written)
		}
	}
	request := Request{Kind: Payment, Provider: "acme", Owner: Owner{Subject: "ann"}, Item: "report:42", TargetURL: "https://a.example/",
		Expected: Expected{Amount: 5, Currency: "ISK"}}
	for _, described := range []map[string]string{nil, {"acme": "stripe"}} {
		written, err := checkTargetRequest(&request, described)
		if err != nil || (written == "500") != (described != nil) {
			t.Errorf("%v: %q, %v", described, written, err)
		}
	}
	if _, err := priceOf("stripe", Expected{Amount: 10501, Currency: "KWD"}); err == nil {
		t.Error("stripe cannot charge a thousandth of KWD")
	}
	if _, err := priceOf("stripe", Expected{Amount: safeInteger, Currency: "ISK"}); err == nil {
		t.Error("stripe cannot charge more than 2^53 - 1 of its units")
	}
}

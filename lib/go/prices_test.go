// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write prices.json")

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

// The package has what it needs of the files that all languages share, in one file of its own.
func TestPrices(t *testing.T) {
	made := prices{map[string]int{}, map[string]units{}}
	var currencies struct{ Exponents map[string][]string }
	readJSON(t, "../currencies.json", &currencies)
	for exponent, codes := range currencies.Exponents {
		for _, code := range codes {
			made.Exponents[code], _ = strconv.Atoi(exponent)
		}
	}
	names, _ := filepath.Glob("../providers/*.json")
	for _, name := range names {
		var description struct{ Amount *units }
		readJSON(t, name, &description)
		if description.Amount != nil && description.Amount.As != "" {
			made.Providers[strings.TrimSuffix(filepath.Base(name), ".json")] = *description.Amount
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "\t")
	if err := encoder.Encode(made); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("prices.json", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text.Bytes(), pricesJSON) {
		t.Fatal("prices.json differs from lib/currencies.json and lib/providers: go test -run TestPrices -update ./...")
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
	if _, err := priceOf("stripe", Expected{Amount: 10501, Currency: "KWD"}); err == nil {
		t.Error("stripe cannot charge a thousandth of KWD")
	}
	if _, err := priceOf("stripe", Expected{Amount: safeInteger, Currency: "ISK"}); err == nil {
		t.Error("stripe cannot charge more than 2^53 - 1 of its units")
	}
}

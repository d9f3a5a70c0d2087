// SPDX-License-Identifier: MIT

package urlmode

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
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
	var file struct {
		Cases []struct {
			Provider string
			Amount   int64
			Currency string
			Written  any
			Step     int64
			TooLarge bool `json:"too_large"`
		}
	}
	readJSON(t, "../../tests/vectors/amounts.json", &file)
	if len(file.Cases) < 40 {
		t.Fatal("there are too few vectors")
	}
	for _, row := range file.Cases {
		written, err := priceOf(row.Provider, Expected{Amount: row.Amount, Currency: row.Currency})
		if row.Step != 0 || row.TooLarge {
			if !errors.Is(err, ErrArgument) || row.Step != 0 && !strings.Contains(err.Error(), fmt.Sprintf("multiple of %d:", row.Step)) {
				t.Errorf("%v: %q, %v", row, written, err)
			}
			continue
		}
		want := ""
		switch value := row.Written.(type) {
		case float64:
			want = strconv.FormatFloat(value, 'f', -1, 64)
		case string:
			want = value
		}
		if err != nil || written != want {
			t.Errorf("%v: %q, %v", row, written, err)
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
}

// SPDX-License-Identifier: MIT

package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
)

// A client without elicitation in URL mode gets the link in the result of the tool. The call that follows goes on with it.
func ExampleAdapter_Elicit() {
	ctx := context.Background()
	instance, err := urlmode.New(ctx, urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: "https://callback.example",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer instance.Close()
	tools := adapter.New(instance, adapter.Options{})

	call := adapter.Call{Client: adapter.Client{Name: "agent"}}
	end, err := tools.Elicit(ctx, call, adapter.ToolRequest{
		Message: "Buy the report for 5.00 EUR.",
		Request: urlmode.Request{
			Provider: "stripe", Kind: urlmode.Payment, Item: "report:42", Expected: urlmode.Expected{Amount: 500, Currency: "EUR"},
			Owner:     urlmode.Owner{Subject: fmt.Sprintf("user-%d", time.Now().UnixNano())},
			TargetURL: "https://checkout.stripe.com/c/pay/cs_test_1",
		},
	}, func(context.Context, adapter.Accepted) (json.RawMessage, error) {
		return json.RawMessage(`{"content": [{"type": "text", "text": "The report."}]}`), nil // after the payment
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(string(end.Result), "https://callback.example/connect/stripe"))
	// Output: true
}

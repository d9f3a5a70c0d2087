// SPDX-License-Identifier: MIT

package urlmode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"urlmode.example/urlmode"
)

// openInstance opens the instance that each process of a server has. These examples run with the variables of a stack.
func openInstance(ctx context.Context) *urlmode.Instance {
	instance, err := urlmode.New(ctx, urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), // as role urlmode_server
		KeysFile:    os.Getenv("URLMODE_KEYS_FILE"),
		BaseURL:     "https://callback.example",
	})
	if err != nil {
		log.Fatal(err)
	}
	return instance
}

// opened is the instance of these examples.
var opened = sync.OnceValue(func() *urlmode.Instance { return openInstance(context.Background()) })

// someone is a user, according to the server's own authorization.
func someone() urlmode.Owner {
	return urlmode.Owner{Subject: fmt.Sprintf("user-%d", time.Now().UnixNano())}
}

func checkout() urlmode.Request {
	return urlmode.Request{
		Provider: "stripe", Kind: urlmode.Payment, Item: "report:42", Owner: someone(), Expected: urlmode.Expected{Amount: 500, Currency: "EUR"},
		TargetURL: "https://checkout.stripe.com/c/pay/cs_test_1",
	}
}

func ExampleInstance_Create() {
	ctx := context.Background()
	instance := opened()

	elicitation, err := instance.Create(ctx, checkout())
	if err != nil {
		log.Fatal(err)
	}
	link, _, _ := strings.Cut(elicitation.URL, "?")
	fmt.Println(link)
	// Output: https://callback.example/connect/stripe
}

// A call that goes on with what an earlier one has started is for the same item.
func ExampleInstance_Create_resumed() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	request.Item = "report:42"
	first, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	second, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Resumed, second.ElicitationID == first.ElicitationID)
	// Output: true true
}

func ExampleInstance_CreateApproval() {
	ctx := context.Background()
	instance := opened()

	elicitation, err := instance.CreateApproval(ctx, urlmode.ApprovalRequest{
		Provider: "approvals", Owner: someone(),
		Form: urlmode.ApprovalForm{
			Title: urlmode.Text("Delete the archive?"),
			Facts: []urlmode.Fact{{Label: urlmode.Text("Files"), Value: urlmode.Text("1,204")}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	link, _, _ := strings.Cut(elicitation.URL, "?")
	fmt.Println(link)
	// Output: https://callback.example/connect/approvals
}

func ExampleInstance_Wait() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	// Here the server asks the provider itself. Otherwise a callback program completes the elicitation.
	if _, err := instance.Complete(ctx, elicitation.ElicitationID, request.Owner, urlmode.Answer{
		Action: urlmode.Accept, Reference: elicitation.ElicitationID, Amount: 500, Currency: "EUR",
	}); err != nil {
		log.Fatal(err)
	}

	waiting, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	outcome, err := instance.Wait(waiting, elicitation.ElicitationID, request.Owner)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Action)
	// Output: accept
}

// A status, without waiting for another.
func ExampleInstance_WaitWith() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	_, err = instance.WaitWith(ctx, elicitation.ElicitationID, request.Owner, urlmode.WaitOptions{Once: true})
	var open *urlmode.Error
	if errors.As(err, &open) && errors.Is(err, urlmode.ErrTimeout) {
		fmt.Println(open.Status)
	}
	// Output: pending
}

// The work is done once, although two calls have the outcome.
func ExampleInstance_BeginClaim() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	id := elicitation.ElicitationID
	if _, err := instance.Complete(ctx, id, request.Owner, urlmode.Answer{
		Action: urlmode.Accept, Reference: id, Amount: 500, Currency: "EUR",
	}); err != nil {
		log.Fatal(err)
	}

	for range 2 {
		claim, err := instance.BeginClaim(ctx, id, request.Owner, urlmode.LeaseOptions{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(claim.State)
		if claim.State == urlmode.ClaimBegun {
			if _, err := claim.Fulfil(ctx, json.RawMessage(`{"report": "…"}`)); err != nil {
				log.Fatal(err)
			}
		}
		// Here the answer is written, which fails the first time: the second call gets the same result.
	}
	// Output:
	// begun
	// fulfilled
}

func ExampleDefaultResumeKey() {
	one := urlmode.DefaultResumeKey("github", urlmode.OAuth, "Connect your account.", urlmode.Expected{})
	other := urlmode.DefaultResumeKey("github", urlmode.OAuth, "Please connect your account.", urlmode.Expected{})
	fmt.Println(one == other)
	// Output: true
}

func ExampleTraceparentOf() {
	fmt.Println(urlmode.TraceparentOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	fmt.Println(urlmode.TraceparentOf("no trace") == "")
	// Output:
	// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	// true
}

// What a user has paid, or has typed, is in no log.
func ExampleOutcome_String() {
	outcome := urlmode.Outcome{ElicitationID: "8a7c8f0e-0000-4000-8000-000000000000", Action: urlmode.Accept, Result: map[string]any{"code": "secret"}}
	fmt.Println(strings.Contains(fmt.Sprint(outcome), "secret"))
	// Output: false
}

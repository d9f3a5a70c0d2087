// SPDX-License-Identifier: MIT

package urlmode_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"urlmode.example/urlmode"
)

// paidFor creates an elicitation and records its payment, as a callback program does when the provider has sent its webhook.
func paidFor(ctx context.Context, instance *urlmode.Instance, request urlmode.Request) urlmode.Elicitation {
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := instance.Complete(ctx, elicitation.ElicitationID, request.Owner, urlmode.Answer{
		Action: urlmode.Accept, Reference: elicitation.ElicitationID, Amount: 500, Currency: "EUR",
	}); err != nil {
		log.Fatal(err)
	}
	return elicitation
}

// One instance in each process is enough. It connects with its first call.
func ExampleNew() {
	instance, err := urlmode.New(context.Background(), urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), // as role urlmode_server
		KeysFile:    os.Getenv("URLMODE_KEYS_FILE"),
		BaseURL:     "https://callback.example",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer instance.Close()
	fmt.Println(instance.Name())
	// Output: callback.example
}

// Each error of this package is an *Error, and is one of its codes.
func ExampleError() {
	_, err := urlmode.New(context.Background(), urlmode.Config{BaseURL: "http://callback.example"})
	var failed *urlmode.Error
	fmt.Println(errors.As(err, &failed), errors.Is(err, urlmode.ErrArgument), failed.Code)
	// Output: true true ARGUMENT
}

// What the user types is never seen by the client or the model.
func ExampleInstance_CreateInput() {
	ctx := context.Background()
	instance := opened()

	elicitation, err := instance.CreateInput(ctx, urlmode.InputRequest{
		Provider: "intake", Owner: someone(),
		Form: urlmode.InputForm{
			Title:  urlmode.Text("Your API key"),
			Fields: []urlmode.Field{{Name: "key", Type: urlmode.SecretField, Label: urlmode.Text("Key"), Required: true}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	link, _, _ := strings.Cut(elicitation.URL, "?")
	fmt.Println(link)
	// Output: https://callback.example/connect/intake
}

// A server that has asked the provider itself says what it has learned. The second time nothing changes.
func ExampleInstance_Complete() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		completed, err := instance.Complete(ctx, elicitation.ElicitationID, request.Owner, urlmode.Answer{
			Action: urlmode.Accept, Reference: elicitation.ElicitationID, Amount: 500, Currency: "EUR",
		})
		fmt.Println(completed, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

func ExampleInstance_Cancel() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := instance.Cancel(ctx, elicitation.ElicitationID, request.Owner, "sold_out"); err != nil {
		log.Fatal(err)
	}
	outcome, err := instance.Wait(ctx, elicitation.ElicitationID, request.Owner)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Action, outcome.Reason)
	// Output: cancel sold_out
}

// Nobody has opened the link yet, so that it can be given up.
func ExampleInstance_Abandon() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation, err := instance.Create(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(instance.Abandon(ctx, elicitation.ElicitationID, request.Owner, urlmode.Cancel, "abandoned"))
	// Output: true <nil>
}

// Only the first call delivers.
func ExampleInstance_Claim() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation := paidFor(ctx, instance, request)
	for range 2 {
		claimed, err := instance.Claim(ctx, elicitation.ElicitationID, request.Owner, urlmode.ClaimOptions{})
		fmt.Println(claimed, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// If the work fails, the next call begins at once.
func ExampleClaim_Release() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation := paidFor(ctx, instance, request)
	for range 2 {
		claim, err := instance.BeginClaim(ctx, elicitation.ElicitationID, request.Owner, urlmode.LeaseOptions{})
		if err != nil {
			log.Fatal(err)
		}
		released, err := claim.Release(ctx)
		fmt.Println(claim.State, released, err)
	}
	// Output:
	// begun true <nil>
	// begun true <nil>
}

// What the user has paid for was not delivered yet.
func ExampleInstance_Unclaimed() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	paidFor(ctx, instance, request)
	payments, err := instance.Unclaimed(ctx, urlmode.ListOptions{Provider: "stripe"})
	if err != nil {
		log.Fatal(err)
	}
	for _, payment := range payments {
		if payment.Owner == request.Owner {
			fmt.Println(payment.Item, payment.Amount, payment.Currency)
		}
	}
	// Output: report:42 500 EUR
}

// Nobody knows that the answer of this call was written.
func ExampleInstance_Undelivered() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	elicitation := paidFor(ctx, instance, request)
	claim, err := instance.BeginClaim(ctx, elicitation.ElicitationID, request.Owner, urlmode.LeaseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := claim.Fulfil(ctx, "the report"); err != nil {
		log.Fatal(err)
	}
	claims, err := instance.Undelivered(ctx, urlmode.ListOptions{Provider: "stripe"})
	if err != nil {
		log.Fatal(err)
	}
	for _, each := range claims {
		if each.Owner == request.Owner {
			fmt.Println(each.Item, each.HasResult)
		}
	}
	// Output: report:42 true
}

func ExampleInstance_Refunds() {
	ctx := context.Background()
	instance := opened()

	refunds, err := instance.Refunds(ctx, urlmode.ListOptions{Since: time.Now().Add(time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(refunds))
	// Output: 0
}

// The provider says that it has what the database does not know, perhaps because a webhook was never delivered.
func ExampleInstance_Reconcile() {
	ctx := context.Background()
	instance := opened()

	now := time.Now()
	made, err := instance.Reconcile(ctx, urlmode.ReconcileOptions{
		Provider: "stripe", Since: now.Add(time.Hour), Until: now.Add(2 * time.Hour),
		List: func(context.Context, urlmode.ReconcileOptions) ([]urlmode.PaymentEntry, []urlmode.RefundEntry, error) {
			return nil, nil, nil // from the list of the provider's API
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(made.MissingHere), len(made.MissingThere), len(made.Differs))
	// Output: 0 0 0
}

// Everything that becomes of money, in order. It is acknowledged when the loop asks for the next entry.
func ExampleInstance_Ledger() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	instance := opened()

	request := checkout()
	paidFor(ctx, instance, request)
	consumer := fmt.Sprintf("example-%d", time.Now().UnixNano())
	for entry, err := range instance.Ledger(ctx, urlmode.LedgerOptions{Consumer: consumer}) {
		if err != nil {
			log.Fatal(err)
		}
		if entry.Subject == request.Owner.Subject {
			fmt.Println(entry.Type, entry.Item, *entry.Amount)
			break
		}
	}
	// Output: paid report:42 500
}

func ExampleInstance_Paid() {
	ctx := context.Background()
	instance := opened()

	request := checkout()
	paidFor(ctx, instance, request)
	for _, item := range []string{"report:42", "report:43"} {
		paid, err := instance.Paid(ctx, urlmode.PaidOptions{Subject: request.Owner.Subject, Item: item})
		fmt.Println(item, paid, err)
	}
	// Output:
	// report:42 true <nil>
	// report:43 false <nil>
}

// A user who has subscribed to nothing.
func ExampleInstance_Entitlements() {
	ctx := context.Background()
	instance := opened()

	entitlements, err := instance.Entitlements(ctx, someone().Subject, "analyst")
	fmt.Println(len(entitlements), err)
	// Output: 0 <nil>
}

// The loop of a server, which ends with its context.
func ExampleInstance_LatePayments() {
	ctx, cancel := context.WithCancel(context.Background())
	instance := opened()

	payments := instance.LatePayments(ctx) // what happens from here on
	cancel()                               // when the server ends
	for payment := range payments {
		log.Println("refund", payment.Reference)
	}
	fmt.Println("ended")
	// Output: ended
}

func ExampleInstance_NewRefunds() {
	ctx, cancel := context.WithCancel(context.Background())
	instance := opened()

	refunds := instance.NewRefunds(ctx)
	cancel()
	for refund := range refunds {
		log.Println("take back", refund.Reference)
	}
	fmt.Println("ended")
	// Output: ended
}

// Providers are asked about events that prove nothing also where nobody waits. Each instance does so once a minute by itself.
func ExampleInstance_RecheckDue() {
	ctx := context.Background()
	instance := opened()

	fmt.Println(instance.RecheckDue(ctx)) // without Config.Rechecks there is nobody to ask
	// Output: 0 <nil>
}

// Instances purge by themselves, by Config.Retention. This is for a server that does not.
func ExampleInstance_Purge() {
	ctx := context.Background()
	instance := opened()

	_, err := instance.Purge(ctx, urlmode.PurgeOptions{OlderThan: 400 * 24 * time.Hour})
	fmt.Println(err)
	// Output: <nil>
}

// A cookie for a browser whose web session has identified the user.
func ExampleInstance_Ticket() {
	instance := opened()

	ticket, err := instance.Ticket("ada@example.org", 5*time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ticket.Name)
	// Output: __Host-urlmode-ticket
}

func ExampleInstance_Stats() {
	instance := openInstance(context.Background())
	defer instance.Close()

	stats := instance.Stats()
	fmt.Println(stats.OpenWaits, stats.Receiving, stats.CallsInProgress)
	// Output: 0 false 0
}

// Text in the format of Prometheus, for the metrics of a server.
func ExampleInstance_Metrics() {
	instance := opened()

	first, _, _ := strings.Cut(instance.Metrics(), " ")
	fmt.Println(first)
	// Output: #
}

// No field of a tool's result contains it, but for Token.
func ExampleAccessToken_String() {
	token := urlmode.AccessToken{Token: "secret"}
	fmt.Println(strings.Contains(fmt.Sprintf("%v %+v %#v", token, token, token), "secret"))
	// Output: false
}

// A text for all languages, or one for each.
func ExampleText() {
	fmt.Println(urlmode.Text("Delete?"))
	fmt.Println(urlmode.Words{"en": "Delete?", "de": "Löschen?"}["de"])
	// Output:
	// map[:Delete?]
	// Löschen?
}

// Amounts are in minor units. People read them as they are written.
func ExampleExpected() {
	fmt.Println(urlmode.Expected{Amount: 1050, Currency: "EUR"})
	// Output: 10.50 EUR
}

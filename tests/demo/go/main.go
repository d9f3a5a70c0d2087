// SPDX-License-Identifier: MIT

// The demo MCP server in Go, on the official SDK, with the same four tools as ../server.mjs. The package app of the examples has
// what every server needs: how users are known, how an account is connected, and how all of it is served. DEMO_KEY is the
// only key that the demo's service knows.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	urlmcp "urlmode.example/urlmode/mcp"
)

var price = urlmode.Expected{Amount: 1050, Currency: "EUR"}

func main() {
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		tools := urlmcp.New(instance, app.Options())
		server := mcp.NewServer(&mcp.Implementation{Name: "urlmode-demo", Version: "1.0.0"}, nil)
		add(server, "connect_account", "Connects your Demo Account: you sign in there with your browser.", tools.ElicitURL, app.Account, connected)
		add(server, "buy_report", "Buys the report for 10.50 EUR: you pay with your browser.", tools.ElicitURL, report, paid)
		add(server, "store_key", "Stores your key of the report service: you type it with your browser.", tools.CollectInput, key, typed)
		add(server, "delete_archive", "Deletes the archive, if somebody else agrees.", tools.AskApproval, deletion, agreed)
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		return auth.RequireBearerToken(verify(app.Users()), nil)(tools.Handler(handler))
	})
}

// add adds a tool that asks for what request returns, and answers what its body returns.
func add[Request any](server *mcp.Server, name, description string,
	ask func(context.Context, *mcp.CallToolRequest, Request, urlmcp.Body) (*mcp.CallToolResult, error),
	request func(subject string) Request, body func(context.Context, urlmcp.Accepted) (string, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, call *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			result, err := ask(ctx, call, request(urlmcp.SubjectOf(call)),
				func(ctx context.Context, accepted urlmcp.Accepted) (*mcp.CallToolResult, error) {
					said, err := body(ctx, accepted)
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, err
				})
			return result, nil, err
		})
}

func connected(ctx context.Context, accepted urlmcp.Accepted) (string, error) {
	name, err := app.NameOfAccount(ctx, accepted)
	return "Connected the account of " + name + ".", err
}

func report(subject string) urlmcp.ToolRequest {
	return urlmcp.ToolRequest{
		Message: "The report costs 10.50 EUR.",
		Request: urlmode.Request{
			Provider: "checkout", Kind: urlmode.Payment, Owner: urlmode.Owner{Subject: subject}, Item: "report", Expected: price,
			RequestOptions: urlmode.RequestOptions{TTL: 35 * time.Minute}, Target: checkOut,
		},
	}
}

func paid(_ context.Context, accepted urlmcp.Accepted) (string, error) {
	before := ""
	if accepted.Late {
		before = " You had paid it before."
	}
	return "Here is your report." + before + " Paid with " + accepted.Reference + ".", nil
}

// checkOut creates a session of the checkout, whose page is the target.
func checkOut(ctx context.Context, urls urlmode.TargetArguments) (target urlmode.Target, err error) {
	session := url.Values{
		"mode": {"payment"}, "client_reference_id": {urls.ElicitationID}, "success_url": {urls.ReturnURL}, "cancel_url": {urls.CancelURL},
		"payment_intent_data[metadata][elicitation_id]": {urls.ElicitationID},
		"expires_at":                                    {strconv.FormatInt(time.Now().Add(31*time.Minute).Unix(), 10)},
		"line_items[0][quantity]":                       {"1"},
		"line_items[0][price_data][currency]":           {strings.ToLower(price.Currency)},
		"line_items[0][price_data][unit_amount]":        {strconv.FormatInt(price.Amount, 10)},
		"line_items[0][price_data][product_data][name]": {"Report"},
	}
	address := os.Getenv("URLMODE_DEMO_CHECKOUT_URL") + "/v1/checkout/sessions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(session.Encode()))
	if err != nil {
		return target, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("DEMO_CHECKOUT_KEY"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return target, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return target, fmt.Errorf("the checkout answered %d", answer.StatusCode)
	}
	var created struct{ URL string }
	err = json.NewDecoder(answer.Body).Decode(&created)
	return urlmode.Target{URL: created.URL}, err
}

func key(subject string) urlmcp.InputToolRequest {
	return urlmcp.InputToolRequest{
		Message: "Your key of the report service is needed.",
		InputRequest: urlmode.InputRequest{Provider: "intake", Owner: urlmode.Owner{Subject: subject}, Form: urlmode.InputForm{
			Title:  urlmode.Text("Your key of the report service"),
			Fields: []urlmode.Field{{Name: "key", Type: urlmode.SecretField, Label: urlmode.Text("Key"), Required: true, Max: urlmode.Bound(100)}},
		}},
		Verify: func(_ context.Context, typed urlmode.Typed) (*urlmode.Problem, error) {
			if typed.Values["key"] == os.Getenv("DEMO_KEY") {
				return nil, nil
			}
			return &urlmode.Problem{Field: "key", Problem: urlmode.Text("The report service does not know this key.")}, nil
		},
	}
}

func typed(context.Context, urlmcp.Accepted) (string, error) {
	return "The key works, and is stored.", nil
}

func deletion(subject string) urlmcp.ApprovalToolRequest {
	return urlmcp.ApprovalToolRequest{
		Message: "Somebody else must agree that the archive is deleted.",
		ApprovalRequest: urlmode.ApprovalRequest{
			Provider: "approvals", Owner: urlmode.Owner{Subject: subject}, Others: true, RequestOptions: urlmode.RequestOptions{TTL: time.Hour},
			Form: urlmode.ApprovalForm{Title: urlmode.Text("Delete the archive?"), Comment: "optional", Facts: []urlmode.Fact{
				{Label: urlmode.Text("Archive"), Value: urlmode.Text("Reports of 2024")}, {Label: urlmode.Text("Size"), Value: urlmode.Text("12 reports")},
			}},
		},
	}
}

func agreed(_ context.Context, approval urlmcp.Accepted) (string, error) {
	comment := ""
	if approval.Comment != "" {
		comment = ": “" + approval.Comment + "”"
	}
	return "The archive is deleted, as " + approval.Approver + " has agreed" + comment + ".", nil
}

func verify(users map[string]string) auth.TokenVerifier {
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		subject, known := users[token]
		if !known {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: subject, Expiration: time.Now().Add(time.Hour)}, nil
	}
}

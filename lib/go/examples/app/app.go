// SPDX-License-Identifier: MIT

// Package app is what belongs to your application in the examples beside it: its users, what it asks them for, and how it
// is served. Until you replace it, these variables say what it is:
//
//	PORT            where the server listens
//	APP_USERS       the subject of each access token, {"a-token": "ada@example.org"}
//	APP_ISSUER, APP_CLIENT_ID    an OpenID provider, and this server there, as a public client
//	APP_CHECKOUT    the page on which the report is paid
//	APP_CLIENTS     what is known of clients beside what they declare, as clients.json
//	APP_DATABASE_URL    a database of your own, in which the example paid keeps credits
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/adapter"
)

// closeTimeout is how long clients may take to read the answers of the calls that a stop has ended.
const closeTimeout = 2 * time.Second

var issuer, clientID = os.Getenv("APP_ISSUER"), os.Getenv("APP_CLIENT_ID")

// Users are the subjects of the access tokens. Your authorization server says who the user of a token is. Never take it
// from anything else.
func Users() map[string]string {
	users := map[string]string{}
	if text := os.Getenv("APP_USERS"); text != "" {
		if err := json.Unmarshal([]byte(text), &users); err != nil {
			exit(err)
		}
	}
	return users
}

// Report is what the tool buy_report asks for.
func Report(subject string) adapter.ToolRequest {
	return sale(subject, "The report costs 10.50 EUR.", "report:2026")
}

// Summary is what the tool buy_summary asks for.
func Summary(subject string) adapter.ToolRequest {
	return sale(subject, "The summary costs 10.50 EUR.", "summary:2026")
}

// Analyst is the subscription that the tool ask_analyst requires. ManageURL is the page on which a user settles one that is past due, such as
// Stripe's portal.
func Analyst(subject string) adapter.PaidToolRequest {
	return adapter.PaidToolRequest{
		ToolRequest: sale(subject, "The analyst costs 10.50 EUR a month.", "analyst"),
		ManageURL: func(_ context.Context, found urlmode.Entitlement) (string, error) {
			return "https://billing.example/manage?subscription=" + found.Subscription, nil
		},
	}
}

// Advice is what the analyst says.
func Advice(found urlmode.Entitlement) string {
	return fmt.Sprintf("Buy low, sell high. (%s)", found.Status)
}

// Sold is what the tool buy_summary returns.
type Sold struct {
	Reference string `json:"reference"`
}

// Checkout creates a checkout of your payment provider. The id of the elicitation is the reference by which the provider's webhook finds it.
func Checkout(_ context.Context, urls urlmode.TargetArguments) (urlmode.Target, error) {
	page := cmp.Or(os.Getenv("APP_CHECKOUT"), "https://checkout.example/pay")
	return urlmode.Target{URL: page + "?reference=" + urls.ElicitationID}, nil
}

func sale(subject, message, item string) adapter.ToolRequest {
	return adapter.ToolRequest{
		Message: message,
		Request: urlmode.Request{
			Provider: "stripe", Kind: urlmode.Payment, Owner: urlmode.Owner{Subject: subject}, Item: item,
			Expected: urlmode.Expected{Amount: 1050, Currency: "EUR"}, Target: Checkout,
		},
	}
}

// Account is what the tool connect_account asks for.
func Account(subject string) adapter.ToolRequest {
	return adapter.ToolRequest{
		Message: "Connect your Demo Account.",
		Request: urlmode.Request{
			Provider: "demo", Kind: urlmode.OAuth, Owner: urlmode.Owner{Subject: subject}, PKCE: true,
			Target: func(ctx context.Context, urls urlmode.TargetArguments) (urlmode.Target, error) {
				provider, err := discover(ctx)
				query := url.Values{"client_id": {clientID}, "response_type": {"code"}, "scope": {"openid profile"}, "redirect_uri": {urls.ReturnURL}}
				return urlmode.Target{URL: provider.Authorization + "?" + query.Encode()}, err
			},
		},
	}
}

// Key is what the tool store_key asks for.
func Key(subject string) adapter.InputToolRequest {
	return adapter.InputToolRequest{
		Message: "Your API key is needed.",
		InputRequest: urlmode.InputRequest{Provider: "intake", Owner: urlmode.Owner{Subject: subject}, Form: urlmode.InputForm{
			Title: urlmode.Words{"en": "Your API key", "de": "Ihr API-Schlüssel"},
			Fields: []urlmode.Field{{
				Name: "api_key", Type: urlmode.SecretField, Label: urlmode.Words{"en": "API key", "de": "API-Schlüssel"}, Required: true,
				Min: urlmode.Bound(8), Link: &urlmode.FieldLink{URL: "https://reports.example/keys", Label: urlmode.Text("reports.example")},
			}},
		}},
		Verify: verifyKey,
	}
}

// verifyKey asks the service whether it knows the key. What it returns is shown at the field.
func verifyKey(_ context.Context, typed urlmode.Typed) (*urlmode.Problem, error) {
	if strings.HasPrefix(KeyOf(typed.Values), "sk-") {
		return nil, nil
	}
	return &urlmode.Problem{Field: "api_key", Problem: urlmode.Words{"en": "This key is not known.", "de": "Diesen Schlüssel gibt es nicht."}}, nil
}

// KeyOf is the key that the user has typed.
func KeyOf(values map[string]any) string {
	key, _ := values["api_key"].(string)
	return key
}

// Terms are what the tool accept_terms asks its user to accept.
func Terms(subject string) adapter.ApprovalToolRequest {
	return adapter.ApprovalToolRequest{
		Message: "The terms must be accepted.",
		ApprovalRequest: urlmode.ApprovalRequest{Provider: "approvals", Owner: urlmode.Owner{Subject: subject}, Form: urlmode.ApprovalForm{
			Title: urlmode.Text("Terms of the reports"), Text: urlmode.Text("Reports are for your own use."),
		}},
	}
}

// Deletion is what the tool delete_reports asks somebody else.
func Deletion(subject string) adapter.ApprovalToolRequest {
	return adapter.ApprovalToolRequest{
		Message: "Somebody else must agree.",
		ApprovalRequest: urlmode.ApprovalRequest{
			Provider: "approvals", Owner: urlmode.Owner{Subject: subject}, Others: true, RequestOptions: urlmode.RequestOptions{TTL: 7 * 24 * time.Hour},
			Form: urlmode.ApprovalForm{
				Title: urlmode.Text("Delete all reports?"), Comment: "optional",
				Facts: []urlmode.Fact{{Label: urlmode.Text("Reports"), Value: urlmode.Text("2024, 2025 and 2026")}},
			},
		},
	}
}

// NameOfAccount exchanges the code for tokens, and asks whose account it is. Keep the tokens, and never send them to the client.
func NameOfAccount(ctx context.Context, accepted adapter.Accepted) (string, error) {
	if from, ok := accepted.Result["iss"]; ok && from != issuer { // RFC 9207
		return "", errors.New("the response is of another issuer")
	}
	provider, err := discover(ctx)
	if err != nil {
		return "", err
	}
	body := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {clientID}, "code": {fmt.Sprint(accepted.Result["code"])},
		"redirect_uri": {accepted.ReturnURL}, "code_verifier": {accepted.CodeVerifier},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, provider.Token, strings.NewReader(body.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	if err := fetch(request, &tokens); err != nil {
		return "", err
	}
	if request, err = http.NewRequestWithContext(ctx, http.MethodGet, provider.UserInfo, nil); err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	var account struct{ Name string }
	err = fetch(request, &account)
	return account.Name, err
}

type metadata struct {
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	UserInfo      string `json:"userinfo_endpoint"`
}

func discover(ctx context.Context) (provider metadata, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+"/.well-known/openid-configuration", nil)
	if err == nil {
		err = fetch(request, &provider)
	}
	return provider, err
}

func fetch(request *http.Request, into any) error {
	client := http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // It would get the code and the verifier, or the token.
	}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %d", request.URL.Host, answer.StatusCode)
	}
	return json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(into)
}

// Options are what the adapter knows of clients.
func Options() adapter.Options {
	var o adapter.Options
	if text := os.Getenv("APP_CLIENTS"); text != "" {
		facts := json.NewDecoder(strings.NewReader(text))
		facts.DisallowUnknownFields() // A name that is misspelt would change nothing.
		if err := facts.Decode(&o.Clients); err != nil {
			exit(err)
		}
	}
	return o
}

// Serve serves an MCP server at /mcp. SIGTERM first ends the calls that wait: each has its link as the result. Then the
// server stops.
func Serve(handler func(*urlmode.Instance) http.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	instance, err := urlmode.New(ctx, urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: os.Getenv("URLMODE_BASE_URL"),
	})
	if err != nil {
		exit(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		exit(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler(instance))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		instance.Close()
		closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if server.Shutdown(closing) != nil {
			server.Close() // Streams that clients listen to do not end by themselves.
		}
	}()
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		exit(err)
	}
	<-stopped
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

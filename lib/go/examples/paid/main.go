// SPDX-License-Identifier: MIT

// A paid MCP server on the official Go SDK: a report that is sold once, summaries that cost a credit each, and an analyst for
// subscribers. Credits are this server's own. They are in tables of its own, whose only source is the ledger.
//
//	URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= APP_DATABASE_URL= go run ./paid
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	urlmcp "urlmode.example/urlmode/mcp"
)

const tables = `
CREATE SCHEMA IF NOT EXISTS reports;
CREATE TABLE IF NOT EXISTS reports.account (subject text PRIMARY KEY, spent bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS reports.purchase (
	provider text, payment text, subject text NOT NULL, credits bigint NOT NULL, price bigint NOT NULL,
	refunded bigint NOT NULL DEFAULT 0, voided boolean NOT NULL DEFAULT false, entry bigint NOT NULL, PRIMARY KEY (provider, payment)
);
CREATE OR REPLACE VIEW reports.bought AS
SELECT subject, sum(CASE WHEN voided THEN 0 ELSE credits * (price - refunded) / price END) AS credits FROM reports.purchase GROUP BY subject`

func main() {
	db, err := pgxpool.New(context.Background(), os.Getenv("APP_DATABASE_URL"))
	if err == nil {
		_, err = db.Exec(context.Background(), tables)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		go follow(instance, db)
		go settle(instance)
		tools := urlmcp.New(instance, app.Options())
		server := mcp.NewServer(&mcp.Implementation{Name: "reports", Version: "1.0.0"}, nil)
		server.AddReceivingMiddleware(urlmcp.Middleware)
		add(server, "read_report", "The report of a year, for 10.50 EUR.", readReport(instance, tools))
		add(server, "buy_credits", "Buys 1000 credits, for 10.00 EUR.", buyCredits(tools))
		add(server, "summarize", "A summary, for one credit.", summarize(db))
		add(server, "ask_analyst", "Asks the analyst, for 20.00 EUR a month.", askAnalyst(tools))
		of := func(*http.Request) *mcp.Server { return server }
		served := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true})
		return auth.RequireBearerToken(app.Verifier(app.Users()), nil)(tools.Handler(served))
	})
}

// follow keeps the credits that were bought. What went back is taken away, also if it was spent: then the balance is below zero.
func follow(instance *urlmode.Instance, db *pgxpool.Pool) {
	for {
		for entry, err := range instance.Ledger(context.Background(), urlmode.LedgerOptions{Consumer: "credits"}) {
			if err == nil {
				err = keep(db, entry)
			}
			if errors.Is(err, urlmode.ErrClosed) {
				return
			} else if err != nil {
				log.Print(err)
				break // The entry comes again.
			}
		}
		time.Sleep(time.Second)
	}
}

// keep does an entry in one statement, so that it is done or not done. It may come again, and a process that stood still may be behind the
// next one: what was done up to a later entry stays.
func keep(db *pgxpool.Pool, e urlmode.LedgerEntry) error {
	text, isOurs := strings.CutPrefix(e.Item, "credits:")
	credits, err := strconv.Atoi(text)
	if !isOurs || err != nil || e.Payment == "" || e.Subject == "" {
		return nil
	}
	if e.Type == urlmode.LedgerPaid || e.Type == urlmode.LedgerLate {
		_, err = db.Exec(context.Background(), `
			WITH known AS (INSERT INTO reports.account (subject) VALUES ($3) ON CONFLICT DO NOTHING)
			INSERT INTO reports.purchase (provider, payment, subject, credits, price, entry) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, e.Provider, e.Payment, e.Subject, credits, e.Amount, e.Number)
		return err
	}
	// The entry says how much has gone back by then: by refunds, and by disputes that are open or lost.
	_, err = db.Exec(context.Background(), `
		UPDATE reports.purchase SET payment = $2, refunded = $4, voided = $5 = 'voided', entry = $6
		WHERE provider = $1 AND payment IN ($2, $3) AND entry < $6`, e.Provider, e.Payment, e.Checkout, e.Refunded, string(e.Type), e.Number)
	return err
}

// settle ends the credits that were paid while no call waited: they are there, nothing is left to deliver, and the next call sells more.
func settle(instance *urlmode.Instance) {
	ctx := context.Background()
	for ; ; time.Sleep(time.Hour) {
		unclaimed, err := instance.Unclaimed(ctx, urlmode.ListOptions{})
		for _, p := range unclaimed {
			// A call may be about to claim the newest. About what does not match, or is held, the operator decides.
			if !strings.HasPrefix(p.Item, "credits:") || !p.Matches || p.Held || time.Since(p.ProvenAt) < time.Hour {
				continue
			}
			claim, failed := instance.BeginClaim(ctx, p.ElicitationID, p.Owner, urlmode.LeaseOptions{Reference: p.Reference})
			if failed == nil && claim.State == urlmode.ClaimBegun {
				failed = claim.End(ctx, urlmode.ClaimDelivered, "")
			}
			err = errors.Join(err, failed)
		}
		if errors.Is(err, urlmode.ErrClosed) {
			return
		} else if err != nil {
			log.Print(err)
		}
	}
}

type tool[In any] func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)

var errPaid = errors.New("the user has paid for this already")

// none are the arguments of a tool that takes none.
type none struct{}

type ofYear struct {
	Year int `json:"year"`
}

func add[In any](server *mcp.Server, name, description string, run tool[In]) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, call *mcp.CallToolRequest, wanted In) (*mcp.CallToolResult, any, error) {
			result, err := run(ctx, call, wanted)
			return result, nil, err
		})
}

func offer(call *mcp.CallToolRequest, item string, cents int64, message string) urlmcp.ToolRequest {
	return urlmcp.ToolRequest{Message: message, Request: urlmode.Request{
		Provider: "stripe", Kind: urlmode.Payment, Owner: urlmode.Owner{Subject: subject(call)}, Item: item,
		Expected: urlmode.Expected{Amount: cents, Currency: "EUR"}, Target: app.Checkout,
	}}
}

func readReport(instance *urlmode.Instance, tools *urlmcp.Tools) tool[ofYear] {
	return func(ctx context.Context, call *mcp.CallToolRequest, wanted ofYear) (*mcp.CallToolResult, error) {
		item := fmt.Sprintf("report:%d", wanted.Year)
		report := text(fmt.Sprintf("In %d everything went well.", wanted.Year))
		request := offer(call, item, 1050, fmt.Sprintf("The report of %d costs 10.50 EUR.", wanted.Year))
		// Here, where there is nothing to go on with: another call may deliver at this moment what was paid.
		request.Target = func(ctx context.Context, urls urlmode.TargetArguments) (urlmode.Target, error) {
			paid, err := instance.Paid(ctx, urlmode.PaidOptions{Subject: subject(call), Item: item, Delivered: true})
			if paid || err != nil {
				return urlmode.Target{}, cmp.Or(err, errPaid)
			}
			return app.Checkout(ctx, urls)
		}
		result, err := tools.ElicitURL(ctx, call, request, func(context.Context, urlmcp.Accepted) (*mcp.CallToolResult, error) { return report, nil })
		if errors.Is(err, errPaid) {
			return report, nil
		}
		return result, err
	}
}

func buyCredits(tools *urlmcp.Tools) tool[none] {
	return func(ctx context.Context, call *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, offer(call, "credits:1000", 1000, "1000 credits cost 10.00 EUR."),
			func(_ context.Context, paid urlmcp.Accepted) (*mcp.CallToolResult, error) {
				return text("1000 credits were bought with " + paid.Reference + ". They can be used in a moment."), nil
			})
	}
}

func summarize(db *pgxpool.Pool) tool[none] {
	return func(ctx context.Context, call *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		var left int
		// In one statement, so that two calls never take the same credit.
		err := db.QueryRow(ctx, `
			UPDATE reports.account a SET spent = a.spent + 1 FROM reports.bought b
			WHERE a.subject = $1 AND b.subject = a.subject AND a.spent < b.credits RETURNING (b.credits - a.spent)::integer`, subject(call)).Scan(&left)
		if errors.Is(err, pgx.ErrNoRows) {
			refusal := text("The user has no credit left: call buy_credits.")
			refusal.IsError = true
			return refusal, nil
		}
		return text(fmt.Sprintf("All is well. %d credits are left.", left)), err
	}
}

func askAnalyst(tools *urlmcp.Tools) tool[none] {
	return func(ctx context.Context, call *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		request := urlmcp.PaidToolRequest{ToolRequest: offer(call, "analyst", 2000, "The analyst costs 20.00 EUR a month.")}
		return tools.RequirePaid(ctx, call, request, func(_ context.Context, found urlmode.Entitlement) (*mcp.CallToolResult, error) {
			until := "further notice"
			if !found.Until.IsZero() {
				until = found.Until.Format(time.RFC3339)
			}
			return text(fmt.Sprintf("Buy low, sell high. (%s until %s)", found.Status, until)), nil
		})
	}
}

func text(said string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}
}

func subject(call *mcp.CallToolRequest) string { return urlmcp.SubjectOf(call) }

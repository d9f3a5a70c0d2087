// SPDX-License-Identifier: MIT

// An MCP server on the official Go SDK over HTTP: it sells a report, connects an account, takes a key and asks for approvals.
//
//	URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= go run ./sdk
package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	urlmcp "urlmode.example/urlmode/mcp"
)

// none are the arguments of a tool that takes none.
type none struct{}

type ask func(context.Context, *mcp.CallToolRequest, urlmcp.ToolRequest, urlmcp.Body) (*mcp.CallToolResult, error)

func main() {
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		tools := urlmcp.New(instance, app.Options())
		server := mcp.NewServer(&mcp.Implementation{Name: "reports", Version: "1.0.0"}, nil)
		// A client that declares tasks need not wait, and any instance answers for its tasks.
		if err := tools.HandleTasks(server, urlmcp.TaskOptions{}); err != nil {
			panic(err)
		}
		add(server, "buy_report", "Buys the report.", sell(tools.ElicitURL))
		add(server, "read_report", "Reads the report, once it is paid.", sell(tools.RequireURL))
		urlmcp.AddTool[none, app.Sold](server, &mcp.Tool{Name: "buy_summary", Description: "Buys the summary, as data."}, sellSummary(tools))
		add(server, "connect_account", "Connects your Demo Account.", connect(tools.ElicitURL))
		add(server, "ask_analyst", "Asks the analyst, for subscribers.", askAnalyst(tools))
		add(server, "store_key", "Stores your API key.", storeKey(tools))
		add(server, "accept_terms", "Accepts the terms.", approve(tools, app.Terms, "Accepted by %s."))
		add(server, "delete_reports", "Deletes all reports, if somebody else agrees.", approve(tools, app.Deletion, "Deleted, as %s has agreed."))
		return auth.RequireBearerToken(app.Verifier(app.Users()), nil)(tools.Handler(app.BothRevisions(server)))
	})
}

type tool func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func add(server *mcp.Server, name, description string, run tool) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, call *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			result, err := run(ctx, call)
			return result, nil, err
		})
}

func sell(ask ask) tool {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, call, app.Report(subject(call)), func(_ context.Context, paid urlmcp.Accepted) (*mcp.CallToolResult, error) {
			return text("Paid with " + paid.Reference + "."), nil
		})
	}
}

func sellSummary(tools *urlmcp.Tools) urlmcp.ToolHandler[none] {
	return func(ctx context.Context, call *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, app.Summary(subject(call)), urlmcp.Typed(func(_ context.Context, paid urlmcp.Accepted) (app.Sold, error) {
			return app.Sold{Reference: paid.Reference}, nil
		}))
	}
}

func connect(ask ask) tool {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, call, app.Account(subject(call)), func(ctx context.Context, accepted urlmcp.Accepted) (*mcp.CallToolResult, error) {
			name, err := app.NameOfAccount(ctx, accepted)
			return text("Connected the account of " + name + "."), err
		})
	}
}

func askAnalyst(tools *urlmcp.Tools) tool {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.RequirePaid(ctx, call, app.Analyst(subject(call)), func(_ context.Context, found urlmode.Entitlement) (*mcp.CallToolResult, error) {
			return text(app.Advice(found)), nil
		})
	}
}

func storeKey(tools *urlmcp.Tools) tool {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.CollectInput(ctx, call, app.Key(subject(call)), func(_ context.Context, typed urlmcp.Accepted) (*mcp.CallToolResult, error) {
			return text(fmt.Sprintf("Stored a key of %d characters.", len(app.KeyOf(typed.Values)))), nil
		})
	}
}

func approve(tools *urlmcp.Tools, request func(string) urlmcp.ApprovalToolRequest, done string) tool {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.AskApproval(ctx, call, request(subject(call)), func(_ context.Context, agreed urlmcp.Accepted) (*mcp.CallToolResult, error) {
			return text(fmt.Sprintf(done, agreed.Approver)), nil
		})
	}
}

func text(said string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}
}

func subject(call *mcp.CallToolRequest) string { return urlmcp.SubjectOf(call) }

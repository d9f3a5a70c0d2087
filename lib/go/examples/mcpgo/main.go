// SPDX-License-Identifier: MIT

// An MCP server on mcp-go over HTTP: it sells a report, connects an account, takes a key and asks for approvals.
//
//	URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= go run ./mcpgo
package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	"urlmode.example/urlmode/mcpgo"
)

type ask func(context.Context, mcp.CallToolRequest, mcpgo.ToolRequest, mcpgo.Body) (*mcp.CallToolResult, error)

func main() {
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		tools, hooks := mcpgo.New(instance, app.Options()), &server.Hooks{}
		tools.AddHooks(hooks)
		srv := server.NewMCPServer("reports", "1.0.0", server.WithHooks(hooks), server.WithElicitation(), server.WithToolHandlerMiddleware(mcpgo.Middleware))
		srv.AddTool(mcp.NewTool("buy_report", mcp.WithDescription("Buys the report.")), sell(tools.ElicitURL))
		srv.AddTool(mcp.NewTool("read_report", mcp.WithDescription("Reads the report, once it is paid.")), sell(tools.RequireURL))
		mcpgo.AddTool[none, app.Sold](srv, mcp.NewTool("buy_summary", mcp.WithDescription("Buys the summary, as data.")), sellSummary(tools))
		srv.AddTool(mcp.NewTool("connect_account", mcp.WithDescription("Connects your Demo Account.")), connect(tools.ElicitURL))
		srv.AddTool(mcp.NewTool("ask_analyst", mcp.WithDescription("Asks the analyst, for subscribers.")), askAnalyst(tools))
		srv.AddTool(mcp.NewTool("store_key", mcp.WithDescription("Stores your API key.")), storeKey(tools))
		srv.AddTool(mcp.NewTool("accept_terms", mcp.WithDescription("Accepts the terms.")), approve(tools, app.Terms, "Accepted by %s."))
		srv.AddTool(mcp.NewTool("delete_reports", mcp.WithDescription("Deletes all reports, if somebody else agrees.")),
			approve(tools, app.Deletion, "Deleted, as %s has agreed."))
		return authenticated(mcpgo.Handler(server.NewStreamableHTTPServer(srv)))
	})
}

func sell(ask ask) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, call, app.Report(subject(ctx)), func(_ context.Context, paid mcpgo.Accepted) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("Paid with " + paid.Reference + "."), nil
		})
	}
}

// none are the arguments of a tool that takes none.
type none struct{}

func sellSummary(tools *mcpgo.Tools) mcpgo.ToolHandler[none] {
	return func(ctx context.Context, call mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, app.Summary(subject(ctx)), mcpgo.Typed(func(_ context.Context, paid mcpgo.Accepted) (app.Sold, error) {
			return app.Sold{Reference: paid.Reference}, nil
		}))
	}
}

func connect(ask ask) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, call, app.Account(subject(ctx)), func(ctx context.Context, accepted mcpgo.Accepted) (*mcp.CallToolResult, error) {
			name, err := app.NameOfAccount(ctx, accepted)
			return mcp.NewToolResultText("Connected the account of " + name + "."), err
		})
	}
}

func askAnalyst(tools *mcpgo.Tools) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.RequirePaid(ctx, call, app.Analyst(subject(ctx)), func(_ context.Context, found urlmode.Entitlement) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(app.Advice(found)), nil
		})
	}
}

func storeKey(tools *mcpgo.Tools) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.CollectInput(ctx, call, app.Key(subject(ctx)), func(_ context.Context, typed mcpgo.Accepted) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(fmt.Sprintf("Stored a key of %d characters.", len(app.KeyOf(typed.Values)))), nil
		})
	}
}

func approve(tools *mcpgo.Tools, request func(string) mcpgo.ApprovalToolRequest, done string) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return tools.AskApproval(ctx, call, request(subject(ctx)), func(_ context.Context, agreed mcpgo.Accepted) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(fmt.Sprintf(done, agreed.Approver)), nil
		})
	}
}

type subjectKey struct{}

func authenticated(next http.Handler) http.Handler {
	users := app.Users()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		subject, known := users[token]
		if !known {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), subjectKey{}, subject)))
	})
}

func subject(ctx context.Context) string { return ctx.Value(subjectKey{}).(string) }

// SPDX-License-Identifier: MIT

// An MCP server on mcp-go over HTTP: it sells a report and connects an account.
//
//	URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= go run ./mcpgo
package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	"urlmode.example/urlmode/mcpgo"
)

type ask func(context.Context, mcp.CallToolRequest, mcpgo.Wish, mcpgo.Body) (*mcp.CallToolResult, error)

func main() {
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		tools, hooks := mcpgo.New(instance, app.Options()), &server.Hooks{}
		tools.AddHooks(hooks)
		srv := server.NewMCPServer("reports", "1.0.0", server.WithHooks(hooks), server.WithElicitation())
		srv.AddTool(mcp.NewTool("buy_report", mcp.WithDescription("Buys the report.")), sell(tools.ElicitURL))
		srv.AddTool(mcp.NewTool("read_report", mcp.WithDescription("Reads the report, once it is paid.")), sell(tools.RequireURL))
		srv.AddTool(mcp.NewTool("connect_account", mcp.WithDescription("Connects your Demo Account.")), connect(tools.ElicitURL))
		return authenticated(server.NewStreamableHTTPServer(srv))
	})
}

func sell(ask ask) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return ask(ctx, call, app.Report(subject(ctx)), func(_ context.Context, paid mcpgo.Accepted) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("Paid with " + paid.Reference + "."), nil
		})
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

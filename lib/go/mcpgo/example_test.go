// SPDX-License-Identifier: MIT

package mcpgo_test

import (
	"context"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/mcpgo"
)

// A tool that is paid for. It returns what ElicitURL returns.
func ExampleTools_ElicitURL() {
	var instance *urlmode.Instance // of the process
	tools := mcpgo.New(instance, mcpgo.Options{})
	reports := server.NewMCPServer("reports", "1.0.0")
	reports.AddTool(sdk.NewTool("report"), func(ctx context.Context, call sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, mcpgo.ToolRequest{
			Message: "Buy the report for 5.00 EUR.",
			Request: urlmode.Request{
				Provider: "stripe", Kind: urlmode.Payment, Item: "report:42", Owner: urlmode.Owner{Subject: "user-42"}, // of your authorization
				Expected: urlmode.Expected{Amount: 500, Currency: "EUR"}, TargetURL: "https://checkout.stripe.com/c/pay/cs_test_1",
			},
		}, func(context.Context, mcpgo.Accepted) (*sdk.CallToolResult, error) {
			return sdk.NewToolResultText("The report."), nil
		})
	})
}

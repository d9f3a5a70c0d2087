// SPDX-License-Identifier: MIT

package mcp_test

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/mcp"
)

// A tool that is paid for. It returns what ElicitURL returns.
func ExampleTools_ElicitURL() {
	var instance *urlmode.Instance // of the process
	tools := mcp.New(instance, mcp.Options{})
	server := sdk.NewServer(&sdk.Implementation{Name: "reports", Version: "1.0.0"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "report"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		result, err := tools.ElicitURL(ctx, call, mcp.ToolRequest{
			Message: "Buy the report for 5.00 EUR.",
			Request: urlmode.Request{
				Provider: "stripe", Kind: urlmode.Payment, Item: "report:42", Owner: urlmode.Owner{Subject: mcp.SubjectOf(call)},
				Expected: urlmode.Expected{Amount: 500, Currency: "EUR"}, TargetURL: "https://checkout.stripe.com/c/pay/cs_test_1",
			},
		}, func(context.Context, mcp.Accepted) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "The report."}}}, nil
		})
		return result, nil, err
	})
}

// A tool with a typed result. Without a payment its result is an error with the link.
func ExampleAddTool() {
	type report struct {
		Text  string `json:"text"`
		Pages int    `json:"pages"`
	}
	var tools *mcp.Tools        // of the process
	var payment mcp.ToolRequest // of the user
	var server *sdk.Server      // which has the tool
	mcp.AddTool[struct{}, report](server, &sdk.Tool{Name: "report"}, func(ctx context.Context, call *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, payment, mcp.Typed(func(context.Context, mcp.Accepted) (report, error) {
			return report{Text: "The report.", Pages: 3}, nil
		}))
	})
}

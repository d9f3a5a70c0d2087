// Calls the tool with a client in Go, the official one or mcp-go, and prints what
// comes of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgotypes "github.com/mark3labs/mcp-go/mcp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type outcome struct {
	Text  string `json:"text"`
	Error any    `json:"error,omitempty"`
	Asked int    `json:"asked"`
}

func main() {
	url, revision := os.Args[2], os.Args[3]
	var said outcome
	var err error
	if os.Args[1] == "mcp-go" {
		err = said.callMcpGo(url, revision)
	} else {
		err = said.callOfficial(url, revision)
	}
	if err != nil {
		said.Error = nameOf(err)
	}
	json.NewEncoder(os.Stdout).Encode(said)
}

func nameOf(err error) any {
	var coded *jsonrpc.Error
	if errors.As(err, &coded) {
		return coded.Code
	}
	var elicitation *mcpgotypes.URLElicitationRequiredError
	if errors.As(err, &elicitation) {
		return mcpgotypes.URL_ELICITATION_REQUIRED
	}
	return err.Error()
}

func (said *outcome) callOfficial(url, revision string) error {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			said.Asked++
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "work"})
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		said.Text += content.(*mcp.TextContent).Text
	}
	return nil
}

type accepting struct{ asked *int }

func (handler accepting) Elicit(context.Context, mcpgotypes.ElicitationRequest) (*mcpgotypes.ElicitationResult, error) {
	*handler.asked++
	return &mcpgotypes.ElicitationResult{ElicitationResponse: mcpgotypes.ElicitationResponse{Action: mcpgotypes.ElicitationResponseActionAccept}}, nil
}

func (said *outcome) callMcpGo(url, revision string) error {
	ctx := context.Background()
	connection, err := transport.NewStreamableHTTP(url)
	if err != nil {
		return err
	}
	client := mcpgo.NewClient(connection, mcpgo.WithElicitationHandler(accepting{&said.Asked}))
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Close()
	var begin mcpgotypes.InitializeRequest
	begin.Params.ProtocolVersion = revision
	begin.Params.ClientInfo = mcpgotypes.Implementation{Name: "tests", Version: "1.0.0"}
	if _, err := client.Initialize(ctx, begin); err != nil {
		return err
	}
	var call mcpgotypes.CallToolRequest
	call.Params.Name = "work"
	result, err := client.CallTool(ctx, call)
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		said.Text += content.(mcpgotypes.TextContent).Text
	}
	return nil
}

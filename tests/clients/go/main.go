// Calls a tool with a client in Go, the official one or mcp-go, and prints the URLs that its user is asked to open, and
// what comes of it.
//
//	TOKEN= TOOL=work ACTION=accept clients official|mcp-go URL REVISION
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
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

var (
	token  = "Bearer " + cmp.Or(os.Getenv("TOKEN"), "none")
	tool   = cmp.Or(os.Getenv("TOOL"), "work")
	action = cmp.Or(os.Getenv("ACTION"), "accept")
)

// authorized sends the access token with each request.
type authorized struct{}

func (authorized) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", token)
	return http.DefaultTransport.RoundTrip(request)
}

// ask prints what the user is asked to open.
func (said *outcome) ask(url string) {
	said.Asked++
	json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url})
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
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			said.ask(request.Params.URL)
			return &mcp.ElicitResult{Action: action}, nil
		},
	})
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: authorized{}}}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool})
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		said.Text += content.(*mcp.TextContent).Text
	}
	return nil
}

type answering struct{ said *outcome }

func (handler answering) Elicit(_ context.Context, request mcpgotypes.ElicitationRequest) (*mcpgotypes.ElicitationResult, error) {
	handler.said.ask(request.Params.URL)
	return &mcpgotypes.ElicitationResult{ElicitationResponse: mcpgotypes.ElicitationResponse{Action: mcpgotypes.ElicitationResponseAction(action)}}, nil
}

func (said *outcome) callMcpGo(url, revision string) error {
	ctx := context.Background()
	connection, err := transport.NewStreamableHTTP(url, transport.WithHTTPHeaders(map[string]string{"Authorization": token}))
	if err != nil {
		return err
	}
	client := mcpgo.NewClient(connection, mcpgo.WithElicitationHandler(answering{said}))
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Close()
	var begin mcpgotypes.InitializeRequest
	begin.Params.ProtocolVersion = revision
	begin.Params.ClientInfo = mcpgotypes.Implementation{Name: "tests", Version: "1.0.0"}
	begin.Params.Capabilities.Elicitation = &mcpgotypes.ElicitationCapability{URL: &struct{}{}}
	if _, err := client.Initialize(ctx, begin); err != nil {
		return err
	}
	var call mcpgotypes.CallToolRequest
	call.Params.Name = tool
	result, err := client.CallTool(ctx, call)
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		said.Text += content.(mcpgotypes.TextContent).Text
	}
	return nil
}

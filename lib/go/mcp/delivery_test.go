// SPDX-License-Identifier: MIT

package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

type careless struct {
	How string `json:"how"`
}

// What fails after the body has run is not paid again: the next call is given what the body has made. A body that answers with an
// error has not done its work. AddTool tells how a tool ends, and the middleware does for every other tool.
func TestToolThatFailsAfterItsBody(t *testing.T) {
	for _, added := range []string{"by AddTool", "by the SDK, with the middleware"} {
		p, runs := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "accept"}, 0
		tools := New(adaptertest.Open(t), Options{})
		run := func(ctx context.Context, call *sdk.CallToolRequest, wanted careless) (*sdk.CallToolResult, error) {
			result, err := tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				runs++
				made := text(fmt.Sprintf("%s in run %d.", accepted.Reference, runs))
				made.IsError = wanted.How == "answers with an error"
				return made, nil
			})
			if wanted.How == "fails" {
				return nil, errors.New("the report is not there")
			}
			return result, err
		}
		server := sdk.NewServer(&sdk.Implementation{Name: "tests", Version: "1"}, nil)
		if added == "by AddTool" {
			AddTool[careless, any](server, &sdk.Tool{Name: "buy"}, run)
		} else {
			server.AddReceivingMiddleware(Middleware)
			sdk.AddTool(server, &sdk.Tool{Name: "buy"}, func(ctx context.Context, call *sdk.CallToolRequest, wanted careless) (*sdk.CallToolResult, any, error) {
				result, err := run(ctx, call, wanted)
				return result, nil, err
			})
		}
		session := connect(t, p, server, true)
		buy := func(how string) *sdk.CallToolResult {
			t.Helper()
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "buy", Arguments: careless{how}})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		if result := buy("answers with an error"); !result.IsError || !strings.HasSuffix(said(result), " in run 1.") {
			t.Fatalf("%s: %q", added, said(result))
		}
		if result := buy("fails"); !result.IsError || said(result) != "the report is not there" {
			t.Fatalf("%s: %q", added, said(result))
		}
		if listed, err := p.instance.Undelivered(t.Context(), urlmode.ListOptions{}); err != nil || !slices.ContainsFunc(listed, func(claim urlmode.UndeliveredClaim) bool {
			return claim.ElicitationID == p.asked[0] && claim.HasResult
		}) {
			t.Fatalf("%s: %v, %v", added, listed, err)
		}
		// The result that was kept fails a second time, so that the next call makes it again for the same payment.
		if result := buy("fails"); !result.IsError || said(result) != "the report is not there" || runs != 2 {
			t.Fatalf("%s: %q in run %d", added, said(result), runs)
		}
		if result := buy("fails"); !result.IsError || runs != 3 {
			t.Fatalf("%s: %q in run %d", added, said(result), runs)
		}
		if result := buy("works"); result.IsError || !strings.HasSuffix(said(result), " in run 3.") || len(p.asked) != 1 {
			t.Fatalf("%s: %q after %d requests", added, said(result), len(p.asked))
		}
		// A client that calls again at once is asked again.
		if result := buy("works"); !strings.HasSuffix(said(result), " in run 4.") || len(p.asked) != 2 {
			t.Fatalf("%s: %q after %d requests", added, said(result), len(p.asked))
		}
	}
}

// overHTTP is a session with the server at the URL, whose user pays.
func overHTTP(t *testing.T, p *payer, url string) *sdk.ClientSession {
	t.Helper()
	return overHTTPBy(t, p, url, nil)
}

func overHTTPBy(t *testing.T, p *payer, url string, by *http.Client) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "tests", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: p.elicit, Capabilities: &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}}})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: by}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// A client that gives up over HTTP, or whose connection ends while it reads the answer, has paid for the result that the next call is given.
// What is too large to be kept is made again for the same payment.
func TestResultOfAClientThatIsGone(t *testing.T) {
	for _, row := range adaptertest.Gone {
		p, references := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "accept"}, []string{}
		tools, begun, goOn := New(adaptertest.Open(t), Options{}), make(chan struct{}), make(chan struct{})
		server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
				if references = append(references, accepted.Reference); len(references) == 1 && !row.IsCut {
					close(begun)
					<-goOn
				}
				return text(strings.Repeat("x", row.Size)), nil
			})
		})
		server.AddReceivingMiddleware(Middleware)
		listening := httptest.NewServer(tools.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
		t.Cleanup(func() {
			listening.CloseClientConnections()
			listening.Close()
		})
		url, cut := adaptertest.CutAfter(t, listening.URL, 1_000_000)
		session := overHTTP(t, p, url)
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "buy"})
			ended <- err
		}()
		if row.IsCut {
			<-cut
		} else {
			<-begun
		}
		leave()
		if err := <-ended; err == nil {
			t.Fatal("it has its answer")
		}
		close(goOn)
		session.Close() // The SDK waits for the body.
		session = overHTTP(t, p, listening.URL)
		if result := call(t, session); len(said(result)) != row.Size || len(references) != row.Runs || len(p.asked) != 1 || references[0] != references[row.Runs-1] {
			t.Fatalf("%+v: %.40q after %d requests for %q", row, said(result), len(p.asked), references)
		}
		adaptertest.UntilConfirmed(t, p.asked[0])
		if result := call(t, session); len(said(result)) != row.Size || len(references) != row.Runs+1 || len(p.asked) != 2 || references[0] == references[row.Runs] {
			t.Fatalf("%+v: %.40q after %d requests for %q", row, said(result), len(p.asked), references)
		}
	}
}

// leaving closes the connection once it has read the answer, as clients of other SDKs do.
type leaving struct{}

func (leaving) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = &leavingBody{ReadCloser: response.Body}
	}
	return response, err
}

type leavingBody struct {
	io.ReadCloser
	isRead bool
}

func (b *leavingBody) Read(data []byte) (int, error) {
	if b.isRead {
		return 0, errors.Join(io.EOF, b.Close())
	}
	n, err := b.ReadCloser.Read(data)
	b.isRead = bytes.Contains(data[:n], []byte(`"pay_`))
	return n, err
}

// A client that has read its answer from a stream may be gone before the SDK has ended the response.
func TestClientThatLeavesWithItsAnswer(t *testing.T) {
	p := &payer{t: t, me: adaptertest.Someone(), instance: adaptertest.Open(t), action: "accept"}
	tools := New(adaptertest.Open(t), Options{})
	server := serverOf(func(ctx context.Context, call *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return tools.ElicitURL(ctx, call, toolRequest(p.me, "one"), func(_ context.Context, accepted Accepted) (*sdk.CallToolResult, error) {
			return text(accepted.Reference), nil
		})
	})
	server.AddReceivingMiddleware(Middleware)
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	listening := httptest.NewServer(tools.Handler(adaptertest.UntilClientIsGone(inner)))
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	if got := said(call(t, overHTTPBy(t, p, listening.URL, &http.Client{Transport: leaving{}}))); !strings.HasPrefix(got, "pay_") {
		t.Fatal(got)
	}
	adaptertest.UntilConfirmed(t, p.asked[0])
}

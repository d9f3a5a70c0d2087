// SPDX-License-Identifier: MIT

package vault

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// oddAnswer is a case of tests/vectors/token-answers.json.
type oddAnswer struct {
	Name    string
	Status  int
	Type    *string
	Headers []string
	Body    string
	Hex     string
	Before  string
	Length  *int
	Repeat  map[string][]any
	Raw     *string
	Is      any
}

// bytes are what the endpoint sends.
func (o oddAnswer) bytes() []byte {
	if o.Raw != nil {
		return []byte(*o.Raw)
	}
	fill := func(text string) string {
		for mark, with := range o.Repeat {
			times := int(with[1].(float64))
			text = strings.Replace(text, mark, strings.Repeat(with[0].(string), times)+strings.Repeat(with[2].(string), times), 1)
		}
		return text
	}
	content := []byte(fill(o.Body))
	if o.Hex != "" {
		content, _ = hex.DecodeString(o.Hex)
	}
	kind, status, length := jsonType, 200, len(content)
	if o.Type != nil {
		kind = *o.Type
	}
	if o.Status != 0 {
		status = o.Status
	}
	if o.Length != nil {
		length = *o.Length
	}
	head := fmt.Sprintf("%sHTTP/1.1 %d Odd\r\n", o.Before, status)
	if kind != "" {
		head += "Content-Type: " + kind + "\r\n"
	}
	for _, each := range o.Headers {
		head += fill(each) + "\r\n"
	}
	return append([]byte(fmt.Sprintf("%sContent-Length: %d\r\nConnection: close\r\n\r\n", head, length)), content...)
}

func readOdd(made tokens, err error) any {
	var failed *failure
	switch {
	case errors.As(err, &failed) && failed.lost == lostStatus:
		return "status"
	case failed != nil && failed.lost == lostAnswer:
		return "lost"
	case failed != nil && failed.code != "":
		return map[string]any{"refused": failed.code}
	case err != nil:
		return "failed"
	}
	read := map[string]any{}
	for _, name := range []string{"access_token", "refresh_token", "expires_in", "scope"} {
		if made[name] != nil {
			read[name] = made[name]
		}
	}
	return map[string]any{"tokens": read}
}

// Odd answers of token endpoints are read as in the other languages (lib/PROTOCOL.md, "The vault").
func TestOddAnswers(t *testing.T) {
	text, err := os.ReadFile("../../../tests/vectors/token-answers.json")
	var cases []oddAnswer
	if err != nil || json.Unmarshal(text, &cases) != nil || len(cases) == 0 {
		t.Fatalf("there are no vectors: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	answers := make(chan []byte)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			// To close before all of the request is read would reset the connection, and with it what was written.
			if request, err := http.ReadRequest(bufio.NewReader(connection)); err == nil {
				io.Copy(io.Discard, request.Body)
			}
			connection.Write(<-answers)
			connection.Close()
		}
	}()
	odd := &provider{options: options{client: &client{Client: Client{ID: "a", Secret: "b"}}}, vault: &Vault{requester: newRequester(10*time.Second, nil)},
		oauth: description{Method: "client_secret_post"}, metadata: metadata{token: "http://" + listener.Addr().String() + "/token"}}
	for _, each := range cases {
		sent := each.bytes()
		go func() { answers <- sent }()
		if read := readOdd(odd.refresh(t.Context(), "old")); !reflect.DeepEqual(read, each.Is) {
			t.Errorf("%s: %v, and not %v", each.Name, read, each.Is)
		}
	}
}

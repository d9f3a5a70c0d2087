// SPDX-License-Identifier: MIT

package adaptertest

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
)

// Gone is how clients go while their results are made, or while they read them. Runs: of the body until the next call has the result.
var Gone = []struct {
	Size  int
	IsCut bool
	Runs  int
}{{100, false, 1}, {1_000_000, false, 1}, {17_000_000, false, 2}, {12_000_000, true, 1}, {17_000_000, true, 2}}

// CutAfter is the URL of a server by a network that ends the connection on which the server has sent so much.
func CutAfter(t *testing.T, to string, most int64) (through string, cut <-chan struct{}) {
	t.Helper()
	of, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listening.Close() })
	was, once := make(chan struct{}), sync.Once{}
	server := of.Host
	go func() {
		for {
			client, err := listening.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				connection, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer connection.Close()
				// Otherwise the system takes up to ten megabytes in the place of the client.
				connection.(*net.TCPConn).SetReadBuffer(65_536)
				go io.Copy(connection, client)
				if _, err := io.CopyN(client, connection, most); err != nil {
					return
				}
				connection.(*net.TCPConn).SetLinger(0) // What the server has sent meanwhile is lost.
				connection.Close()
				client.Close()
				once.Do(func() { close(was) })
			}()
		}
	}()
	of.Host = listening.Addr().String()
	return of.String(), was
}

// UntilClientIsGone keeps the handler of a stream of POST at work, once it has written all, until its client has closed the connection.
func UntilClientIsGone(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if r.Method == http.MethodPost && w.Header().Get("Content-Type") == "text/event-stream" {
			<-r.Context().Done()
		}
	})
}

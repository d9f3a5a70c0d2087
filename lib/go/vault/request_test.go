// SPDX-License-Identifier: MIT

package vault

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// A connection to whoever does not shake hands ends with its time, although net/http makes it for longer than for one request.
func TestSilentEndpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			conn.SetReadDeadline(time.Now().Add(30 * time.Second))
			_, err = io.Copy(io.Discard, conn)
		}
		ended <- err
	}()
	_, err = newRequester(100*time.Millisecond).send(t.Context(), http.MethodGet, "https://"+listener.Addr().String(), nil, nil)
	if err == nil || err.Error() != "TIMEOUT" {
		t.Errorf("%v", err)
	}
	if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("its connection stays open")
	}
}

// A redirect is an answer, wherever it leads.
func TestRedirects(t *testing.T) {
	for _, to := range []string{"https://elsewhere.example/", "http://[", ":"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}))
		got, err := newRequester(limits.AccountRequest).send(t.Context(), http.MethodPost, server.URL, nil, []byte("x"))
		if err != nil || got.status != http.StatusFound {
			t.Errorf("%s: %v, %v", to, got, err)
		}
		server.Close()
	}
}

// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// connectionHeader names an HTTP request to its tool call, to which the SDK gives the headers alone. What a client
	// sends in it is replaced.
	connectionHeader = "Urlmode-Connection"
	sessionHeader    = "Mcp-Session-Id"
)

// connection is an HTTP request that is being served.
type connection struct {
	ctx     context.Context
	end     context.CancelFunc
	session string
	user    string
	waiting *waiting
}

// waiting is told that the answers of a request were written, or will not be.
type waiting struct {
	mu    sync.Mutex
	ended bool
	tell  []func(written bool)
}

func (w *waiting) when(tell func(written bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		go tell(false)
		return
	}
	w.tell = append(w.tell, tell)
}

func (w *waiting) end(written bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for _, tell := range w.tell {
		tell(written)
	}
}

// Handler tells the tools when a client has closed its connection or its session, around the handler of the SDK and
// inside your authentication. Without it a call whose client is gone waits until its round is over, and the end
// of a session waits for its calls.
func (t *Tools) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Del(connectionHeader)
		user, isServed := "", false
		if token := auth.TokenInfoFromContext(r.Context()); token != nil {
			user = token.UserID
		}
		session := r.Header.Get(sessionHeader)
		switch r.Method {
		case http.MethodPost:
			id := rand.Text()
			ctx, end := context.WithCancel(r.Context())
			defer end()
			r.Header.Set(connectionHeader, id)
			t.mu.Lock()
			answers := &waiting{}
			t.connections[id] = connection{ctx, end, session, user, answers}
			t.mu.Unlock()
			defer func() {
				t.mu.Lock()
				delete(t.connections, id)
				t.mu.Unlock()
				answers.end(isServed && ctx.Err() == nil)
			}()
		case http.MethodDelete:
			t.endSession(session, user)
		}
		next.ServeHTTP(w, r)
		isServed = true
	})
}

// endSession ends the calls of a session: the SDK waits for them.
func (t *Tools) endSession(session, user string) {
	if session == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range t.connections {
		if each.session == session && each.user == user {
			each.end()
		}
	}
}

func (t *Tools) connectionOf(call *sdk.CallToolRequest) (ctx context.Context, whenWritten func(tell func(written bool))) {
	if call.Extra == nil || call.Extra.Header == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.connections[call.Extra.Header.Get(connectionHeader)]; ok {
		return known.ctx, known.waiting.when
	}
	return nil, nil
}

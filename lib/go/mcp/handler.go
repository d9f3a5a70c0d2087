// SPDX-License-Identifier: MIT

package mcp

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/adapter"
)

const (
	// connectionHeader names an HTTP request to its tool call, to which the SDK gives the headers alone. What a client
	// sends in it is replaced.
	connectionHeader = "Urlmode-Connection"
	sessionHeader    = "Mcp-Session-Id"
	eventHeader      = "Last-Event-Id"
)

// connection is an HTTP request with a call, and those by which the client fetches its answer after that one has ended.
type connection struct {
	ctx     context.Context // ends when nobody can fetch the answer any more
	end     context.CancelFunc
	session string
	user    string
	answer  *adapter.Answer
	stream  *stream
	unwatch func() bool // the end of the session, once there is a call
	listen  *listenRequest
}

// canBeResumed reports whether the client can fetch the answer by another request: the streams of a server without sessions have events, too,
// but nobody can ask for them.
func (c *connection) canBeResumed() bool { return c.session != "" && c.stream.canBeResumed() }

// Handler tells the tools when a client has closed its connection or its session, around the handler of the SDK and
// inside your authentication. Without it a call whose client is gone waits until its round is over, and the end
// of a session waits for its calls. Where the SDK's handler has an EventStore, a client whose stream has ended can resume it, so that
// its call goes on until the session has ended.
func (t *Tools) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Del(connectionHeader)
		user, session := "", r.Header.Get(sessionHeader)
		if token := auth.TokenInfoFromContext(r.Context()); token != nil {
			user = token.UserID
		}
		switch r.Method {
		case http.MethodPost:
			t.serveCall(w, r, next, session, user)
			return
		case http.MethodGet:
			if id, found := t.resumed(session, user, r.Header.Get(eventHeader)); found != nil {
				t.serve(w, r, next, id, found)
				return
			}
		case http.MethodDelete:
			t.endSession(session, user)
		}
		next.ServeHTTP(w, r)
	})
}

func (t *Tools) serveCall(w http.ResponseWriter, r *http.Request, next http.Handler, session, user string) {
	id := rand.Text()
	ctx, end := context.WithCancel(context.WithoutCancel(r.Context()))
	r.Header.Set(connectionHeader, id)
	made := &connection{ctx: ctx, end: end, session: session, user: user, answer: &adapter.Answer{}, stream: &stream{}, listen: listenIn(r)}
	t.mu.Lock()
	t.connections[id] = made
	t.mu.Unlock()
	defer context.AfterFunc(r.Context(), func() {
		if !made.canBeResumed() {
			end()
		}
	})()
	t.serve(w, r, next, id, made)
}

// serve serves a request of the client with the stream of a call. The answer was written if the SDK has sent it to a client that was there.
func (t *Tools) serve(w http.ResponseWriter, r *http.Request, next http.Handler, id string, of *connection) {
	isServed := false
	to := of.stream.watch(w, func() bool { return r.Context().Err() == nil && of.ctx.Err() == nil })
	defer func() {
		to.close()
		isWritten := isServed && to.IsSent()
		if !of.canBeResumed() || of.ctx.Err() != nil || isWritten && of.stream.isAnswered() {
			t.forget(id, of, isWritten)
		}
	}()
	next.ServeHTTP(to, r)
	isServed = true
}

func (t *Tools) forget(id string, of *connection, isWritten bool) {
	t.mu.Lock()
	delete(t.connections, id)
	unwatch := of.unwatch
	t.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	of.end()
	of.answer.End(isWritten)
}

// resumed is the call whose stream a client resumes.
func (t *Tools) resumed(session, user, event string) (id string, found *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, each := range t.connections {
		if session != "" && each.session == session && each.user == user && each.stream.has(event) {
			return id, each
		}
	}
	return "", nil
}

// endSession ends the calls of a session: the SDK waits for them.
func (t *Tools) endSession(session, user string) {
	if session == "" {
		return
	}
	t.mu.Lock()
	ended := map[string]*connection{}
	for id, each := range t.connections {
		if each.session == session && each.user == user {
			ended[id] = each
		}
	}
	t.mu.Unlock()
	for id, each := range ended {
		each.end()
		if each.canBeResumed() {
			t.forget(id, each, false)
		}
	}
}

// knownConnection is nil without Handler.
func (t *Tools) knownConnection(extra *sdk.RequestExtra) *connection {
	if extra == nil || extra.Header == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.connections[extra.Header.Get(connectionHeader)]
}

func (t *Tools) connectionOf(extra *sdk.RequestExtra, session *sdk.ServerSession) (ctx context.Context, whenWritten func(report func(written bool))) {
	known := t.knownConnection(extra)
	if known == nil {
		return nil, nil
	}
	t.mu.Lock()
	isWatched := known.unwatch != nil || known.session == ""
	t.mu.Unlock()
	if !isWatched {
		// Nobody can fetch the answer any more after the end of the session, which may come without a request.
		id := extra.Header.Get(connectionHeader)
		unwatch := context.AfterFunc(t.lifeOf(session), func() {
			known.end()
			if known.canBeResumed() {
				t.forget(id, known, false)
			}
		})
		t.mu.Lock()
		known.unwatch = unwatch
		t.mu.Unlock()
	}
	return known.ctx, known.answer.WhenWritten
}

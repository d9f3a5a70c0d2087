// SPDX-License-Identifier: MIT

package app

import (
	"context"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BothRevisions serves all clients: those of 2026-07-28 have no sessions, and the SDK serves them by a stateless handler only.
func BothRevisions(server *mcp.Server) http.Handler {
	of := func(*http.Request) *mcp.Server { return server }
	withSessions := mcp.NewStreamableHTTPHandler(of, nil)
	without := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			without.ServeHTTP(w, r)
			return
		}
		withSessions.ServeHTTP(w, r)
	})
}

// Verifier knows the users by their access tokens.
func Verifier(users map[string]string) auth.TokenVerifier {
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		subject, known := users[token]
		if !known {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: subject, Expiration: time.Now().Add(time.Hour)}, nil
	}
}

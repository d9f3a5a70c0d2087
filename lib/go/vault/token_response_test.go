// SPDX-License-Identifier: MIT

package vault

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/limits"
)

// answered at noon.
func answered(status int, contentType, body string) *answer {
	return &answer{status, contentType, []byte(body), time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), 0}
}

const jsonType = "application/json"

func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		from  *answer
		rules tokenRules
		made  string
	}{
		{answered(200, jsonType, `{"access_token":"a","token_type":"Bearer","expires_in":"60","refresh_token":null,"id_token":"x","urlmode_variables":{"host":"evil"}}`),
			tokenRules{}, `{"access_token":"a","expires_in":60,"token_type":"bearer"}`},
		{answered(200, "application/x-www-form-urlencoded; charset=utf-8", "access_token=a&token_type=bearer&scope=a,b&expires_in="), tokenRules{},
			`{"access_token":"a","scope":"a,b","token_type":"bearer"}`},
		{answered(200, jsonType, `{"access_token":"a","scope":["a","b"],"expires_in":9e99}`), tokenRules{TokenType: "bearer"},
			`{"access_token":"a","scope":"a b","token_type":"bearer"}`},
		{answered(200, jsonType, `{"access_token":"a","token_type":"bearer","expires_in":9223372036854775807}`), tokenRules{},
			`{"access_token":"a","token_type":"bearer"}`},
		{answered(200, jsonType, `{"access_token":"a","token_type":"bearer","expires_at":"2026-01-31T12:10:00Z"}`), tokenRules{},
			`{"access_token":"a","expires_at":"2026-01-31T12:10:00Z","expires_in":600,"token_type":"bearer"}`},
		{answered(200, jsonType, "\uFEFF"+`{"access_token":"a","token_type":"bearer"}`), tokenRules{}, `{"access_token":"a","token_type":"bearer"}`},
		{answered(200, jsonType, `{"ok":true,"authed_user":{"access_token":"a"}}`), tokenRules{Member: "/authed_user", TokenType: "bearer"},
			`{"access_token":"a","authed_user":{"access_token":"a"},"ok":true,"token_type":"bearer"}`},
		{answered(200, jsonType, `{"access_token":"bot","authed_user":{"access_token":"a"}}`), tokenRules{Member: "/authed_user", TokenType: "bearer"},
			`{"access_token":"a","authed_user":{"access_token":"a"},"outer":{"access_token":"bot","authed_user":{"access_token":"a"}},"token_type":"bearer"}`},
		{answered(200, jsonType, `{"scope":"x","refresh_token":"bot","authed_user":{"access_token":"a","refresh_token":null}}`), tokenRules{Member: "/authed_user", TokenType: "bearer"},
			`{"access_token":"a","authed_user":{"access_token":"a","refresh_token":null},"scope":"x","token_type":"bearer"}`},
		{answered(200, jsonType, `{"data":[{"access_token":"a","user_id":12345678901234567890}]}`), tokenRules{Member: "/data/0", TokenType: "bearer"},
			`{"access_token":"a","data":[{"access_token":"a","user_id":12345678901234567890}],"token_type":"bearer","user_id":12345678901234567890}`},
	} {
		made, err := toTokens(row.from, row.rules, false, "invalid_response")
		text, _ := json.Marshal(made)
		if err != nil || string(text) != row.made {
			t.Errorf("%s: %s, %v", row.from.body, text, err)
		}
	}
}

func TestAnswersWithoutTokens(t *testing.T) {
	for _, row := range []struct {
		from         *answer
		detail, code string
		lost         loss
	}{
		{answered(400, jsonType, `{"error":"invalid_grant","error_description":"secret-1"}`), "invalid_grant, status 400", "invalid_grant", ""},
		{answered(200, jsonType, `{"error":"bad_refresh_token"}`), "bad_refresh_token, status 200", "invalid_grant", ""},
		{answered(400, jsonType, `{"error":true,"message":"x"}`), "invalid_response, status 400, application/json with error, message", "", lostStatus},
		{answered(400, jsonType, `{"error":"a-secret-1"}`), "invalid_response, status 400, application/json with error", "a-secret-1", ""},
		{answered(500, jsonType, `{"error":"invalid_grant"}`), "invalid_grant, status 500", "", lostStatus},
		{answered(302, jsonType, `{"error":"invalid_grant"}`), "invalid_grant, status 302", "", lostStatus},
		{answered(200, "text/html", `<html>`), "invalid_response, status 200, text/html", "", lostAnswer},
		{answered(200, jsonType, `{"access_token":"a","token_type":"mac"}`), "invalid_response, status 200, application/json with access_token, token_type", "", lostAnswer},
		{answered(200, jsonType, `{"access_token":"a","token_type":"bearer","refresh_token":""}`),
			"invalid_response, status 200, application/json with access_token, refresh_token, token_type", "", lostAnswer},
		{answered(200, jsonType, `{"access_token":"a","token_type":"bearer"} `+"x"), "invalid_response, status 200, application/json", "", lostAnswer},
	} {
		_, err := toTokens(row.from, tokenRules{InvalidGrant: []string{"bad_refresh_token"}}, false, "invalid_response")
		var failed *failure
		if !errors.As(err, &failed) || failed.detail != row.detail || failed.code != row.code || failed.lost != row.lost {
			t.Errorf("%s: %+v", row.from.body, failed)
		}
	}
}

// Whatever a provider answers, nothing of it is said that could be a secret, and what is accepted can be sealed.
func FuzzAnswer(f *testing.F) {
	f.Add(200, jsonType, `{"access_token":"a","token_type":"bearer","expires_in":1e3,"scope":["a"],"expires_at":"2026-01-31T12:00:00Z"}`, "/a/0")
	f.Add(400, "application/x-www-form-urlencoded", "error=invalid_grant&x=%zz", "/~1")
	f.Fuzz(func(t *testing.T, status int, contentType, body, member string) {
		made, err := toTokens(answered(status, contentType, body), tokenRules{Member: member, TokenType: "bearer"}, true, "invalid_response")
		if err != nil {
			if len(err.Error()) > 1_000 || strings.ContainsAny(err.Error(), "\n\"") {
				t.Fatalf("%q", err)
			}
			return
		}
		text, err := json.Marshal(made)
		if err != nil || !utf8.Valid(text) || made["access_token"] == "" {
			t.Fatalf("%s, %v", text, err)
		}
		if lifetime := lifetimeOf(made); lifetime != nil && (*lifetime < 0 || *lifetime > limits.TokenLifetimeMaxS*1000) {
			t.Fatalf("it lives for %d ms", *lifetime)
		}
		for _, scope := range scopesOf(made) {
			if scope == "" || strings.ContainsAny(scope, " ,") {
				t.Fatalf("a scope is %q", scope)
			}
		}
	})
}

// Nobody who has not the key makes an id token.
func FuzzIDToken(f *testing.F) {
	f.Add("eyJhbGciOiJub25lIn0.e30.", `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`)
	f.Add("eyJhbGciOiJIUzI1NiJ9.e30.AAAA", `{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`)
	f.Fuzz(func(t *testing.T, token, set string) {
		if payload := openSigned(token, []byte(set), []string{"none", "HS256", "RS256", "ES256"}); payload != nil {
			t.Fatalf("%s opens", token)
		}
	})
}

// SPDX-License-Identifier: MIT

package vault

import (
	"encoding/json"
	"net/http"
	neturl "net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

var code = map[string]any{"code": "a-code"}

func TestConnect(t *testing.T) {
	b := newBed(t)
	asked, err := b.vault.Connect(t.Context(), urlmode.ConnectRequest{Provider: demo, Owner: b.me, Scopes: []string{"read", "write"}})
	if err != nil {
		t.Fatal(err)
	}
	var target string
	if err := adaptertest.AsOperator(b.t).QueryRow(t.Context(), "SELECT target_url FROM urlmode.elicitation WHERE id = $1", asked.ElicitationID).Scan(&target); err != nil {
		t.Fatal(err)
	}
	parts, err := neturl.Parse(target)
	if err != nil || !strings.HasPrefix(target, b.endpoint.server.URL+"/authorize?") {
		t.Fatalf("%s, %v", target, err)
	}
	for name, wanted := range map[string]string{"response_type": "code", "client_id": "a", "scope": "read write", "code_challenge_method": "S256",
		"redirect_uri": asked.ReturnURL} {
		b.is(name, parts.Query().Get(name), wanted)
	}
	// Two calls wait, and one of them exchanges the code.
	other, err := b.vault.Connect(t.Context(), urlmode.ConnectRequest{Provider: demo, Owner: b.me, RequestOptions: urlmode.RequestOptions{ResumeKey: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	other.Elicitation, other.begun = asked.Elicitation, asked.begun
	var group sync.WaitGroup
	for _, each := range []*Connection{asked, other} {
		group.Go(func() {
			if account, err := each.Wait(t.Context()); err != nil || account != "acme" && account != "" {
				t.Errorf("%s, %v", account, err)
			}
		})
	}
	b.comeBack(asked.ElicitationID, code)
	group.Wait()
	if len(b.endpoint.codes) != 1 {
		t.Fatalf("the provider was asked for %v", b.endpoint.codes)
	}
	sent := b.endpoint.codes[0]
	if sent["code_verifier"] == "" || sent["redirect_uri"] != asked.ReturnURL || sent["client_secret"] != "secret-of-the-client" || sent["code"] != "a-code" {
		t.Errorf("%v", sent)
	}
	b.is("the token", b.token(), "access-1")
	b.is("what is heard", b.heard(), "connected")
	listed, err := b.vault.Accounts(t.Context(), b.me.Subject, demo)
	if err != nil || len(listed) != 1 || strings.Join(listed[0].Scopes, " ") != "read write" || listed[0].ExpiresAt.Before(time.Now()) {
		t.Errorf("%+v, %v", listed, err)
	}
}

func TestNotConnected(t *testing.T) {
	refused := "no account was connected: cancel, "
	for _, row := range []struct {
		what    string
		result  map[string]any
		prepare func(*bed)
		change  func(*urlmode.ConnectRequest)
		says    string
		revoked string
	}{
		{"no code", map[string]any{"x": "y"}, nil, nil, "exchange_failed (code_missing)", ""},
		{"a refusal", code, func(b *bed) { b.endpoint.always(400, `{"error":"invalid_client"}`) }, nil, "exchange_refused (invalid_client, status 400)", ""},
		{"an error", code, func(b *bed) { b.endpoint.always(500, ``) }, nil, "exchange_failed (invalid_response, status 500, application/json)", ""},
		{"a scope", code, nil, func(r *urlmode.ConnectRequest) { r.RequiredScopes = []string{"admin"} }, "scope_missing (admin)", "refresh-1 access-1"},
		{"another account", code, nil, func(r *urlmode.ConnectRequest) { r.Account = "other" }, "other_account", ""},
		{"another issuer", map[string]any{"code": "a", "iss": "https://evil.example"}, func(b *bed) {
			of := b.vault.providers[demo]
			of.description.Issuer = "https://provider.example"
			b.vault.providers[demo] = of
		}, nil, "issuer_mismatch (iss)", ""},
		{"no issuer", code, func(b *bed) {
			of := b.vault.providers[demo]
			of.description.Issuer, of.description.SendsIssuer = "https://provider.example", true
			b.vault.providers[demo] = of
		}, nil, "issuer_missing (iss)", ""},
		{"tokens that are too large", code, func(b *bed) { b.endpoint.granted["extra"] = strings.Repeat("x", 70_000) }, nil, "", "refresh-1 access-1"},
		{"an account whose name is too long", code, func(b *bed) { b.endpoint.granted["account"] = strings.Repeat("x", 513) }, nil, "", "refresh-1 access-1"},
	} {
		t.Run(row.what, func(t *testing.T) {
			b := newBed(t)
			if row.prepare != nil {
				row.prepare(b)
			}
			if row.change == nil {
				row.change = func(*urlmode.ConnectRequest) {}
			}
			got := b.connect(row.result, row.change)
			if row.says != "" {
				b.is("the error", got, refused+row.says)
			} else {
				b.is("what is heard", strings.Fields(b.heard())[0], "not_stored")
			}
			b.is("what was revoked", strings.Join(b.endpoint.revoked, " "), row.revoked)
			if row.what != "another account" {
				b.is("what there is", b.names(), "")
			}
		})
	}
}

// Tokens of an account that is not named replace none.
func TestAccountEndpoint(t *testing.T) {
	b := newBed(t, func(b *bed) {
		b.described.Account = &accountSource{Endpoint: b.endpoint.server.URL + "/me", ID: "/user/id", Headers: map[string]string{"x-token": "{access_token} {client_id}"}}
	})
	says, header := 200, ""
	b.endpoint.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/me" {
			return false
		}
		header = r.Header.Get("X-Token") + r.Header.Get("Authorization")
		respond(w, says, `{"user":{"id":12345678901234567890}}`)
		return true
	})
	b.is("the account", b.connect(code), "12345678901234567890")
	b.is("the header", header, "access-1 a")
	says = 403
	b.is("the account that nobody may know", b.connect(code), "default")
	says = 503
	b.is("the error", b.connect(code), "no account was connected: cancel, exchange_failed (status_503)")
	if len(b.endpoint.revoked) != 0 {
		t.Errorf("%v were revoked, and others with them", b.endpoint.revoked)
	}
}

// openID makes the endpoint an OpenID provider, which signs with its key. change makes other claims and another signature.
func openID(b *bed, claims func(map[string]any), change func(string) string) {
	at, key := b.endpoint.server.URL, newKey(b.t)
	signs, err := readClient(Client{ID: "x", PrivateKey: key, KeyID: "k1"}, description{Method: "private_key_jwt"})
	if err != nil {
		b.t.Fatal(err)
	}
	public := publicOf(b.t, key)
	b.endpoint.granted["account"] = nil
	b.endpoint.answers(func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			respond(w, 200, `{"issuer":"`+at+`","authorization_endpoint":"`+at+`/authorize","token_endpoint":"`+at+`/token","jwks_uri":"`+at+`/jwks",
				"revocation_endpoint":"`+at+`/revoke","userinfo_endpoint":"`+at+`/userinfo","id_token_signing_alg_values_supported":["ES256"]}`)
		case "/jwks":
			respond(w, 200, `{"keys":[{"kty":"what"},`+public+`]}`)
		case "/userinfo":
			respond(w, 200, `{"sub":"sub-1","name":"Ada"}`)
		case "/token":
			said := map[string]any{"iss": at, "aud": "a", "sub": "sub-1", "nonce": b.nonce()}
			claims(said)
			token, err := signs.sign(said)
			if err != nil {
				b.t.Error(err)
			}
			b.endpoint.mu.Lock()
			b.endpoint.granted["id_token"] = change(token)
			b.endpoint.mu.Unlock()
			return false
		}
		return true
	})
}

func publicOf(t *testing.T, pem string) string {
	signer, err := signingKeyOf(pem)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jose.JSONWebKey{Key: signer.Public(), KeyID: "k1", Use: "sig"})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nonce is that of the authorization request.
func (b *bed) nonce() string {
	var target string
	if err := adaptertest.AsOperator(b.t).QueryRow(b.t.Context(), "SELECT target_url FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1", b.me.Subject).Scan(&target); err != nil {
		b.t.Error(err)
	}
	parts, err := neturl.Parse(target)
	if err != nil {
		b.t.Error(err)
	}
	return parts.Query().Get("nonce")
}

func TestIDToken(t *testing.T) {
	none, same := func(map[string]any) {}, func(token string) string { return token }
	set := func(name string, value any) func(map[string]any) {
		return func(claims map[string]any) { claims[name] = value }
	}
	for _, row := range []struct {
		what   string
		claims func(map[string]any)
		change func(string) string
		isGood bool
	}{
		{"a good one", none, same, true},
		{"for several", set("aud", []string{"b", "a"}), same, false},
		{"for several, of this client", func(c map[string]any) { c["aud"], c["azp"] = []string{"b", "a"}, "a" }, same, true},
		{"of another client", set("azp", "b"), same, false},
		{"for another", set("aud", "b"), same, false},
		{"of another issuer", set("iss", "https://evil.example"), same, false},
		{"without a subject", set("sub", ""), same, false},
		{"with another nonce", set("nonce", "x"), same, false},
		{"of another user than userinfo", set("sub", "sub-2"), same, false},
		{"with another signature", none, func(token string) string {
			at := strings.LastIndex(token, ".") + 5
			other := map[bool]string{true: "B", false: "A"}[token[at] == 'A']
			return token[:at] + other + token[at+1:]
		}, false},
		{"that is not signed", none, func(token string) string {
			return "eyJhbGciOiJub25lIn0." + strings.Split(token, ".")[1] + "."
		}, false},
		{"that is none", none, func(string) string { return "x" }, false},
	} {
		t.Run(row.what, func(t *testing.T) {
			b := newBed(t, func(b *bed) {
				b.described = description{Issuer: b.endpoint.server.URL, PKCE: "S256", Method: "client_secret_basic", Account: &accountSource{From: "userinfo", ID: "/sub", Name: "/name"}}
				openID(b, row.claims, row.change)
			})
			got := b.connect(code, func(r *urlmode.ConnectRequest) { r.Scopes = []string{"openid", "read"} })
			if row.isGood {
				b.is("the account", got, "sub-1")
				return
			}
			if !strings.HasPrefix(got, "no account was connected: cancel, exchange_failed (") {
				t.Errorf("the account is %s", got)
			}
			b.is("what was revoked", strings.Join(b.endpoint.revoked, " "), "refresh-1 access-1")
		})
	}
}

// The peculiarities of providers that one request shows.
func TestPeculiarProviders(t *testing.T) {
	t.Run("a long-lived token, which is renewed with itself", func(t *testing.T) {
		b := newBed(t, func(b *bed) {
			at := b.endpoint.server.URL
			long := lengthening{Method: "GET", Endpoint: at + "/longer", Parameters: map[string]string{"secret": "{client_secret}", "token": "{access_token}"}}
			renewal := long
			renewal.Method = ""
			b.described.LongLived = &longLived{Exchange: long, Renewal: &renewal}
		})
		var asked []string
		b.endpoint.answers(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/longer" {
				return false
			}
			r.ParseForm()
			asked = append(asked, r.Method+" "+r.Form.Get("token")+" "+r.Form.Get("secret"))
			respond(w, 200, `{"access_token":"long-`+string(rune('0'+len(asked)))+`","expires_in":3600}`)
			return true
		})
		b.is("the account", b.connect(code), "acme")
		b.is("the token", b.token(), "long-1")
		b.change("expires_at = now() + interval '10 minutes', refreshed_at = now() - interval '50 minutes'")
		b.is("the token in the second half of its life", b.tokenFor(t.Context(), 30*time.Minute), "long-2")
		b.is("what was asked for", strings.Join(asked, ", "), "GET access-1 secret-of-the-client, POST long-1 secret-of-the-client")
		b.expire()
		b.is("the error", b.token(), "the account at demo must be connected again: expired")
	})
	t.Run("a client that signs, JSON and other names", func(t *testing.T) {
		b := newBed(t, func(b *bed) {
			b.described.Method, b.described.TokenRequest = "private_key_jwt", "json"
			b.described.Names = map[string]string{"client_id": "client_key"}
		})
		var sent map[string]string
		b.endpoint.answers(func(w http.ResponseWriter, r *http.Request) bool {
			json.NewDecoder(r.Body).Decode(&sent)
			return false
		})
		b.is("the account", b.connect(code), "acme")
		if strings.Count(sent["client_assertion"], ".") != 2 || sent["client_key"] != "a" || sent["client_id"] != "" || sent["grant_type"] != "authorization_code" {
			t.Errorf("%v", sent)
		}
	})
	t.Run("a host that comes back with the user", func(t *testing.T) {
		var port string
		b := newBed(t, func(b *bed) {
			port = b.endpoint.server.URL[strings.LastIndex(b.endpoint.server.URL, ":")+1:]
			b.described.Token = "http://127.0.0.1:{port}/token"
			b.described.Variables = map[string]variable{"port": {As: "label", Default: "1", Among: []string{"1", port}, Return: "server"}}
		})
		b.is("another host", b.connect(map[string]any{"code": "a", "server": "evil.example"}), "no account was connected: cancel, exchange_failed (server)")
		b.is("a host that is known", b.connect(map[string]any{"code": "a", "server": "https://" + port + "/"}), "acme")
		b.expire()
		b.is("the token of that host", b.token(), "access-2")
	})
}

func TestAuthorizationDetail(t *testing.T) {
	b := newBed(t)
	for says, result := range map[string]map[string]any{
		"server_error": {"error": "server_error"}, "invalid_request, about PKCE": {"error": "invalid_request", "error_description": "Code challenge required"},
		"": {"error": "secret-1"},
	} {
		b.is("the detail", b.vault.AuthorizationDetail(urlmode.Outcome{Reason: "provider_error", Result: result}), says)
	}
}

func TestBasicAuthentication(t *testing.T) {
	made, err := readClient(Client{ID: "a b", Secret: "c:~*ü"}, description{PKCE: "S256", Method: "client_secret_basic"})
	if err != nil {
		t.Fatal(err)
	}
	header, err := made.authenticate(description{Method: "client_secret_basic"}, "", map[string]string{})
	if err != nil || header != "Basic YStiOmMlM0ElN0UqJUMzJUJD" {
		t.Errorf("%s, %v", header, err)
	}
}

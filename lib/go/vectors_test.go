// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/seals"
)

// vector is one known answer of tests/vectors, which all languages read.
type vector struct {
	Name       string
	Kid        byte
	Purpose    string
	Provider   string
	ID         string
	Expires    int64
	Subject    *string
	Session    string
	Cookie     *string
	JSON       string
	State      string
	Token      string
	Ticket     string
	SecretHex  string `json:"secret_hex"`
	NonceHex   string `json:"nonce_hex"`
	BindingHex string `json:"binding_hex"`
	BrowserHex string `json:"browser_hex"`
	BlobHex    string `json:"blob_hex"`
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	bytes, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func (v vector) key(t testing.TB) *key { return &key{kid: v.Kid, secret: unhex(t, v.SecretHex)} }

func (v vector) row() rowKey {
	if v.Subject == nil {
		return rowKey{id: v.ID}
	}
	return rowKey{v.ID, bindingOf(Owner{*v.Subject, v.Session})}
}

func vectors(t testing.TB, file string) map[string][]vector {
	t.Helper()
	var raw map[string]json.RawMessage
	readJSON(t, "../../tests/vectors/"+file, &raw)
	found := map[string][]vector{}
	for name, text := range raw {
		var all []vector
		if json.Unmarshal(text, &all) == nil {
			found[name] = all
		}
	}
	return found
}

// changed are all texts that differ in one character.
func changed(text string) []string {
	others := make([]string, len(text))
	for i := range text {
		other := []byte(text)
		if other[i] == 'A' {
			other[i] = 'B'
		} else {
			other[i] = 'A'
		}
		others[i] = string(other)
	}
	// The last character has bits that are left over.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(text) - 1
	others = append(others, text[:last]+string(alphabet[strings.IndexByte(alphabet, text[last])^1]))
	return append(others, text[1:], text+"A", text+"=", text[:4]+"\n"+text[4:], "")
}

func TestTenant(t *testing.T) {
	var known struct {
		Bindings []struct{ Tenant, Subject, Session, Binding string }
		Refused  []string `json:"refused_tenants"`
	}
	readJSON(t, "../../tests/vectors/tenant.json", &known)
	for _, v := range known.Bindings {
		if made := tenant(v.Tenant).bindingOf(Owner{v.Subject, v.Session}); hex.EncodeToString(made[:]) != v.Binding {
			t.Errorf("%+v: %x", v, made)
		}
	}
	config := Config{DatabaseURL: "postgresql://localhost/urlmode", Keys: "1 " + strings.Repeat("A", 44), BaseURL: "https://callback.example"}
	for _, config.Tenant = range known.Refused {
		if _, err := New(t.Context(), config); !errors.Is(err, ErrArgument) || !strings.HasPrefix(err.Error(), "Tenant must be at most 64 ") {
			t.Errorf("%q: %v", config.Tenant, err)
		}
	}
}

func TestState(t *testing.T) {
	cases := vectors(t, "token.json")["state"]
	if len(cases) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range cases {
		t.Run(v.Name, func(t *testing.T) {
			with := v.key(t)
			minted := state{id: v.ID, expires: v.Expires, binding: v.row().binding}
			if v.Cookie != nil {
				minted.browser = browserOf(*v.Cookie)
			}
			if hex.EncodeToString(minted.binding[:]) != v.BindingHex || hex.EncodeToString(minted.browser[:]) != v.BrowserHex {
				t.Fatal("the digests differ")
			}
			if token := mintState(with, v.Purpose, v.Provider, minted, unhex(t, v.NonceHex)); token != v.Token {
				t.Fatalf("the token is %s", token)
			}
			before := time.Unix(v.Expires-1, 0)
			opened, err := openState(keyRing{with}, v.Purpose, v.Provider, v.Token, before)
			if err != nil || opened != minted {
				t.Fatalf("it opens as %v, %v", opened, err)
			}
			if _, err := openState(keyRing{with}, v.Purpose, v.Provider, v.Token, time.Unix(v.Expires, 0)); err != errStateExpired {
				t.Fatalf("in the second of its expiry: %v", err)
			}
			for _, other := range changed(v.Token) {
				if _, err := openState(keyRing{with}, v.Purpose, v.Provider, other, before); err != errState {
					t.Fatalf("%q: %v", other, err)
				}
			}
			for _, scope := range [][2]string{{"cancel2", v.Provider}, {v.Purpose, "other"}} {
				if _, err := openState(keyRing{with}, scope[0], scope[1], v.Token, before); err != errState {
					t.Fatalf("for %v: %v", scope, err)
				}
			}
		})
	}
}

func TestLink(t *testing.T) {
	cases := vectors(t, "token.json")["link"]
	approvals := vectors(t, "form.json")["links"]
	if len(cases) == 0 || len(approvals) == 0 {
		t.Fatal("there are no vectors")
	}
	cases = append(cases, approvals...)
	for _, v := range cases {
		with := v.key(t)
		if link := mintLink(with, v.Purpose, v.Provider, v.ID); link != v.State {
			t.Fatalf("%s: the link is %s", v.Name, link)
		}
		id, kid, err := openLink(keyRing{with}, v.Purpose, v.Provider, v.State)
		if err != nil || id != v.ID || kid != v.Kid {
			t.Fatalf("%s: it opens as %s, %d, %v", v.Name, id, kid, err)
		}
		for _, other := range changed(v.State) {
			if _, _, err := openLink(keyRing{with}, v.Purpose, v.Provider, other); err == nil {
				t.Fatalf("%s: %q opens", v.Name, other)
			}
		}
		for _, scope := range [][2]string{{v.Purpose, "another"}, {v.Purpose + "2", v.Provider}} {
			if _, _, err := openLink(keyRing{with}, scope[0], scope[1], v.State); err == nil {
				t.Fatalf("%s: it opens for %v", v.Name, scope)
			}
		}
	}
}

func TestTicket(t *testing.T) {
	cases := vectors(t, "ticket.json")["ticket"]
	if len(cases) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range cases {
		if ticket := mintTicket(v.key(t), *v.Subject, v.Expires, unhex(t, v.NonceHex)); ticket != v.Ticket {
			t.Errorf("%s: the ticket is %s", v.Name, ticket)
		}
	}
}

func TestSealed(t *testing.T) {
	all := vectors(t, "token.json")
	for name, u := range map[string]use{"result": useResult, "event_result": useEventResult, "outcome": useOutcome,
		"event_outcome": useEventOutcome, "fulfilled": useFulfilled, "task": useTask} {
		if len(all[name]) == 0 {
			t.Fatalf("there are no vectors of %s", name)
		}
		for _, v := range all[name] {
			t.Run(name+": "+v.Name, func(t *testing.T) { testSealed(t, u, v) })
		}
	}
}

func testSealed(t *testing.T, u use, v vector) {
	ring, k := keyRing{v.key(t)}, v.row()
	sealed := seal(ring, u, k, []byte(v.JSON), unhex(t, v.NonceHex))
	if hex.EncodeToString(sealed) != v.BlobHex {
		t.Fatalf("it is sealed as %x", sealed)
	}
	opens := u
	if u == useEventResult {
		opens = useResult // Whoever reads a row does not know which it is.
	}
	var opened, wanted map[string]any
	json.Unmarshal([]byte(v.JSON), &wanted)
	if err := unseal(ring, opens, k, sealed, &opened); err != nil || !reflect.DeepEqual(opened, wanted) {
		t.Fatalf("it opens as %v, %v", opened, err)
	}
	for i := range sealed {
		broken := append([]byte(nil), sealed...)
		broken[i] ^= 1
		if err := unseal(ring, opens, k, broken, &opened); !errors.Is(err, ErrSeal) {
			t.Fatalf("with another byte %d: %v", i, err)
		}
	}
	other := rowKey{"00000000-0000-4000-8000-00000000000f", k.binding}
	if err := unseal(ring, opens, other, sealed, &opened); !errors.Is(err, ErrSeal) {
		t.Fatalf("for another row: %v", err)
	}
	if v.Subject != nil {
		stranger := rowKey{k.id, bindingOf(Owner{"stranger", v.Session})}
		if err := unseal(ring, opens, stranger, sealed, &opened); !errors.Is(err, ErrSeal) {
			t.Fatalf("for another owner: %v", err)
		}
	}
	if u == useOutcome || u == useEventOutcome {
		testAnnounced(t, ring, k, sealed, wanted)
	}
}

func testAnnounced(t *testing.T, ring keys, k rowKey, sealed []byte, wanted map[string]any) {
	text := base64.StdEncoding.EncodeToString(sealed)
	outcome := openOutcome(ring, k, text)
	reference, _ := wanted["reference"].(string)
	if outcome == nil || string(outcome.Action) != wanted["action"] || outcome.Reason != wanted["reason"] || outcome.Reference != reference ||
		wanted["result"] != nil && !reflect.DeepEqual(any(outcome.Result), wanted["result"]) {
		t.Fatalf("the outcome is %v", outcome)
	}
	for _, other := range []string{text[:len(text)-4], "", "!", text[4:], "Ag"} {
		if openOutcome(ring, k, other) != nil {
			t.Fatalf("%q opens", other)
		}
	}
	if openOutcome(ring, rowKey{id: "00000000-0000-4000-8000-00000000000f"}, text) != nil {
		t.Fatal("it opens for another row")
	}
}

func TestVerifierIsForOneOwner(t *testing.T) {
	ring := keyRing{{kid: 1, secret: make([]byte, 32)}}
	id := "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
	mine, other := rowKey{id, bindingOf(Owner{"a", ""})}, rowKey{id, bindingOf(Owner{"b", ""})}
	sealed := seal(ring, useVerifier, mine, []byte(`{"code_verifier":"v","nonce":"n"}`), nil)
	if opened, err := openVerifier(ring, sealed, mine); err != nil || *opened != (verifier{"v", "n"}) {
		t.Fatalf("it opens as %v, %v", opened, err)
	}
	if _, err := openVerifier(ring, sealed, other); !errors.Is(err, ErrSeal) || strings.Contains(err.Error(), `"v"`) {
		t.Fatalf("for another owner: %v", err)
	}
}

func TestRequestDigest(t *testing.T) {
	var file struct {
		Cases []struct {
			Request struct {
				Provider  string
				Kind      Kind
				Expected  Expected
				Item      string
				About     map[string]any
				MCPClient string `json:"mcp_client"`
			}
			Canonical string
			Digest    string
		}
	}
	readJSON(t, "../../tests/vectors/request.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.Cases {
		r := v.Request
		made, err := digestOfRequest(r.Provider, r.Kind, r.Expected, r.Item, r.About, r.MCPClient)
		if err != nil || hex.EncodeToString(made) != v.Digest {
			t.Errorf("%s: %x, %v", v.Canonical, made, err)
		}
	}
}

func TestCanonicalForm(t *testing.T) {
	var file struct {
		Cases []struct {
			Value         json.RawMessage
			Text, Request string
		}
		Refused []string
	}
	readJSON(t, "../../tests/vectors/canonical.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.Cases {
		text, err := canonicalJSON(v.Value)
		sum := sha256.Sum256([]byte(seals.RequestLabel + "\x00" + text))
		if err != nil || text != v.Text || hex.EncodeToString(sum[:16]) != v.Request {
			t.Errorf("%s is written as %s, %v", v.Value, text, err)
		}
	}
	for _, value := range file.Refused {
		if text, err := canonicalJSON(json.RawMessage(value)); !errors.Is(err, ErrArgument) {
			t.Errorf("%s is written as %s, %v", value, text, err)
		}
	}
}

// RFC 8785 appendix B, and section 3.2.3 for the order of names.
func TestCanonicalJSON(t *testing.T) {
	for _, row := range []struct {
		value any
		text  string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
		{9007199254740991, "9007199254740991"}, {295147905179352830000.0, "295147905179352830000"},
		{9.999999999999997e22, "9.999999999999997e+22"}, {1e23, "1e+23"}, {999999999999999700000.0, "999999999999999700000"},
		{1e21, "1e+21"}, {9.999999999999997e-7, "9.999999999999997e-7"}, {0.000001, "0.000001"}, {4.5, "4.5"},
		{-0.000001, "-0.000001"}, {333333333.33333329, "333333333.3333333"}, {2e-3, "0.002"}, {0.00012345, "0.00012345"},
		{1e20, "100000000000000000000"}, {-1.5e-9, "-1.5e-9"},
		{[]any{true, false, nil}, "[true,false,null]"}, {map[string]any{"b": nil, "a": []any{}}, `{"a":[],"b":null}`},
		{json.RawMessage(`"\ud83d\ude00 \\ud83d \u00e9"`), `"😀 \\ud83d é"`},
		{map[string]any{"\ufb33": 1, "\U0001f602": 2, "\u20ac": 3, "\r": 4}, `{"\r":4,"€":3,"😂":2,"` + "\ufb33" + `":1}`},
		{"\u20ac$\u000f\nA'B\"\\\\\"/<&\u2028", `"€$\u000f\nA'B\"\\\\\"/<&` + "\u2028" + `"`},
		{"\b\t\f\u001f", `"\b\t\f\u001f"`},
		{struct {
			A int `json:"a"`
		}{1}, `{"a":1}`},
	} {
		if text, err := canonicalJSON(row.value); err != nil || text != row.text {
			t.Errorf("%v: %s, %v, and not %s", row.value, text, err, row.text)
		}
	}
	for _, value := range []any{math.NaN(), math.Inf(1), int64(1)<<53 + 1, json.RawMessage(`"\ud83dx"`), json.RawMessage(`"\ud83d\n"`), func() {}, map[int]any{1: make(chan int)}} {
		if text, err := canonicalJSON(value); !errors.Is(err, ErrArgument) {
			t.Errorf("%v is written as %s, %v", value, text, err)
		}
	}
}

// A call in one language goes on with that of another.
func TestDefaultResumeKey(t *testing.T) {
	var file struct {
		ResumeKeys []struct {
			Request struct {
				Provider string
				Kind     Kind
				Message  string
				Expected Expected
			}
			Key string
		} `json:"resume_keys"`
	}
	readJSON(t, "../../tests/vectors/request.json", &file)
	if len(file.ResumeKeys) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.ResumeKeys {
		r := v.Request
		if made := DefaultResumeKey(r.Provider, r.Kind, r.Message, r.Expected); made != v.Key {
			t.Errorf("%s %s: %s", r.Provider, r.Kind, made)
		}
	}
}

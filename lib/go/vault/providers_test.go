// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"urlmode.example/urlmode"
)

var update = flag.Bool("update", false, "write providers.json")

// notUsed are members for people, and for the callback programs.
var notUsed = []string{"documentation", "notes", "lifetimes", "authorization_response"}

// The package has what it needs of the descriptions that all languages share, in one file of its own.
func TestProviders(t *testing.T) {
	names, _ := filepath.Glob("../../providers/*.json")
	made := map[string]description{}
	for _, name := range names {
		var file struct{ OAuth map[string]json.RawMessage }
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &file) != nil {
			t.Fatalf("%s cannot be read: %v", name, err)
		}
		if file.OAuth == nil || strings.HasSuffix(name, "schema.json") {
			continue
		}
		for _, each := range notUsed {
			delete(file.OAuth, each)
		}
		if variables := file.OAuth["variables"]; variables != nil {
			file.OAuth["variables"] = withoutNotes(t, variables)
		}
		plain, _ := json.Marshal(file.OAuth)
		// What this package does not know, it could not do.
		var read description
		strict := json.NewDecoder(bytes.NewReader(plain))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&read); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		made[strings.TrimSuffix(filepath.Base(name), ".json")] = read
	}
	text, err := json.MarshalIndent(made, "", "\t")
	if err != nil || len(made) < 40 {
		t.Fatalf("%d descriptions, %v", len(made), err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("providers.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, providersJSON) {
		t.Fatal("providers.json differs from lib/providers: go test -run TestProviders -update .")
	}
}

func withoutNotes(t *testing.T, text json.RawMessage) json.RawMessage {
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, each := range all {
		delete(each, "notes")
	}
	plain, _ := json.Marshal(all)
	return plain
}

// Each preset is one that this package can do.
func TestPresets(t *testing.T) {
	all, err := readDescriptions()
	if err != nil {
		t.Fatal(err)
	}
	for name, each := range all {
		given := map[string]string{}
		for variable, of := range each.Variables {
			given[variable] = map[string]string{"label": "a-b", "labels": "a.example", "url": "https://a.example/x"}[of.As]
			if of.Among != nil {
				given[variable] = of.Among[0]
			}
		}
		if err := each.checkGiven(given); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		filled, err := each.fillIn(given)
		if err != nil || strings.ContainsAny(filled.Issuer+filled.Authorization+filled.Token+filled.Revocation, "{}") {
			t.Errorf("%s: %+v, %v", name, filled, err)
		}
		secret := Client{ID: "a", Secret: "b"}
		if each.SignedSecret != nil || each.Method == "private_key_jwt" {
			secret = Client{ID: "a", PrivateKey: newKey(t), KeyID: "k"}
		}
		if _, err := readClient(secret, each); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClientMustFit(t *testing.T) {
	signs, public := description{PKCE: "S256", Method: "private_key_jwt"}, description{PKCE: "S256", Method: "none"}
	posts := description{PKCE: "none", Method: "client_secret_post"}
	other := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("no key")}))
	}
	for _, row := range []struct {
		client Client
		of     description
		says   string
	}{
		{Client{}, posts, "Client.ID"}, {Client{ID: "a"}, posts, "has no PKCE"}, {Client{ID: "a", PrivateKey: newKey(t)}, posts, "have none"},
		{Client{ID: "a", Secret: "b"}, public, "have none"}, {Client{ID: "a", Secret: "b"}, signs, "have a key"},
		{Client{ID: "a"}, signs, "is required"}, {Client{ID: "a", PrivateKey: "no key"}, signs, "as PEM"},
		{Client{ID: "a", PrivateKey: other("PRIVATE KEY")}, signs, "as PEM"}, {Client{ID: "a", PrivateKey: other("CERTIFICATE")}, signs, "as PEM"},
		{Client{ID: "a", PrivateKey: other("ENCRYPTED PRIVATE KEY")}, signs, "as PEM"},
	} {
		_, err := readClient(row.client, row.of)
		if !errors.Is(err, urlmode.ErrArgument) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%v: %v", row.client.ID, err)
		}
	}
}

// newKey is a private key as PEM.
func newKey(t testing.TB) string {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(made)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

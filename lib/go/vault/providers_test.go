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
	"strings"
	"testing"

	"urlmode.example/urlmode"
)

// What this package does not know, it could not do.
func TestProvidersAreWhollyRead(t *testing.T) {
	made := map[string]description{}
	strict := json.NewDecoder(bytes.NewReader(providersJSON))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&made); err != nil || len(made) < 40 {
		t.Fatalf("%d descriptions, %v", len(made), err)
	}
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

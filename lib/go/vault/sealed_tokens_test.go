// SPDX-License-Identifier: MIT

package vault

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
	"urlmode.example/urlmode/internal/internals"
)

// keysOfText are those of a keys file, for an instance that opens no connection.
func keysOfText(t testing.TB, text string) internals.Keys {
	t.Helper()
	instance, err := urlmode.New(t.Context(), urlmode.Config{DatabaseURL: "postgresql://nobody@127.0.0.1:1/none", Keys: keyLine(1), BaseURL: adaptertest.BaseURL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { instance.Close() })
	opened, err := instance.Internals(internals.Permit{}).OpenKeys("", text)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	made, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestVectors(t *testing.T) {
	var file struct {
		Owners []struct{ Tenant, Subject, Owner string }
		Tokens []struct {
			Name, Subject, Provider, Account, JSON string
			Kid                                    int
			SecretHex                              string `json:"secret_hex"`
			PlaceHex                               string `json:"place_hex"`
			NonceHex                               string `json:"nonce_hex"`
			BlobHex                                string `json:"blob_hex"`
		}
	}
	text, err := os.ReadFile("../../../tests/vectors/vault.json")
	if err != nil || json.Unmarshal(text, &file) != nil || len(file.Tokens) == 0 {
		t.Fatalf("there are no vectors: %v", err)
	}
	for _, v := range file.Owners {
		if made := accountOwner(v.Tenant, v.Subject); made != v.Owner {
			t.Errorf("the owner of %q, %q is %q", v.Tenant, v.Subject, made)
		}
		if tenant, subject := whoseAccount(v.Owner); tenant != v.Tenant || subject != v.Subject {
			t.Errorf("%q is %q, %q", v.Owner, tenant, subject)
		}
	}
	for _, v := range file.Tokens {
		t.Run(v.Name, func(t *testing.T) {
			with := keysOfText(t, fmt.Sprintf("%d %s", v.Kid, base64.StdEncoding.EncodeToString(unhex(t, v.SecretHex))))
			at := place{v.Subject, v.Provider, v.Account}
			if hex.EncodeToString(at.digest()) != v.PlaceHex {
				t.Fatalf("its place is %x", at.digest())
			}
			sealed, err := sealText(with, at, []byte(v.JSON), unhex(t, v.NonceHex))
			if err != nil || hex.EncodeToString(sealed) != v.BlobHex {
				t.Fatalf("it is sealed as %x, %v", sealed, err)
			}
			opened, err := openTokens(with, at, sealed)
			again, _ := json.Marshal(opened)
			var wanted any
			json.Unmarshal([]byte(v.JSON), &wanted)
			if plain, _ := json.Marshal(wanted); err != nil || string(again) != string(plain) {
				t.Fatalf("it opens as %s, %v", again, err)
			}
			for i := range sealed {
				broken := append([]byte(nil), sealed...)
				broken[i] ^= 1
				if _, err := openTokens(with, at, broken); !errors.Is(err, urlmode.ErrAccountSeal) {
					t.Fatalf("with another byte %d: %v", i, err)
				}
			}
			for _, other := range []place{{"x", v.Provider, v.Account}, {v.Subject, "x", v.Account}, {v.Subject, v.Provider, "x"}} {
				if _, err := openTokens(with, other, sealed); !errors.Is(err, urlmode.ErrAccountSeal) || strings.Contains(err.Error(), "gho_") {
					t.Fatalf("of %v: %v", other, err)
				}
			}
		})
	}
}

func TestKeysOfTheirOwn(t *testing.T) {
	keys := keyLine(1)
	instance, err := urlmode.New(t.Context(), urlmode.Config{DatabaseURL: "postgresql://nobody@127.0.0.1:1/none", Keys: keys, BaseURL: adaptertest.BaseURL})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Close()
	for given, wanted := range map[string]error{keys: urlmode.ErrKeysFile, "9 " + strings.Fields(keys)[1]: urlmode.ErrKeysFile, "": urlmode.ErrArgument} {
		if _, err := New(instance, Config{Keys: given}); !errors.Is(err, wanted) {
			t.Errorf("%v", err)
		}
	}
	provider := func(p Provider) error {
		_, err := New(instance, Config{Keys: keyLine(2), Providers: map[string]Provider{"github": p}})
		return err
	}
	fits := Client{ID: "a", Secret: "b"}
	if err := provider(Provider{Client: fits}); err != nil {
		t.Error(err)
	}
	for says, given := range map[string]Provider{
		"Client.ID":                    {},
		"no description \"nobody\"":    {Client: fits, Description: "nobody"},
		"no description \"stripe-2\"":  {Client: fits, Description: "stripe-2"},
		"Scopes must be":               {Client: fits, Scopes: []string{"a b"}},
		"Parameters[\"state\"]":        {Client: fits, Parameters: map[string]string{"state": "x"}},
		"Variables[\"host\"] is not":   {Client: fits, Variables: map[string]string{"host": "x"}},
		"Variables[\"host\"] must be":  {Client: fits, Description: "gitlab", Variables: map[string]string{"host": "a b"}},
		"Variables[\"accounts\"] must": {Client: fits, Description: "zoho", Variables: map[string]string{"accounts": "evil.example"}},
	} {
		if err := provider(given); !errors.Is(err, urlmode.ErrArgument) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

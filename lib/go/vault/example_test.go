// SPDX-License-Identifier: MIT

package vault_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"os"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/vault"
)

// newKeys is the content of a keys file, which `urlmode keys` writes for a server.
func newKeys() string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return "1 " + base64.StdEncoding.EncodeToString(secret)
}

// A user who has connected no account is asked to connect one.
func ExampleVault_AccessToken() {
	ctx := context.Background()
	instance, err := urlmode.New(ctx, urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: "https://callback.example",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer instance.Close()
	accounts, err := vault.New(instance, vault.Config{
		Keys: newKeys(), // the vault's own, which no callback host has
		Providers: map[string]vault.Provider{
			"github": {Client: vault.Client{ID: "Iv1.abc", Secret: "secret-of-the-client"}, Scopes: []string{"repo"}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	_, err = accounts.AccessToken(ctx, urlmode.AccountRequest{Subject: "nobody", Provider: "github"})
	fmt.Println(errors.Is(err, urlmode.ErrAccountNotConnected))
	// Output: true
}

// SPDX-License-Identifier: MIT

// A gateway on the official Go SDK: it sells tools of an MCP server that cannot sell them, and connects accounts for it. What that server
// asks its user for itself reaches the user, and the call goes on with the payment that it has made.
//
//	GATEWAY_BEHIND  the URL of the server
//	GATEWAY_TERMS   {"write_text": {"amount": 1050, "currency": "EUR"}, "read_mail": {"account": "demo"}}
//	GATEWAY_VAULT_KEYS, GATEWAY_ACCOUNTS    the keys file of the vault, and its providers as vault.Config has them
//
//	URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= GATEWAY_BEHIND= GATEWAY_TERMS= go run ./gateway
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/examples/app"
	urlmcp "urlmode.example/urlmode/mcp"
	"urlmode.example/urlmode/vault"
)

func main() {
	app.Serve(func(instance *urlmode.Instance) http.Handler {
		g := &gateway{tools: urlmcp.New(instance, app.Options()), behind: os.Getenv("GATEWAY_BEHIND"), terms: map[string]terms{}}
		read("GATEWAY_TERMS", &g.terms)
		if keys := os.Getenv("GATEWAY_VAULT_KEYS"); keys != "" {
			config := vault.Config{KeysFile: keys}
			read("GATEWAY_ACCOUNTS", &config.Providers)
			opened, err := vault.New(instance, config)
			if err != nil {
				log.Fatal(err)
			}
			g.vault = opened
		}
		handler, err := g.serve(app.Users())
		if err != nil {
			log.Fatal(err)
		}
		return handler
	})
}

func (g *gateway) serve(users map[string]string) (http.Handler, error) {
	server, err := g.newServer(context.Background())
	if err != nil {
		return nil, err
	}
	return auth.RequireBearerToken(app.Verifier(users), nil)(g.tools.Handler(app.BothRevisions(server))), nil
}

func read(name string, into any) {
	if text := os.Getenv(name); text != "" {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

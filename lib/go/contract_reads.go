// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

// reads: The functions for MCP servers that only read. A statement that calls one can be sent once more if its
// connection was lost before the answer came. Any other is sent again only if it is certain that it was not sent.
var reads = map[string]bool{
	"urlmode.entitlements":               true,
	"urlmode.functions_version":          true,
	"urlmode.list_accounts":              true,
	"urlmode.list_migrations":            true,
	"urlmode.list_sealed":                true,
	"urlmode.paid":                       true,
	"urlmode.read":                       true,
	"urlmode.read_accounts":              true,
	"urlmode.read_exchange":              true,
	"urlmode.reconcile":                  true,
	"urlmode.refunds":                    true,
	"urlmode.resume":                     true,
	"urlmode.resume_for":                 true,
	"urlmode.unclaimed":                  true,
	"urlmode.unclaimed_payments":         true,
	"urlmode.undelivered":                true,
	"urlmode.vault_keys":                 true,
	"urlmode_frameworks.mcp_events":      true,
	"urlmode_frameworks.published_last":  true,
	"urlmode_frameworks.published_since": true,
	"urlmode_frameworks.stored_get":      true,
	"urlmode_frameworks.stored_keys":     true,
}

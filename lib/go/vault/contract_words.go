// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package vault

// lastingClasses has them all: each is a class of SQLSTATEs that speak of the statement or of its data, and would be
// said again: data, constraints, syntax and rights, a missing schema.
var lastingClasses = []string{"22", "23", "42", "3F"}

// takenParameters has them all: each is a parameter of the authorization request that comes from elsewhere.
var takenParameters = []string{"client_id", "client_secret", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_mode", "response_type", "scope", "state"}

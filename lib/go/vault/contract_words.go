// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package vault

// takenParameters has them all: each is a parameter of the authorization request that comes from elsewhere.
var takenParameters = []string{"client_id", "client_secret", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_mode", "response_type", "scope", "state"}

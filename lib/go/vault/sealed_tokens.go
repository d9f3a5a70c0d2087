// SPDX-License-Identifier: MIT

package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/seals"
)

// place is where an account is in the vault. None of the texts contains NUL.
type place struct{ subject, provider, account string }

// digest is what tokens are sealed for (PROTOCOL.md, "Values").
func (p place) digest() []byte {
	made := sha256.Sum256([]byte(strings.Join([]string{seals.AccountInfo, p.subject, p.provider, p.account}, "\x00")))
	return made[:]
}

// sealTokens seals the tokens of an account. A nil nonce is random; tests with known answers give one. An error is an ErrAccountSize.
func sealTokens(with internals.Keys, at place, of tokens, nonce []byte) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(of); err != nil {
		return nil, refuse("Tokens must be an object that can be written as JSON")
	}
	return sealText(with, at, bytes.TrimSuffix(text.Bytes(), []byte("\n")), nonce)
}

func sealText(with internals.Keys, at place, text, nonce []byte) ([]byte, error) {
	digest := at.digest()
	sealed := with.Seal(seals.AccountInfo, digest, digest, text, nonce)
	if len(sealed) > limits.TokensMax {
		return nil, &urlmode.AccountError{Code: urlmode.ErrAccountSize, Provider: at.provider, Account: at.account}
	}
	return sealed, nil
}

// openTokens opens the tokens of an account. An error is an ErrAccountSeal.
func openTokens(with internals.Keys, at place, sealed []byte) (tokens, error) {
	text, err := openText(with, at, sealed)
	if err != nil {
		return nil, err
	}
	opened, isObject := readJSON(text).(map[string]any)
	if _, isText := opened["access_token"].(string); !isObject || !isText {
		return nil, notOpened(at, "they are no JSON object with a token")
	}
	return opened, nil
}

func openText(with internals.Keys, at place, sealed []byte) ([]byte, error) {
	digest := at.digest()
	text, err := with.Open(seals.AccountInfo, digest, digest, sealed)
	if err == nil {
		return text, nil
	}
	why := strings.Replace(err.Error(), "it is", "they are", 1)
	return nil, notOpened(at, strings.Replace(why, "the keys file", "the vault's keys file", 1))
}

func notOpened(at place, why string) error {
	return &urlmode.AccountError{Code: urlmode.ErrAccountSeal, Provider: at.provider, Account: at.account, Reason: why}
}

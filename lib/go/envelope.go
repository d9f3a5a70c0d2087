// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/cipher"
	"crypto/rand"
	"fmt"

	"urlmode.example/urlmode/internal/seals"
	"urlmode.example/urlmode/internal/texts"
)

// Every sealed value is version ‖ kid ‖ nonce(12) ‖ ciphertext ‖ tag(16), with AES-256-GCM
// and version ‖ kid ‖ context as additional data (PROTOCOL.md, "Values").
const (
	headerBytes = 2 + seals.NonceBytes
	// overhead is how many bytes sealing adds.
	overhead = headerBytes + seals.TagBytes
)

// notOpened says why a sealed value cannot be opened, without anything of it.
type notOpened string

func (n notOpened) Error() string { return string(n) }

// encrypt seals with the cipher of key kid. A nil nonce is random; tests with known answers give one.
func encrypt(gcm cipher.AEAD, version, kid byte, context, plaintext, nonce []byte) []byte {
	sealed := make([]byte, headerBytes, len(plaintext)+overhead)
	sealed[0], sealed[1] = version, kid
	if nonce == nil {
		rand.Read(sealed[2:]) // never returns an error
	} else {
		copy(sealed[2:], nonce)
	}
	return gcm.Seal(sealed, sealed[2:], plaintext, additional(sealed, context))
}

// decrypt opens what was sealed. cipherOf returns the cipher of a key.
func decrypt(sealed []byte, version byte, ring keys, context []byte, cipherOf func(*key) cipher.AEAD) ([]byte, error) {
	if len(sealed) < overhead || sealed[0] != version {
		return nil, notOpened("it is malformed")
	}
	used := ring.find(sealed[1])
	if used == nil {
		return nil, notOpened(fmt.Sprintf(texts.NoSuchKey, sealed[1]))
	}
	opened, err := cipherOf(used).Open(nil, sealed[2:headerBytes], sealed[headerBytes:], additional(sealed, context))
	if err != nil {
		return nil, notOpened(texts.NotGenuine)
	}
	return opened, nil
}

func additional(sealed, context []byte) []byte {
	return append(append(make([]byte, 0, 2+len(context)), sealed[:2]...), context...)
}

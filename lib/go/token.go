// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/seals"
	"urlmode.example/urlmode/internal/texts"
)

const (
	stateBytes = 16 + 8 + 2*seals.DigestBytes
	linkMacAt  = 2 + 16
	linkBytes  = linkMacAt + seals.LinkMacBytes
)

var (
	errState        = errors.New(texts.StateNotValid)
	errStateExpired = errors.New(texts.StateExpired)
)

// digest is that of an owner, or of a browser. A row is read only with the binding of its owner.
type digest [seals.DigestBytes]byte

func digestOf(texts ...string) digest {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return digest(sum[:16])
}

// tenant is one of several MCP servers that share a database. Empty: none.
type tenant string

// bindingOf binds a row to its owner.
func (t tenant) bindingOf(owner Owner) digest {
	if t == "" {
		return digestOf(seals.BindingLabel, owner.Subject, owner.Session)
	}
	return digestOf(seals.TenantBindingLabel, string(t), owner.Subject, owner.Session)
}

func browserOf(cookie string) digest { return digestOf(seals.BrowserLabel, cookie) }

// idBytes are the 16 bytes of a UUID that checkID has accepted.
func idBytes(id string) [16]byte {
	var bytes [16]byte
	hex.Decode(bytes[:], []byte(strings.ReplaceAll(id, "-", "")))
	return bytes
}

func idText(bytes []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:16])
}

// state is what a state token says.
type state struct {
	id      string
	expires int64 // Unix seconds
	binding digest
	browser digest // zeros: any browser
}

func tokenContext(purpose, provider string) []byte { return []byte(purpose + "\x00" + provider) }

func mintState(with *key, purpose, provider string, s state, nonce []byte) string {
	id := idBytes(s.id)
	plaintext := binary.BigEndian.AppendUint64(append(make([]byte, 0, stateBytes), id[:]...), uint64(s.expires))
	plaintext = append(append(plaintext, s.binding[:]...), s.browser[:]...)
	sealed := encrypt(with.cipher(seals.StateInfo), 1, with.kid, tokenContext(purpose, provider), plaintext, nonce)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

func openState(ring keys, purpose, provider, text string, now time.Time) (state, error) {
	sealed, err := decodeToken(text, stateBytes+overhead)
	if err != nil {
		return state{}, err
	}
	opened, err := decrypt(sealed, 1, ring, tokenContext(purpose, provider), func(k *key) cipher.AEAD { return k.cipher(seals.StateInfo) })
	if err != nil {
		return state{}, errState
	}
	expires := binary.BigEndian.Uint64(opened[16:24])
	if expires <= uint64(now.Unix()) {
		return state{}, errStateExpired
	}
	return state{idText(opened[:16]), int64(expires), digest(opened[24:40]), digest(opened[40:])}, nil
}

// decodeToken decodes base64url without padding, and refuses each text but the one that its bytes have.
func decodeToken(text string, size int) ([]byte, error) {
	if len(text) != base64.RawURLEncoding.EncodedLen(size) || strings.ContainsAny(text, "\r\n") {
		return nil, errState
	}
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errState
	}
	return decoded, nil
}

func linkMac(with *key, purpose, provider string, named []byte) []byte {
	mac := hmac.New(sha256.New, with.derive(nil, seals.LinkInfo))
	mac.Write(named[:2])
	mac.Write(tokenContext(purpose, provider))
	mac.Write([]byte{0})
	mac.Write(named[2:])
	return mac.Sum(nil)[:seals.LinkMacBytes]
}

// mintLink makes the state of the address that is elicited: always the same for a key and an elicitation. The purpose is
// connect, or approve for an approval by others than the subject.
func mintLink(with *key, purpose, provider, elicitationID string) string {
	id := idBytes(elicitationID)
	named := append([]byte{1, with.kid}, id[:]...)
	return base64.RawURLEncoding.EncodeToString(append(named, linkMac(with, purpose, provider, named)...))
}

// openLink returns the elicitation, and the id of the key that has minted the link.
func openLink(ring keys, purpose, provider, text string) (id string, kid byte, err error) {
	link, err := decodeToken(text, linkBytes)
	if err != nil {
		return "", 0, err
	}
	used := ring.find(link[1])
	if link[0] != 1 || used == nil || !hmac.Equal(link[linkMacAt:], linkMac(used, purpose, provider, link[:linkMacAt])) {
		return "", 0, errState
	}
	return idText(link[2:linkMacAt]), used.kid, nil
}

func mintTicket(with *key, subject string, expires int64, nonce []byte) string {
	plaintext := append(binary.BigEndian.AppendUint64(nil, uint64(expires)), subject...)
	return base64.RawURLEncoding.EncodeToString(encrypt(with.cipher(seals.TicketInfo), 1, with.kid, []byte("ticket"), plaintext, nonce))
}

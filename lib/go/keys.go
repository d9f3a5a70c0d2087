// SPDX-License-Identifier: MIT

package urlmode

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// key is one line of the keys file.
type key struct {
	kid     byte
	secret  []byte
	ciphers sync.Map // purpose → cipher.AEAD
}

// derive makes 32 bytes of the secret with HKDF-SHA256 (RFC 5869).
func (k *key) derive(salt []byte, info string) []byte {
	derived, err := hkdf.Key(sha256.New, k.secret, salt, info, 32)
	if err != nil {
		panic(err) // only for more bytes than HKDF can make
	}
	return derived
}

// cipher is that of all values of one purpose, whose key is derived without a salt.
func (k *key) cipher(purpose string) cipher.AEAD {
	if known, ok := k.ciphers.Load(purpose); ok {
		return known.(cipher.AEAD)
	}
	made, _ := k.ciphers.LoadOrStore(purpose, aesGCM(k.derive(nil, purpose)))
	return made.(cipher.AEAD)
}

func aesGCM(derived []byte) cipher.AEAD {
	block, err := aes.NewCipher(derived)
	if err != nil {
		panic(err) // only for a key of another length
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for a block of another length
	}
	return gcm
}

// keyRing has the keys of a file at one time: the first seals, all of them open.
type keyRing []*key

func (r keyRing) minting() *key { return r[0] }

func (r keyRing) find(kid byte) *key {
	for _, each := range r {
		if each.kid == kid {
			return each
		}
	}
	return nil
}

// keys is a keyRing, or a file that is read again when it changes.
type keys interface {
	minting() *key
	find(kid byte) *key
}

// parseKeys reads the content of a keys file, whose name is for the messages of errors.
func parseKeys(text, file string) (keyRing, error) {
	var ring keyRing
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, limits.KeysFileMax+1)
	for number := 1; lines.Scan(); number++ {
		line := strings.Trim(lines.Text(), " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		refuse := func(format string, values ...any) error {
			return errorKeysFile(fmt.Sprintf("%s:%d: ", file, number) + fmt.Sprintf(format, values...))
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) != 2 {
			return nil, refuse(texts.KeyLine)
		}
		kid, err := strconv.ParseUint(words[0], 10, 8)
		if err != nil {
			return nil, refuse(texts.KeyKid)
		}
		secret, ok := decodeBase64(words[1])
		if !ok || len(secret) > limits.SecretMax {
			return nil, refuse(texts.KeyTooLong)
		}
		if len(secret) < limits.SecretMin {
			return nil, refuse(texts.KeyTooShort)
		}
		if ring.find(byte(kid)) != nil {
			return nil, refuse(texts.KidTwice, kid)
		}
		ring = append(ring, &key{kid: byte(kid), secret: secret})
	}
	if lines.Err() != nil {
		return nil, errorKeysFile(file + ": a line is too long")
	}
	if len(ring) == 0 {
		return nil, errorKeysFile(file + ": " + texts.NoKeyInFile)
	}
	return ring, nil
}

// decodeBase64 accepts base64 and base64url, with or without padding, but no bits that are left over.
func decodeBase64(text string) ([]byte, bool) {
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	// The decoder ignores line ends.
	if strings.ContainsAny(text, "\r\n") {
		return nil, false
	}
	url := strings.NewReplacer("+", "-", "/", "_").Replace(text)
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(url)
	return decoded, err == nil
}

// keysFile reads a file, and reads it again when it has changed. A key that was
// added as the first line seals at once; a key that was removed opens nothing. If
// the changed file is not valid, the keys stay as they were, and that is logged.
type keysFile struct {
	name string
	log  *slog.Logger

	mu        sync.Mutex
	ring      keyRing
	seen      os.FileInfo
	checkedAt time.Time
}

func openKeysFile(name string, log *slog.Logger) (*keysFile, error) {
	file := &keysFile{name: name, log: log, checkedAt: time.Now()}
	ring, err := file.read()
	if err != nil {
		return nil, err
	}
	file.ring = ring
	return file, nil
}

func (f *keysFile) minting() *key {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh(limits.KeysCheck)
	return f.ring.minting()
}

func (f *keysFile) find(kid byte) *key {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh(limits.KeysCheck)
	if found := f.ring.find(kid); found != nil {
		return found
	}
	f.refresh(0) // The key may have been added just now.
	return f.ring.find(kid)
}

func (f *keysFile) refresh(maxAge time.Duration) {
	now := time.Now()
	if now.Sub(f.checkedAt) < maxAge {
		return
	}
	f.checkedAt = now
	status, err := os.Stat(f.name)
	if err == nil && f.seen != nil && isSame(status, f.seen) || err != nil && f.seen == nil {
		return
	}
	f.seen = nil
	ring, err := f.read()
	if err != nil {
		warn(f.log, "URLMODE_KEYS_FILE", fmt.Sprintf(texts.KeysStay, err))
		return
	}
	f.ring = ring
}

func isSame(one, other os.FileInfo) bool {
	return os.SameFile(one, other) && one.Size() == other.Size() && one.Mode() == other.Mode() &&
		one.ModTime().Equal(other.ModTime())
}

func (f *keysFile) read() (keyRing, error) {
	refuse := func(reason string) (keyRing, error) {
		return nil, errorKeysFile(f.name + ": " + reason)
	}
	// A pipe in its place must not block.
	file, err := os.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return refuse("the file cannot be opened")
	}
	defer file.Close()
	// Before the content is read, so that a later change is noticed next time.
	status, err := file.Stat()
	if err != nil {
		return refuse(texts.FileNotReadable)
	}
	f.seen = status
	if !status.Mode().IsRegular() {
		return refuse(texts.NotAFile)
	}
	if status.Mode().Perm()&0o007 != 0 {
		return refuse(texts.FileNotPrivate)
	}
	if status.Size() > limits.KeysFileMax {
		return refuse("the file is too large")
	}
	content := make([]byte, status.Size())
	if _, err := file.ReadAt(content, 0); err != nil {
		return refuse(texts.FileNotReadable)
	}
	return parseKeys(string(content), f.name)
}

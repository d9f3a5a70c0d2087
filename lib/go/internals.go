// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"crypto/cipher"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/seals"
)

// Internals is for package adapter, and for package vault, which is a module of its own.
func (m *Instance) Internals(internals.Permit) internals.Instance { return internal{m} }

type internal struct{ m *Instance }

func (i internal) OpenKeys(file, content string) (internals.Keys, error) {
	opened, err := openKeys(Config{KeysFile: file, Keys: content}, i.m.log)
	if err != nil {
		return nil, err
	}
	for kid := range 256 {
		if theirs := opened.find(byte(kid)); theirs != nil && hasSecret(i.m.ring, theirs.secret) {
			name := file
			if name == "" {
				name = "Keys"
			}
			return nil, errorKeysFile(name + ": the vault must have keys of its own, because the callback hosts, which " +
				"face the internet, have the others")
		}
	}
	return sealer{opened}, nil
}

func hasSecret(ring keys, secret []byte) bool {
	for kid := range 256 {
		if found := ring.find(byte(kid)); found != nil && string(found.secret) == string(secret) {
			return true
		}
	}
	return false
}

func (i internal) Query(ctx context.Context, read func(pgx.CollectableRow) (any, error), reads bool, statement string, values ...any) ([]any, error) {
	return call(ctx, i.m.pool, func(ctx context.Context) ([]any, error) {
		return rows(ctx, i.m.pool, read, reads, statement, values...)
	})
}

func (i internal) Tenant() string { return string(i.m.tenant) }

func (i internal) Binding(subject, session string) []byte {
	made := i.m.tenant.bindingOf(Owner{subject, session})
	return made[:]
}

func (i internal) CheckText(name, text string, least, most int) error {
	return checkText(name, text, least, most)
}

func (i internal) CheckProvider(provider string) error { return checkProvider(provider) }

func (i internal) CheckContext(ctx context.Context) error { return checkContext(ctx) }

func (i internal) CheckID(id string) (string, error) { return checkID(id) }

func (i internal) Refuse(format string, values ...any) error { return argumentError(format, values...) }

func (i internal) NotFound(id string) error { return errorNotFound(id) }

func (i internal) CheckOpen() error {
	if i.m.background.isClosing() {
		return errorClosed()
	}
	return nil
}

func (i internal) Hold(ctx context.Context, timeout time.Duration) (*int64, func()) {
	i.m.listener.acquire()
	return i.m.listener.holder(ctx, timeout), i.m.listener.release
}

func (i internal) Start() (func(), error) { return i.m.background.start() }

func (i internal) BeginAsk(ctx context.Context, of internals.Ask, awaited bool) (string, error) {
	return call(ctx, i.m.pool, func(ctx context.Context) (string, error) {
		return one(ctx, i.m.pool, sqlBeginAsk, beginAskValues{rowKey: i.rowOf(of), client: clientOf(of), awaited: awaited})
	})
}

func (i internal) EndAsk(ctx context.Context, of internals.Ask, answer string) error {
	_, err := call(ctx, i.m.pool, func(ctx context.Context) (struct{}, error) {
		return one(ctx, i.m.pool, sqlEndAsk, endAskValues{rowKey: i.rowOf(of), client: clientOf(of), answer: answer})
	})
	return err
}

func (i internal) rowOf(of internals.Ask) rowKey {
	return rowKey{of.ID, i.m.tenant.bindingOf(Owner{of.Subject, of.Session})}
}

func clientOf(of internals.Ask) []byte {
	made := digestOf(seals.ClientLabel, of.Name, of.Version)
	return made[:]
}

func (i internal) Warn(code, text string) { warn(i.m.log, code, text) }

// sealer seals for one salt at a time, with version 01.
type sealer struct{ ring keys }

func (s sealer) Minting() byte { return s.ring.minting().kid }

func (s sealer) Seal(use string, salt, context, text, nonce []byte) []byte {
	with := s.ring.minting()
	return encrypt(aesGCM(with.derive(salt, use)), 1, with.kid, context, text, nonce)
}

func (s sealer) Open(use string, salt, context, sealed []byte) ([]byte, error) {
	return decrypt(sealed, 1, s.ring, context, func(with *key) cipher.AEAD { return aesGCM(with.derive(salt, use)) })
}

// background is what Close waits for, for as long as it takes.
type background struct {
	mu      sync.Mutex
	running int
	closing bool
	idle    chan struct{} // closed when nothing runs any more, and nothing is begun
}

func (b *background) isClosing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closing
}

func (b *background) start() (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing && b.running == 0 {
		return nil, errorClosed()
	}
	b.running++
	return sync.OnceFunc(b.end), nil
}

func (b *background) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running--; b.running == 0 && b.closing {
		close(b.idle)
	}
}

// close waits for all that runs, and for what that begins.
func (b *background) close() {
	b.mu.Lock()
	b.closing = true
	if b.running == 0 {
		close(b.idle)
	}
	b.mu.Unlock()
	<-b.idle
}

func newBackground() *background { return &background{idle: make(chan struct{})} }

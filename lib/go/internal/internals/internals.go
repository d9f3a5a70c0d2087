// SPDX-License-Identifier: MIT

// Package internals is what other packages of this repository use of an instance, and nobody else.
package internals

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Permit is what only these packages can make.
type Permit struct{ _ int }

// Instance is one of package urlmode.
type Instance interface {
	// OpenKeys opens a keys file, or its content. A key of the instance's own is refused.
	OpenKeys(file, content string) (Keys, error)
	// Query runs a statement, and reads each of its rows. The end of the context ends the call, and not the statement.
	// reads: the statement only reads, see Statement.
	Query(ctx context.Context, read func(pgx.CollectableRow) (any, error), reads bool, statement string, values ...any) ([]any, error)
	// Tenant is that of the instance; empty: none.
	Tenant() string
	// Binding is that of an owner.
	Binding(subject, session string) []byte
	// CheckText says whether a text can be stored, and has so many bytes.
	CheckText(name, text string, least, most int) error
	// CheckProvider says whether it is the name of one.
	CheckProvider(provider string) error
	// CheckContext refuses a nil context.
	CheckContext(ctx context.Context) error
	// CheckID returns the id of an elicitation as it is stored.
	CheckID(id string) (string, error)
	// Refuse is an ErrArgument.
	Refuse(format string, values ...any) error
	// NotFound is an ErrNotFound.
	NotFound(id string) error
	// CheckOpen is an ErrClosed after Close was called.
	CheckOpen() error
	// Hold is the key of the advisory lock that the listening session has, which is opened for it: nil where there is none, or
	// if it is not open in time. It is used until release.
	Hold(ctx context.Context, timeout time.Duration) (holder *int64, release func())
	// Start begins what Close waits for, for as long as it takes, while PostgreSQL can be used. An ErrClosed: it is too late for that.
	Start() (end func(), err error)
	// BeginAsk says what a client has answered when it was asked before. Empty: it can be asked.
	BeginAsk(ctx context.Context, of Ask, awaited bool) (string, error)
	// EndAsk remembers what a client has answered.
	EndAsk(ctx context.Context, of Ask, answer string) error
	// Tasks are the calls that clients hold as tasks.
	Tasks() Tasks
	// Warn is for the operator.
	Warn(code, text string)
}

// Ask is that of a client, to open an elicitation. Name and Version are those of the client.
type Ask struct{ ID, Subject, Session, Name, Version string }

// Keys are those of a keys file, which is read again when it has changed.
type Keys interface {
	// Minting is the id of the key that seals.
	Minting() byte
	// Seal seals with a key that is derived with a salt for one use. A nil nonce is random.
	Seal(use string, salt, context, text, nonce []byte) []byte
	// Open opens what was sealed. Its error says why it does not open, and nothing of it.
	Open(use string, salt, context, sealed []byte) ([]byte, error)
}

// SPDX-License-Identifier: MIT

package internals

import (
	"context"
	"encoding/json"
	"time"
)

// Tasks are rows that any instance reads, whose values are sealed for the task and its owner (sql/functions/044_task.sql). The end of a
// context ends the call, and not the statement.
type Tasks interface {
	// Create keeps a call. Nil: the owner has no such elicitation.
	Create(ctx context.Context, subject, session, elicitation string, call TaskCall) (*Task, error)
	// Read is nil if the owner has no such task, or it is over.
	Read(ctx context.Context, key TaskKey) (*Task, error)
	// Answer keeps what a client has answered to a request of this round: true once.
	Answer(ctx context.Context, of *Task, name string, answer json.RawMessage) (bool, error)
	// Begin is the lease of an instance that runs the tool; with a lease, it makes that one longer. 0: another one has it, or the task is
	// not open.
	Begin(ctx context.Context, of *Task, lease int) (int, error)
	// Continue ends the lease of a tool that has not ended. Nil: it waits as before. isKept is as with End.
	Continue(ctx context.Context, of *Task, lease int, next *NextCall) (isKept bool, err error)
	// End is false if another instance has the lease, or the task was cancelled. isKept is false if the row does not take what is as large.
	End(ctx context.Context, of *Task, lease int, result TaskResult, claims []TaskClaim) (ended, isKept bool, err error)
	// Confirm is for a result that its client has.
	Confirm(ctx context.Context, key TaskKey) error
	// Cancel is false if the owner has no such task.
	Cancel(ctx context.Context, key TaskKey) (bool, error)
}

// TaskKey identifies the task of an owner.
type TaskKey struct{ ID, Subject, Session string }

// TaskCall is how a call goes on, as all languages keep it.
type TaskCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Responses were sent with the call, which had asked for something before.
	Responses map[string]json.RawMessage `json:"responses,omitempty"`
	State     string                     `json:"state"` // the requestState with which it goes on
	// Requests are what its client is asked meanwhile.
	Requests map[string]json.RawMessage `json:"requests"`
	IsOwn    bool                       `json:"isOwn"` // whether that is to open the elicitation, which may end without an answer
	Text     string                     `json:"text"`  // for people and models: what it waits for
	Kind     string                     `json:"kind,omitempty"`
}

// NextCall is what a task waits for from now on.
type NextCall struct {
	Elicitation string
	Call        TaskCall
}

// TaskResult is what the tool has returned, or the error of the protocol that has ended it.
type TaskResult struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// TaskClaim is of the elicitation with this id.
type TaskClaim struct {
	ID    string
	Fence int64
}

// Task is one as it was read.
type Task struct {
	Key         TaskKey
	Elicitation string
	Call        TaskCall
	Round       int
	Answers     map[string]json.RawMessage // by the keys of Call.Requests
	State       string                     // open, ended or cancelled
	Result      *TaskResult
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ExpiresAt   time.Time
	Status      string // of its elicitation
	IsDue       bool   // the tool has something to do
	IsLeased    bool   // an instance is at it
	IsUnread    bool   // it has a result that was never read
	Withheld    string // why it has none any more: refunded or claimed
}

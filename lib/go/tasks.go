// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"slices"

	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
)

// tasks are the calls that clients hold as tasks, for package adapter.
type tasks struct{ m *Instance }

func (i internal) Tasks() internals.Tasks { return tasks(i) }

func (t tasks) rowOf(of internals.TaskKey) (rowKey, error) {
	if err := checkOwner(Owner{of.Subject, of.Session}); err != nil {
		return rowKey{}, err
	}
	return rowKey{of.ID, t.m.tenant.bindingOf(Owner{of.Subject, of.Session})}, nil
}

func (t tasks) Create(ctx context.Context, subject, session, elicitation string, call internals.TaskCall) (*internals.Task, error) {
	key := internals.TaskKey{ID: newID(), Subject: subject, Session: session}
	row, err := t.rowOf(key)
	if err != nil {
		return nil, err
	}
	sealed, err := t.seal(row, call)
	if err != nil {
		return nil, err
	}
	made, err := first(ctx, t.m.pool, sqlCreateTask, createTaskValues{row, elicitation, sealed})
	if err != nil || made == nil {
		return nil, err
	}
	return t.Read(ctx, key)
}

func (t tasks) Read(ctx context.Context, key internals.TaskKey) (*internals.Task, error) {
	row, err := t.rowOf(key)
	if err != nil {
		return nil, err
	}
	found, err := first(ctx, t.m.pool, sqlReadTask, readTaskValues{row})
	if err != nil || found == nil {
		return nil, err
	}
	read := &internals.Task{
		Key: key, Elicitation: found.elicitation, Round: found.round, Answers: map[string]json.RawMessage{}, State: found.state,
		CreatedAt: found.createdAt, UpdatedAt: found.updatedAt, ExpiresAt: found.expiresAt, Status: found.status,
		IsDue: found.isDue, IsLeased: found.isLeased, IsUnread: found.isUnread, Withheld: found.withheld,
	}
	if err := unseal(t.m.ring, useTask, row, found.call, &read.Call); err != nil {
		return nil, err
	}
	for n, name := range found.answered {
		var kept taskAnswer
		if err := unseal(t.m.ring, useTask, row, found.answers[n], &kept); err != nil {
			return nil, err
		}
		read.Answers[name] = kept.Answer
	}
	if found.result != nil {
		read.Result = &internals.TaskResult{}
		err = unseal(t.m.ring, useTask, row, found.result, read.Result)
	}
	return read, err
}

// taskAnswer is an answer of a client, as it is sealed.
type taskAnswer struct {
	Answer json.RawMessage `json:"answer"`
}

func (t tasks) Answer(ctx context.Context, of *internals.Task, name string, answer json.RawMessage) (bool, error) {
	row, err := t.rowOf(of.Key)
	if err != nil {
		return false, err
	}
	sealed, err := t.seal(row, taskAnswer{answer})
	if err != nil {
		return false, err
	}
	return one(ctx, t.m.pool, sqlAnswerTaskInput, answerTaskInputValues{row, of.Round, name, sealed})
}

func (t tasks) Begin(ctx context.Context, of *internals.Task, lease int) (int, error) {
	row, err := t.rowOf(of.Key)
	if err != nil {
		return 0, err
	}
	return one(ctx, t.m.pool, sqlBeginTask, beginTaskValues{row, limits.TaskLease.Milliseconds(), lease})
}

func (t tasks) Continue(ctx context.Context, of *internals.Task, lease int, next *internals.NextCall) (isKept bool, err error) {
	row, err := t.rowOf(of.Key)
	if err != nil {
		return false, err
	}
	values := continueTaskValues{rowKey: row, lease: lease}
	if next != nil {
		values.elicitation = next.Elicitation
		if values.call, err = t.seal(row, next.Call); err != nil {
			return false, err
		}
	}
	_, err = one(ctx, t.m.pool, sqlContinueTask, values)
	return fits(err)
}

// fits says of the error of a statement whether it is that a value is larger than a row takes.
func fits(err error) (isKept bool, other error) {
	if state := sqlstate(err); len(state) == 5 && slices.Contains(unstorableClasses, state[:2]) {
		return false, nil
	}
	return true, err
}

func (t tasks) End(ctx context.Context, of *internals.Task, lease int, result internals.TaskResult, claims []internals.TaskClaim) (ended, isKept bool, err error) {
	row, err := t.rowOf(of.Key)
	if err != nil {
		return false, true, err
	}
	sealed, err := t.seal(row, result)
	if err != nil {
		return false, true, err
	}
	claimed := column(claims, func(of internals.TaskClaim) string { return of.ID })
	fences := column(claims, func(of internals.TaskClaim) int64 { return of.Fence })
	ended, err = one(ctx, t.m.pool, sqlEndTask, endTaskValues{row, lease, sealed, claimed, fences, t.m.kept.results.Milliseconds()})
	isKept, err = fits(err)
	return ended, isKept, err
}

func (t tasks) Confirm(ctx context.Context, key internals.TaskKey) error {
	row, err := t.rowOf(key)
	if err != nil {
		return err
	}
	_, err = one(ctx, t.m.pool, sqlConfirmTask, confirmTaskValues{row, t.m.kept.results.Milliseconds()})
	return err
}

func (t tasks) Cancel(ctx context.Context, key internals.TaskKey) (bool, error) {
	row, err := t.rowOf(key)
	if err != nil {
		return false, err
	}
	return one(ctx, t.m.pool, sqlCancelTask, cancelTaskValues{row})
}

func (t tasks) seal(row rowKey, value any) ([]byte, error) {
	text, err := toJSON(value)
	if err != nil {
		return nil, err
	}
	return seal(t.m.ring, useTask, row, text, nil), nil
}

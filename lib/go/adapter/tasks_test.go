// SPDX-License-Identifier: MIT

package adapter

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode/internal/internals"
)

// What a client is told of its task is what its row says.
func TestDetailsOfATask(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000000"
	created := time.Date(2026, 11, 29, 12, 0, 0, 1_400_000, time.UTC)
	asks := internals.TaskCall{Requests: map[string]json.RawMessage{"urlmode": json.RawMessage(`{"a":1}`)}, IsOwn: true, Text: "The link.", Kind: "payment"}
	foreign := asks
	foreign.IsOwn, foreign.Text = false, ""
	answered := map[string]json.RawMessage{"urlmode": json.RawMessage(`{}`)}
	for what, of := range map[string]struct {
		task internals.Task
		want string
	}{
		"it asks":                 {internals.Task{State: "open", Round: 2, Call: asks, Status: "pending"}, `"status":"input_required","statusMessage":"The link.",·"inputRequests":{"2.urlmode":{"a":1}}`},
		"it was answered":         {internals.Task{State: "open", Call: asks, Answers: answered, Status: "opened"}, `"status":"working","statusMessage":"The link.",·`},
		"the provider is at work": {internals.Task{State: "open", Call: asks, Status: "processing"}, `"status":"working","statusMessage":"The provider is working on it.",·`},
		"it is due":               {internals.Task{State: "open", Call: asks, Status: "completed", IsDue: true}, `"status":"working",·`},
		"its body asks":           {internals.Task{State: "open", Round: 3, Call: foreign, Status: "completed", IsDue: true}, `"status":"input_required",·"inputRequests":{"3.urlmode":{"a":1}}`},
		"it was cancelled":        {internals.Task{State: "cancelled", Call: asks}, `"status":"cancelled",·`},
		"it has a result":         {internals.Task{State: "ended", Call: asks, Result: &internals.TaskResult{Result: json.RawMessage(`{"content":[]}`)}}, `"status":"completed",·"result":{"content":[],"resultType":"complete"}`},
		"it has an error":         {internals.Task{State: "ended", Call: asks, Result: &internals.TaskResult{Error: json.RawMessage(`{"code":1}`)}}, `"status":"failed",·"error":{"code":1}`},
		"it was refunded":         {internals.Task{State: "ended", Call: asks, Withheld: "refunded"}, `"status":"completed",·"result":{"content":[{"type":"text","text":"Not done: the payment was refunded."}],"isError":true,"resultType":"complete"}`},
	} {
		of.task.Key.ID, of.task.CreatedAt, of.task.UpdatedAt, of.task.ExpiresAt = id, created, created.Add(time.Second), created.Add(time.Hour)
		got, err := json.Marshal(detailsOf(&of.task))
		want := strings.Replace(`{"taskId":"`+id+`",`+of.want+`}`, "·", `"createdAt":"2026-11-29T12:00:00.001Z","lastUpdatedAt":"2026-11-29T12:00:01.001Z","ttlMs":3600000,"pollIntervalMs":2000,`, 1)
		if want = strings.Replace(want, ",}", "}", 1); err != nil || string(got) != want {
			t.Errorf("%s: %s, and not %s", what, got, want)
		}
	}
}

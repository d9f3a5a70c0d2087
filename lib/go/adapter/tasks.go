// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// ErrTaskNotFound is of a task that the owner has not, or that is over.
var ErrTaskNotFound = errors.New("the owner has no such task")

// ErrTaskInput is of a response that is too large to be kept.
var ErrTaskInput = errors.New("what the client has answered is too large")

// unkeptResult is what a client is told of a result that is larger than a row of tasks takes.
var unkeptResult = internals.TaskResult{Error: json.RawMessage(`{"code":` + strconv.Itoa(limits.RPCInternalError) + `,"message":"` + texts.TaskUnkept + `"}`)}

var taskIDForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Tasks are calls that clients hold as tasks (SEP-2663): a wait of days is not a call that is open for days. A task is a retry of revision
// 2026-07-28 whose requestState is kept here in place of the client. When what it waits for has ended, whoever is asked for the task
// next runs the tool once more with that state, and keeps what it returns. lib/PROTOCOL.md, "Calls as tasks", has the rules.
type Tasks struct {
	a    *Adapter
	rows internals.Tasks
}

// Tasks are those of the clients of an Adapter.
func (a *Adapter) Tasks() *Tasks {
	return &Tasks{a, a.instance.Internals(internals.Permit{}).Tasks()}
}

// TaskedCall is a call that becomes a task, or with which one goes on.
type TaskedCall struct {
	Tool      string          // its name
	Arguments json.RawMessage // as they were sent
	// Responses are those to what a body has asked for.
	Responses map[string]json.RawMessage
	State     string // the requestState
}

// CanBeTask reports whether a call is small enough to be kept.
func (c TaskedCall) CanBeTask() bool {
	size := len(c.Tool) + len(c.Arguments)
	for key, each := range c.Responses {
		size += len(key) + len(each)
	}
	return size <= limits.TaskCallMax/4
}

// TaskRequest is a request about a task, as an SDK describes it.
type TaskRequest struct {
	Owner  urlmode.Owner // of the request
	Client Client        // who asks
	// Run calls the tool, and returns its result, or the error of JSON-RPC; neither, if it cannot be written as JSON. The calls of its
	// functions have the TaskRound. It may go on after the request.
	Run func(ctx context.Context, call TaskedCall, round *TaskRound) (result, failed json.RawMessage)
}

// TaskDetails is what a client is told of its task.
type TaskDetails struct {
	TaskID         string                     `json:"taskId"`                  // random
	Status         string                     `json:"status"`                  // of the protocol
	StatusMessage  string                     `json:"statusMessage,omitempty"` // for the user and the model, with the link where it is not requested
	CreatedAt      string                     `json:"createdAt"`               // ISO 8601
	LastUpdatedAt  string                     `json:"lastUpdatedAt"`           // ISO 8601
	TTLMs          int64                      `json:"ttlMs"`                   // from CreatedAt
	PollIntervalMs int64                      `json:"pollIntervalMs"`          // how often the client is asked to look
	InputRequests  map[string]json.RawMessage `json:"inputRequests,omitempty"` // what was not answered yet
	Result         json.RawMessage            `json:"result,omitempty"`        // of the tool
	Error          json.RawMessage            `json:"error,omitempty"`         // of the protocol
}

// IsOpen reports whether the task has not ended.
func (d TaskDetails) IsOpen() bool { return d.Status == "working" || d.Status == "input_required" }

// TaskState is a task, and what becomes of it.
type TaskState struct {
	TaskDetails
	// Confirm is for a result that was never read, when it was written to the client. It returns at once. Nil: there is none.
	Confirm func()

	owner       urlmode.Owner
	elicitation string
	status      string
	isBusy      bool
	isDue       bool
}

// Create keeps a call that waits, with the result by which its function asks. The Owner must be that of the elicitation.
func (ts *Tasks) Create(ctx context.Context, owner urlmode.Owner, call TaskedCall, round *TaskRound, requests map[string]json.RawMessage) (TaskDetails, error) {
	if round.awaited == nil {
		return TaskDetails{}, refuse("no function of this call has asked its user")
	}
	made, err := ts.rows.Create(ctx, owner.Subject, owner.Session, round.awaited.elicitation, round.awaited.kept(internals.TaskCall{
		Tool: call.Tool, Arguments: call.Arguments, Responses: call.Responses, State: call.State, Requests: requests}))
	if err != nil {
		return TaskDetails{}, err
	}
	if made == nil {
		return TaskDetails{}, refuse("the Owner of a task must be that of the elicitation")
	}
	details := detailsOf(made)
	details.InputRequests = nil
	return details, nil
}

// Get reads a task, and runs its tool if that has something to do: it waits for it a little.
func (ts *Tasks) Get(ctx context.Context, id string, of TaskRequest) (TaskState, error) {
	task, err := ts.find(ctx, id, of.Owner)
	if err != nil {
		return TaskState{}, err
	}
	if isRunnable(task) {
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			ts.run(context.WithoutCancel(ctx), task, of)
		}()
		select {
		case <-ran:
		case <-time.After(limits.TaskWait):
		case <-ctx.Done():
		}
		if task, err = ts.find(ctx, id, of.Owner); err != nil {
			return TaskState{}, err
		}
	}
	state := TaskState{TaskDetails: detailsOf(task), owner: of.Owner, elicitation: task.Elicitation, status: task.Status,
		isBusy: task.IsLeased || isRunnable(task), isDue: task.IsDue}
	if task.IsUnread {
		state.Confirm = func() { ts.confirm(task.Key) }
	}
	return state, nil
}

// confirm says that its client has got it. What it may not have got is not delivered, and the next one who reads it confirms it.
func (ts *Tasks) confirm(key internals.TaskKey) {
	end, err := ts.a.instance.Internals(internals.Permit{}).Start()
	if err != nil {
		return
	}
	go func() {
		defer end()
		ts.rows.Confirm(context.Background(), key)
	}()
}

// Update keeps what a client has answered. What nobody asks for, or what is no answer, is ignored.
func (ts *Tasks) Update(ctx context.Context, id string, responses map[string]json.RawMessage, of TaskRequest) error {
	task, err := ts.find(ctx, id, of.Owner)
	if err != nil {
		return err
	}
	for _, key := range outstanding(task) {
		answer, isAnswered := responses[keyIn(task, key)]
		var said struct{ Action urlmode.Action }
		isAction := json.Unmarshal(answer, &said) == nil && slices.Contains([]urlmode.Action{urlmode.Accept, urlmode.Decline, urlmode.Cancel}, said.Action)
		if !isAnswered || task.Call.IsOwn && !isAction {
			continue
		}
		if len(answer) > limits.TaskCallMax/4 {
			return ErrTaskInput
		}
		isFirst, err := ts.rows.Answer(ctx, task, key, answer)
		if err != nil {
			return err
		}
		if isFirst && task.Call.IsOwn {
			k := asking{a: ts.a, call: Call{Client: of.Client}, request: question{ToolRequest: ToolRequest{Request: urlmode.Request{Owner: of.Owner}}}}
			ended, _ := refusalOf(string(said.Action))
			if ended == "" {
				ended = accepted
			}
			k.endAsk(ctx, task.Elicitation, ended)
		}
	}
	return nil
}

// Cancel ends the task alone. What its user has begun goes on, and the next call is given it.
func (ts *Tasks) Cancel(ctx context.Context, id string, owner urlmode.Owner) error {
	if !taskIDForm.MatchString(id) {
		return ErrTaskNotFound
	}
	known, err := ts.rows.Cancel(ctx, internals.TaskKey{ID: id, Subject: owner.Subject, Session: owner.Session})
	if err == nil && !known {
		err = ErrTaskNotFound
	}
	return err
}

// Moved waits until the elicitation of a task has moved, or until it is time to look. It is false if that will not be seen here, because the
// context has ended or the instance was closed.
func (ts *Tasks) Moved(ctx context.Context, state TaskState) bool {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	look := limits.TaskLook
	if state.isBusy {
		look = limits.TaskPoll
	}
	moved, closed := make(chan struct{}), make(chan struct{})
	if !state.isDue {
		go func() {
			waiting, end := context.WithCancel(ctx)
			defer end()
			_, err := ts.a.instance.WaitWith(waiting, state.elicitation, state.owner, urlmode.WaitOptions{Progress: func(now urlmode.Progress) {
				if string(now) != state.status && now != urlmode.ProgressAttemptFailed {
					end()
				}
			}})
			switch {
			case errors.Is(err, urlmode.ErrClosed):
				close(closed)
			case err == nil || waiting.Err() != nil:
				close(moved)
			}
		}()
	}
	soonest := time.After(limits.TaskPoll)
	select {
	case <-moved:
	case <-time.After(look):
	case <-closed:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-soonest:
		return true
	case <-ctx.Done():
		return false
	}
}

func (ts *Tasks) find(ctx context.Context, id string, owner urlmode.Owner) (*internals.Task, error) {
	if !taskIDForm.MatchString(id) {
		return nil, ErrTaskNotFound
	}
	task, err := ts.rows.Read(ctx, internals.TaskKey{ID: id, Subject: owner.Subject, Session: owner.Session})
	if err == nil && task == nil {
		err = ErrTaskNotFound
	}
	return task, err
}

// run runs the tool. Close waits for it.
func (ts *Tasks) run(ctx context.Context, task *internals.Task, of TaskRequest) {
	end, err := ts.a.instance.Internals(internals.Permit{}).Start()
	if err != nil {
		return
	}
	defer end()
	lease, err := ts.rows.Begin(ctx, task, 0)
	if err != nil || lease == 0 {
		return
	}
	renewing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for ticker := time.Tick(limits.TaskLease / 3); ; {
			select {
			case <-ticker:
				ts.rows.Begin(renewing, task, lease)
			case <-renewing.Done():
				return
			}
		}
	}()
	round := &TaskRound{isRun: true}
	defer round.end(false)
	call := TaskedCall{Tool: task.Call.Tool, Arguments: task.Call.Arguments, Responses: maps.Clone(task.Call.Responses), State: task.Call.State}
	if !task.Call.IsOwn {
		if call.Responses == nil {
			call.Responses = map[string]json.RawMessage{}
		}
		maps.Copy(call.Responses, task.Answers)
	}
	result, failed := of.Run(ctx, call, round)
	ts.keep(ctx, task, lease, round, result, failed)
}

// keep keeps what a run has returned: its end, or what it waits for from now on. If PostgreSQL cannot be told, the next one who asks runs the
// tool again when the lease is over.
func (ts *Tasks) keep(ctx context.Context, task *internals.Task, lease int, round *TaskRound, result, failed json.RawMessage) {
	asks := requiresInput(result)
	isKept := false
	var err error
	if round.isUndone || failed == nil && asks != nil {
		var next *internals.NextCall
		if next, err = nextOf(task, round, asks); err == nil {
			isKept, err = ts.rows.Continue(ctx, task, lease, next)
		}
	} else if result != nil || failed != nil {
		made := internals.TaskResult{Result: result}
		if failed != nil {
			made = internals.TaskResult{Error: failed}
		}
		var ended bool
		if ended, isKept, err = ts.rows.End(ctx, task, lease, made, round.claims); ended {
			round.end(true)
		}
	}
	if err == nil && !isKept { // Nobody gets what the tool has returned, so that what it was made of stays claimable.
		ts.rows.End(ctx, task, lease, unkeptResult, nil)
	}
}

// nextOf is nil if the task waits as before.
func nextOf(task *internals.Task, round *TaskRound, asks *inputRequired) (*internals.NextCall, error) {
	if asks == nil || asks.RequestState == task.Call.State {
		return nil, nil
	}
	next := task.Call
	next.State, next.Requests = asks.RequestState, map[string]json.RawMessage{}
	if asks.InputRequests != nil {
		if err := json.Unmarshal(asks.InputRequests, &next.Requests); err != nil {
			return nil, err
		}
	}
	if round.awaited != nil {
		return &internals.NextCall{Elicitation: round.awaited.elicitation, Call: round.awaited.kept(next)}, nil
	}
	if len(next.Requests) > 0 {
		next.IsOwn, next.Text = false, ""
	}
	return &internals.NextCall{Elicitation: task.Elicitation, Call: next}, nil
}

func isRunnable(task *internals.Task) bool {
	return task.IsDue && !task.IsLeased && (task.Call.IsOwn || len(outstanding(task)) == 0)
}

// outstanding is what the client has not answered yet.
func outstanding(task *internals.Task) (keys []string) {
	if task.State != "open" {
		return nil
	}
	for key := range task.Call.Requests {
		if _, isAnswered := task.Answers[key]; !isAnswered {
			keys = append(keys, key)
		}
	}
	return keys
}

// keyIn makes a key: none is used twice in the life of a task.
func keyIn(task *internals.Task, key string) string { return strconv.Itoa(task.Round) + "." + key }

func detailsOf(task *internals.Task) TaskDetails {
	created, expires := task.CreatedAt.Round(time.Millisecond), task.ExpiresAt.Round(time.Millisecond)
	details := TaskDetails{
		TaskID: task.Key.ID, CreatedAt: created.UTC().Format(isoForm), LastUpdatedAt: task.UpdatedAt.Round(time.Millisecond).UTC().Format(isoForm),
		TTLMs: expires.Sub(created).Milliseconds(), PollIntervalMs: limits.TaskPoll.Milliseconds(),
	}
	switch task.State {
	case "cancelled":
		details.Status = "cancelled"
	case "ended":
		details.Status = "completed"
		switch {
		case task.Withheld != "":
			details.Result = completedResult(failureEnd(urlmode.Cancel, task.Withheld).Result)
		case task.Result != nil && task.Result.Error != nil:
			details.Status, details.Error = "failed", task.Result.Error
		case task.Result != nil:
			details.Result = completedResult(task.Result.Result)
		}
	default:
		openDetails(task, &details)
	}
	return details
}

func openDetails(task *internals.Task, details *TaskDetails) {
	isProcessing := task.Status == string(urlmode.Processing)
	switch {
	case isProcessing:
		details.StatusMessage = progressMessage(urlmode.Kind(task.Call.Kind), urlmode.ProgressProcessing)
	case !task.IsDue:
		details.StatusMessage = task.Call.Text
	}
	details.Status = "working"
	// Nobody needs to open what is being worked on.
	if keys := outstanding(task); len(keys) > 0 && (!task.Call.IsOwn || !task.IsDue && !isProcessing) {
		details.Status, details.InputRequests = "input_required", map[string]json.RawMessage{}
		for _, key := range keys {
			details.InputRequests[keyIn(task, key)] = task.Call.Requests[key]
		}
	}
}

// completedResult has the resultType of a result that is kept.
func completedResult(result json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(result, &members) != nil || members["resultType"] != nil {
		return result
	}
	members["resultType"] = json.RawMessage(`"complete"`)
	made, err := json.Marshal(members)
	if err != nil {
		return result
	}
	return made
}

// SPDX-License-Identifier: MIT

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/adapter"
	"urlmode.example/urlmode/internal/limits"
)

// The SDK knows no notifications/tasks: its servers send no others than its own, and drop the taskIds of a request (lib/PROTOCOL.md, "Calls as
// tasks"). So Handler reads them, and the notifications are written into the stream of the request, between those of the SDK.

const (
	listenMethod = "subscriptions/listen"
)

// listenRequest is one that names tasks.
type listenRequest struct {
	id      json.RawMessage
	taskIDs []string
}

// listenIn is nil if a request does not want to listen to tasks. It can be read again.
func listenIn(r *http.Request) *listenRequest {
	if r.Header.Get("Mcp-Method") != listenMethod || r.ContentLength < 0 || r.ContentLength > limits.ListenRequestMax {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	var message struct {
		ID     json.RawMessage
		Params struct {
			Notifications struct {
				TaskIDs []any `json:"taskIds"`
			}
		}
	}
	if err != nil || json.Unmarshal(body, &message) != nil || len(message.Params.Notifications.TaskIDs) == 0 {
		return nil
	}
	wanted := &listenRequest{id: message.ID}
	for _, each := range message.Params.Notifications.TaskIDs[:min(limits.TaskIDsMax, len(message.Params.Notifications.TaskIDs))] {
		if id, ok := each.(string); ok && !slices.Contains(wanted.taskIDs, id) {
			wanted.taskIDs = append(wanted.taskIDs, id)
		}
	}
	return wanted
}

// listeningKey is the key of the *listening of a request, in the context of the SDK's handler.
type listeningKey struct{}

// listening is a client that listens to its tasks.
type listening struct {
	id           json.RawMessage // of its request
	stream       *stream
	tasks        []adapter.TaskState
	acknowledged chan struct{}
}

// listen answers a client that listens to tasks. What it listens to beside them, the SDK serves.
func (h *taskHandler) listen(ctx context.Context, request *sdk.SubscriptionsListenRequest) (sdk.Result, error) {
	of := h.tools.knownConnection(request.Extra)
	if of == nil || of.listen == nil {
		return h.next(ctx, listenMethod, request)
	}
	if !declaresTasks(request.Params.Meta) {
		return nil, tasksRequired()
	}
	asking := h.requestOf(request.Session, request.Extra, request.Params.Meta)
	if !h.tools.beginListen(asking.Owner.Subject) {
		return h.next(ctx, listenMethod, request)
	}
	defer h.tools.endListen(asking.Owner.Subject)
	l := &listening{id: of.listen.id, stream: of.stream, acknowledged: make(chan struct{})}
	for _, id := range of.listen.taskIDs {
		if state, err := h.tasks.Get(ctx, id, asking); err == nil {
			l.tasks = append(l.tasks, state)
		}
	}
	if len(l.tasks) == 0 {
		return h.next(ctx, listenMethod, request)
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(of.ctx, stop)()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		select {
		case <-l.acknowledged:
			l.follow(following, h.tasks, asking)
		case <-following.Done():
		}
	}()
	// Its answer is the last word, which ours come before.
	answer, err := h.next(context.WithValue(ctx, listeningKey{}, l), listenMethod, request)
	select {
	case <-l.acknowledged:
	default:
		stop() // It was refused.
	}
	<-followed
	return answer, err
}

// acknowledge tells the client to which tasks it listens.
func acknowledge(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		l, isListening := ctx.Value(listeningKey{}).(*listening)
		given, isAcknowledgement := request.GetParams().(*sdk.SubscriptionsAcknowledgedParams)
		session, ok := request.GetSession().(*sdk.ServerSession)
		if !isListening || !isAcknowledgement || !ok {
			return next(ctx, method, request)
		}
		params := &acknowledgedParams{ParamsBase: sdk.ParamsBase{Meta: given.Meta}}
		params.Notifications.NotificationSubscriptions = given.Notifications
		for _, each := range l.tasks {
			params.Notifications.TaskIDs = append(params.Notifications.TaskIDs, each.TaskID)
		}
		answer, err := next(ctx, method, &sdk.ServerRequest[*acknowledgedParams]{Session: session, Params: params})
		if err == nil {
			close(l.acknowledged)
		}
		return answer, err
	}
}

// acknowledgedParams are those of the SDK, and tasks.
type acknowledgedParams struct {
	sdk.ParamsBase
	Notifications struct {
		sdk.NotificationSubscriptions
		TaskIDs []string `json:"taskIds"`
	} `json:"notifications"`
}

// follow tells the client what becomes of its tasks, until all of them have ended.
func (l *listening) follow(ctx context.Context, tasks *adapter.Tasks, asking adapter.TaskRequest) {
	var all sync.WaitGroup
	for _, state := range l.tasks {
		all.Go(func() { l.followTask(ctx, tasks, asking, state) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.Wait()
	}()
	for ticker := time.Tick(limits.TaskLook / 2); ; {
		select {
		case <-ticker:
			l.stream.send(": keepalive")
		case <-ended:
			return
		}
	}
}

func (l *listening) followTask(ctx context.Context, tasks *adapter.Tasks, asking adapter.TaskRequest, state adapter.TaskState) {
	for last := ""; ; {
		now, err := json.Marshal(state.TaskDetails)
		if err != nil {
			return
		}
		if string(now) != last {
			if l.notify(state.TaskDetails) != nil {
				return
			}
			last = string(now)
		}
		if state.Confirm != nil {
			state.Confirm()
		}
		if !state.IsOpen() || !tasks.Moved(ctx, state) {
			return
		}
		if state, err = tasks.Get(ctx, state.TaskID, asking); err != nil {
			return // It is over.
		}
	}
}

func (l *listening) notify(details adapter.TaskDetails) error {
	type notified struct {
		Meta map[string]json.RawMessage `json:"_meta"`
		adapter.TaskDetails
	}
	message, err := json.Marshal(struct {
		JSONRPC string   `json:"jsonrpc"`
		Method  string   `json:"method"`
		Params  notified `json:"params"`
	}{"2.0", "notifications/tasks", notified{map[string]json.RawMessage{sdk.MetaKeySubscriptionID: l.id}, details}})
	if err != nil {
		return err
	}
	return l.stream.send("event: message\ndata: " + string(message))
}

// beginListen is false if too many listen, of all users or of this one. Who is not told asks.
func (t *Tools) beginListen(user string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := 0
	for _, each := range t.listens {
		all += each
	}
	if all >= limits.TaskListensMax || t.listens[user] >= limits.TaskOwnerListensMax {
		return false
	}
	t.listens[user]++
	return true
}

func (t *Tools) endListen(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listens[user]--; t.listens[user] == 0 {
		delete(t.listens, user)
	}
}

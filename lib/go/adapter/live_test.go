// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

func account() ToolRequest {
	return ToolRequest{Message: "Connect.", Request: urlmode.Request{Provider: "github", Kind: urlmode.OAuth,
		Owner: adaptertest.Someone(), TargetURL: "https://provider.example/authorize?client_id=a"}}
}

// elicitation is a session whose client does not answer, and what it was asked for.
type elicitation struct {
	mu   sync.Mutex
	ids  []string
	open int
}

func (a *elicitation) call(life context.Context) Call {
	return Call{Client: Client{Name: "tests", URL: true}, Channel: &Channel{
		Session: a, Life: life,
		Request: func(ctx context.Context, ask Ask) (string, error) {
			a.mu.Lock()
			a.ids = append(a.ids, ask.ElicitationID)
			a.open++
			a.mu.Unlock()
			<-ctx.Done()
			a.mu.Lock()
			a.open--
			a.mu.Unlock()
			return "", ctx.Err()
		},
		Complete: func(context.Context, string) error { return nil }, CompleteLater: func(context.Context, string) error { return nil },
	}}
}

func (a *elicitation) now() (count, open int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids), a.open
}

func TestTraceOfTheCall(t *testing.T) {
	m, request := adaptertest.Open(t), account()
	operator := adaptertest.AsOperator(t)
	const ofCall, ofTool = adaptertest.Trace, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, row := range [][2]string{{"", ofCall}, {ofTool, ofTool}} {
		request := request
		request.Traceparent, request.ID, request.ResumeKey = row[0], "", rand.Text()
		end, err := New(m, Options{}).Elicit(t.Context(), Call{Traceparent: ofCall}, request, nil)
		if err != nil || !strings.Contains(string(end.Result), "The link works for") {
			t.Fatalf("%s, %v", end.Result, err)
		}
		var kept string
		if err := operator.QueryRow(t.Context(), "SELECT traceparent FROM urlmode.elicitation WHERE subject = $1 AND resume_key = $2",
			request.Owner.Subject, request.ResumeKey).Scan(&kept); err != nil || kept != row[1] {
			t.Errorf("%s, %v", kept, err)
		}
	}
}

// A client that calls and cancels without end has no request and no goroutine for each call. What is left is one
// wait, to tell the session that the elicitation is completed.
func TestCancelledCallsKeepNothing(t *testing.T) {
	m, request, session := adaptertest.Open(t), account(), &elicitation{}
	a := New(m, Options{})
	life, end := context.WithCancel(t.Context())
	defer end()
	calls := func(from, count int) {
		for i := range count {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := a.Elicit(ctx, session.call(life), request, nil)
				ended <- err
			}()
			adaptertest.Until(t, "the client is asked", func() bool { count, _ := session.now(); return count == from+i+1 })
			cancelled := errors.New("the client has cancelled")
			cancel(cancelled)
			if err := <-ended; !errors.Is(err, cancelled) {
				t.Fatal(err)
			}
		}
		adaptertest.Until(t, "the requests are taken back", func() bool { _, open := session.now(); return open == 0 })
	}
	calls(0, 5)
	goroutines := runtime.NumGoroutine()
	calls(5, 50)
	adaptertest.Until(t, "the goroutines of the calls end", func() bool { return runtime.NumGoroutine() < goroutines+25 })
	if waits := m.OpenWaits(); waits != 1 || a.Sessions() != 1 {
		t.Errorf("%d waits are open, and something is kept for %d sessions", waits, a.Sessions())
	}
	end()
	adaptertest.Until(t, "the session is forgotten", func() bool { return m.OpenWaits() == 0 && a.Sessions() == 0 })
}

// The code of an account is good once, so that its body asks for nothing itself: no round can be sent again for it.
func TestBodyOfAnAccountThatAsksItself(t *testing.T) {
	m, request, runs := adaptertest.Open(t), account(), 0
	request.Round = time.Millisecond
	call := Call{Client: Client{Name: "tests"}, Retry: &RetriedCall{}}
	body := func(context.Context, Accepted) (json.RawMessage, error) {
		runs++
		return json.RawMessage(`{"resultType":"input_required","inputRequests":{},"requestState":"mine"}`), nil
	}
	a := New(m, Options{})
	if end, err := a.Elicit(t.Context(), call, request, body); err != nil || !strings.Contains(string(end.Result), "The link works for") {
		t.Fatalf("%s, %v", end.Result, err)
	}
	adaptertest.Complete(t, m, request.Owner, urlmode.Answer{Action: urlmode.Accept})
	if end, err := a.Elicit(t.Context(), call, request, body); err == nil || !strings.Contains(err.Error(), "good once") || end.State != "" || runs != 1 {
		t.Fatalf("%q, %v, after %d runs", end.State, err, runs)
	}
}

// A client that does not read its progress holds no call longer than its round.
func TestProgressThatNobodyReads(t *testing.T) {
	m, request, operator := adaptertest.Open(t), account(), adaptertest.AsOperator(t)
	request.ResumeKey, request.Round = "one", 2*time.Second
	made, err := m.Create(t.Context(), request.Request)
	if err != nil {
		t.Fatal(err)
	}
	isOpened := make(chan struct{}, 10)
	stuck := func(ctx context.Context, _ float64, message string) error {
		if message == progressTexts[string(urlmode.ProgressOpened)] {
			isOpened <- struct{}{}
			<-ctx.Done()
		}
		return nil
	}
	ended := make(chan End, 1)
	go func() {
		end, err := New(m, Options{}).Elicit(t.Context(), Call{Progress: stuck}, request, nil)
		if err != nil {
			t.Error(err)
		}
		ended <- end
	}()
	adaptertest.Until(t, "the call waits", func() bool { return m.OpenWaits() == 1 })
	if _, err := operator.Exec(t.Context(), `SELECT urlmode.open(ARRAY[id], ARRAY[binding], '{github}', ARRAY[decode(repeat('00', 16), 'hex')])
		FROM urlmode.elicitation WHERE id = $1::text::uuid`, made.ElicitationID); err != nil {
		t.Fatal(err)
	}
	<-isOpened
	select {
	case end := <-ended:
		if !strings.Contains(string(end.Result), "the user has opened the page") {
			t.Errorf("%s", end.Result)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the call does not end")
	}
}

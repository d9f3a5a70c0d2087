// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
)

func deletion(me urlmode.Owner) ApprovalToolRequest {
	return ApprovalToolRequest{Message: "Somebody else must agree.", Round: 100 * time.Millisecond, ApprovalRequest: adaptertest.Deletion(me)}
}

// The approvers are told once. What they cannot be told of is cancelled, and the next call tells them of another one.
func TestLinkIsSentOnce(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a, request := New(m, Options{}), deletion(me)
	var sent []ApprovalLink
	failed := errors.New("no mail")
	request.SendLink = func(_ context.Context, link ApprovalLink) error {
		sent = append(sent, link)
		return failed
	}
	if _, err := a.AskApproval(t.Context(), Call{}, request, nil); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	request.SendLink = func(_ context.Context, link ApprovalLink) error {
		sent = append(sent, link)
		panic("no mail")
	}
	func() {
		defer func() { recover() }()
		a.AskApproval(t.Context(), Call{}, request, nil)
	}()
	for _, link := range sent {
		outcome, err := m.WaitWith(t.Context(), link.ElicitationID, me, urlmode.WaitOptions{Once: true})
		if err != nil || outcome.Action != urlmode.Cancel || outcome.Reason != "not_sent" {
			t.Fatalf("%v, %v", outcome, err)
		}
	}
	// A client that cancels the call does not stop it.
	ctx, cancel := context.WithCancel(t.Context())
	request.SendLink = func(sending context.Context, link ApprovalLink) error {
		cancel()
		sent = append(sent, link)
		return sending.Err()
	}
	if _, err := a.AskApproval(ctx, Call{}, request, nil); err != nil {
		t.Fatal(err)
	}
	end, err := a.AskApproval(t.Context(), Call{Client: Client{URL: true}, Retry: &RetriedCall{}}, request, nil)
	if err != nil || len(sent) != 3 || !strings.Contains(string(end.Result), sent[2].ElicitationID) || !strings.Contains(string(end.Result), sent[2].URL) {
		t.Fatalf("%d were sent: %s, %v", len(sent), end.Result, err)
	}
}

// What an approver has said is told to the next call, if nobody hears it from this one.
func TestDecisionThatNobodyHears(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a, request := New(m, Options{}), deletion(me)
	request.Others, request.Approvers, request.ID = false, []string{"bob"}, adaptertest.NewID()
	if _, err := a.AskApproval(t.Context(), Call{}, request, nil); err != nil {
		t.Fatal(err)
	}
	decision := map[string]any{"approver": "bob", "comment": "No", "decided_at": "2026-11-23T12:00:00.000Z"}
	if _, err := m.Complete(t.Context(), request.ID, me, urlmode.Answer{Action: urlmode.Decline, Reason: "declined", Result: decision}); err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if end, err := a.AskApproval(t.Context(), Call{Connection: gone}, request, nil); !errors.Is(err, urlmode.ErrClientGone) {
		t.Fatalf("%s, %v", end.Result, err)
	}
	end, err := a.AskApproval(t.Context(), Call{}, request, nil)
	if err != nil || !strings.Contains(string(end.Result), "Not done: bob declined: “No”.") {
		t.Fatalf("%s, %v", end.Result, err)
	}
}

// With StepUp the outcome says when and how its approver has signed in for it.
func TestSignInForADecision(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	request := deletion(me).ApprovalRequest
	request.StepUp, request.ID = true, adaptertest.NewID()
	if _, err := m.CreateApproval(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	decision := map[string]any{"approver": "bob", "decided_at": "2026-11-23T12:00:00.000Z", "signed_in_at": "2026-11-23T11:59:58.000Z",
		"signed_in_by": "pwd otp"}
	if _, err := m.Complete(t.Context(), request.ID, me, urlmode.Answer{Action: urlmode.Decline, Reason: "declined", Result: decision}); err != nil {
		t.Fatal(err)
	}
	outcome, err := m.Wait(t.Context(), request.ID, me)
	if err != nil || !outcome.SignedInAt.Equal(time.Date(2026, 11, 23, 11, 59, 58, 0, time.UTC)) || outcome.SignedInBy != "pwd otp" {
		t.Errorf("%v %q, %v", outcome.SignedInAt, outcome.SignedInBy, err)
	}
}

// The body gets what the user has typed. If it fails, the next call gives it the same, and one after that asks again.
func TestWhatWasTyped(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a, request := New(m, Options{}), InputToolRequest{Message: "Your key.", InputRequest: adaptertest.Key(me, adaptertest.NewID())}
	first, err := a.CollectInput(t.Context(), Call{}, request, nil)
	if err != nil || !strings.Contains(string(first.Result), "To fill in the form, the user opens this link") {
		t.Fatalf("%s, %v", first.Result, err)
	}
	adaptertest.Type(t, m, me, request.ID, "sk-1")
	failed := errors.New("the vault is full")
	body := func(_ context.Context, accepted Accepted) (json.RawMessage, error) { return nil, failed }
	if _, err := a.CollectInput(t.Context(), Call{}, request, body); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	end, err := a.CollectInput(t.Context(), Call{}, request, func(_ context.Context, accepted Accepted) (json.RawMessage, error) {
		if accepted.Values["api_key"] != "sk-1" || accepted.ElicitationID != request.ID || accepted.ReturnURL != "" || accepted.Fence == 0 {
			t.Errorf("%+v", accepted)
		}
		return json.RawMessage(`"stored"`), nil
	})
	if err != nil || string(end.Result) != `"stored"` {
		t.Fatalf("%s, %v", end.Result, err)
	}
	adaptertest.UntilConfirmed(t, request.ID)
	request.ID = adaptertest.NewID()
	if end, err = a.CollectInput(t.Context(), Call{}, request, nil); err != nil || !strings.Contains(string(end.Result), request.ID) {
		t.Fatalf("%s, %v", end.Result, err)
	}
}

// A requestState is bound to the form, and a call that verifies goes on with none that does not.
func TestStateOfAForm(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a, request := New(m, Options{}), InputToolRequest{Message: "Your key.", Round: 100 * time.Millisecond, InputRequest: adaptertest.Key(me, "")}
	call := Call{Client: Client{URL: true}, Retry: &RetriedCall{}}
	end, err := a.CollectInput(t.Context(), call, request, nil)
	if err != nil || end.State == "" || end.Ask == nil || !strings.HasPrefix(end.Ask.URL, adaptertest.BaseURL+"/connect/intake?state=") {
		t.Fatalf("%+v, %v", end, err)
	}
	call.Retry = &RetriedCall{State: end.State, Answer: "accept"}
	other := request
	other.Form.Title = urlmode.Text("Another")
	verified := request
	verified.Verify = func(context.Context, urlmode.Typed) (*urlmode.Problem, error) { return nil, nil }
	for _, each := range []InputToolRequest{other, verified} {
		if _, err := a.CollectInput(t.Context(), call, each, nil); !errors.Is(err, urlmode.ErrRequestState) {
			t.Errorf("%v", err)
		}
	}
	if again, err := a.CollectInput(t.Context(), call, request, nil); err != nil || !strings.Contains(string(again.Result), end.Ask.ElicitationID) {
		t.Fatalf("%s, %v", again.Result, err)
	}
}

// What is typed after the call is verified as long as the session lives, also if its client cannot be told of the end.
func TestSessionVerifies(t *testing.T) {
	m, me := adaptertest.Open(t), adaptertest.Someone()
	a, session := New(m, Options{}), &elicitation{}
	life, end := context.WithCancel(t.Context())
	defer end()
	call := session.call(life)
	call.Channel.CompleteLater = nil
	for i, verify := range []func(context.Context, urlmode.Typed) (*urlmode.Problem, error){
		nil, func(context.Context, urlmode.Typed) (*urlmode.Problem, error) { return nil, nil },
	} {
		request := InputToolRequest{Message: "Your key.", InputRequest: adaptertest.Key(me, ""), ByError: true, Verify: verify}
		var required *RequiredError
		if _, err := a.CollectInput(t.Context(), call, request, nil); !errors.As(err, &required) {
			t.Fatal(err)
		}
		adaptertest.Until(t, "the session waits, if it verifies", func() bool { return m.OpenWaits() == i })
	}
	end()
	adaptertest.Until(t, "the session is forgotten", func() bool { return m.OpenWaits() == 0 && a.Sessions() == 0 })
}

func TestMistakesInAForm(t *testing.T) {
	a := New(nil, Options{})
	_, input := a.CollectInput(t.Context(), Call{}, InputToolRequest{Message: "Your key."}, nil)
	_, message := a.CollectInput(t.Context(), Call{}, InputToolRequest{InputRequest: adaptertest.Key(adaptertest.Someone(), "")}, nil)
	both := deletion(adaptertest.Someone())
	both.Approvers = []string{"bob"}
	_, approvers := a.AskApproval(t.Context(), Call{}, both, nil)
	for i, err := range []error{input, message, approvers} {
		starts := []string{"form/title ", "Message ", "Approvers "}[i]
		if !errors.Is(err, urlmode.ErrArgument) || !strings.HasPrefix(err.Error(), starts) {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatACallSaysOfForms(t *testing.T) {
	var all comparison
	statuses := []urlmode.Status{urlmode.Pending, urlmode.Opened}
	for _, others := range []bool{true, false} {
		for _, isSent := range []bool{true, false} {
			request := question{ToolRequest: ToolRequest{Message: "Please.", Request: urlmode.Request{Kind: urlmode.Approval}}, others: others}
			approver, send := "'others'", "undefined"
			if !others {
				request.approvers, approver = []string{"bob", "grace"}, "['bob', 'grace']"
			}
			if isSent {
				request.sendLink, send = func(context.Context, ApprovalLink) error { return nil }, "() => {}"
			}
			var ends []End
			for _, status := range statuses {
				elicitation := urlmode.Elicitation{URL: link, ExpiresAt: now.Add(time.Hour)}
				elicitation.ElicitationID = id
				ends = append(ends, approversEnd(request, "Reports", elicitation, status, now))
			}
			all.add(t, quoted(t, statuses)+".map((each) => messages.approversResult({ urlmode, message: 'Please.', kind: 'approval', approver: "+approver+
				", sendLink: "+send+" }, { elicitationId: '"+id+"', approvalUrl: '"+link+"', expiresAt: new Date(Date.now() + 3_600_000) }, each))", ends)
		}
	}
	comments := []string{"", "Not yet"}
	var ends []End
	for _, comment := range comments {
		ends = append(ends, declinedEnd(urlmode.Outcome{Approver: "bob", Comment: comment}))
	}
	all.add(t, quoted(t, comments)+".map((comment) => messages.declinedResult({ approver: 'bob', comment }))", ends)
	all.check(t)
}

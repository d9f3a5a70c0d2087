// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

const (
	source = "../../node/src/adapters/"
	id     = "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
	link   = "https://c.example/connect/stripe?state=a"
)

var now = time.Unix(1_800_000_000, 0)

// ofNode is what an expression of the module messages is in the Node package.
func ofNode(t *testing.T, expression string) any {
	t.Helper()
	program := `import { setInternals } from './core/internals.js';
		Date.now = () => ` + "1800000000000" + `;
		const urlmode = {};
		setInternals(urlmode, { name: 'Reports' });
		const messages = await import('./adapters/messages.js');
		console.log(JSON.stringify(` + expression + `));`
	command := exec.Command("node", "--input-type=module", "-e", program)
	command.Dir = "../../node/src"
	said, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, said)
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

// comparison is of what Go says and what expressions of Node's package say, each a list, in one process of Node.
type comparison struct {
	ours   []any
	theirs []string
}

func (c *comparison) add(t *testing.T, expression string, ends []End) {
	t.Helper()
	for _, end := range ends {
		c.ours = append(c.ours, decoded(t, end.Result))
	}
	c.theirs = append(c.theirs, "..."+expression)
}

func (c *comparison) check(t *testing.T) {
	t.Helper()
	theirs := ofNode(t, "["+strings.Join(c.theirs, ", ")+"]").([]any)
	if len(theirs) != len(c.ours) {
		t.Fatalf("Go says %d things, and Node %d", len(c.ours), len(theirs))
	}
	for i, ours := range c.ours {
		if !reflect.DeepEqual(ours, theirs[i]) {
			t.Errorf("Go has %v\nNode has %v", ours, theirs[i])
		}
	}
}

func quoted(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhyACallHasFailed(t *testing.T) {
	cases := [][2]string{{"cancel", ""}, {"decline", ""}, {"cancel", "unknown_reason"}}
	for reason := range reasonsTexts {
		cases = append(cases, [2]string{"cancel", reason})
	}
	var ends []End
	for _, each := range cases {
		ends = append(ends, failureEnd(urlmode.Action(each[0]), each[1]))
	}
	var all comparison
	all.add(t, quoted(t, cases)+".map((each) => messages.failureResult(...each))", ends)
	all.check(t)
}

func TestWhatACallSaysOfAnOpenElicitation(t *testing.T) {
	var all comparison
	for _, kind := range []urlmode.Kind{urlmode.OAuth, urlmode.Payment, urlmode.Signature, urlmode.Input, urlmode.Approval} {
		request := ToolRequest{Message: "Please <sign> & pay.", Request: urlmode.Request{Kind: kind}}
		expected := "undefined"
		if kind == urlmode.Payment {
			request.Expected, expected = urlmode.Expected{Amount: 1050, Currency: "EUR"}, "{ amount: 1050, currency: 'EUR' }"
		}
		options := "{ urlmode, message: 'Please <sign> & pay.', kind: '" + string(kind) + "', expected: " + expected + " }"
		statuses := []urlmode.Status{urlmode.Pending, urlmode.Opened, urlmode.Processing, "claimed"}
		var ends []End
		for _, status := range statuses {
			ends = append(ends, openEnd(request, id, status))
		}
		all.add(t, quoted(t, statuses)+".map((each) => messages.openResult("+options+", { elicitationId: '"+id+"' }, each))", ends)
		lasts := []int64{-5, 20, 60, 89, 91, 3_569, 3_571, 7_169, 7_170, 7_200, 10_000, 172_769, 172_770, 200_000}
		ends = nil
		for _, last := range lasts {
			elicitation := urlmode.Elicitation{URL: link, ExpiresAt: now.Add(time.Duration(last) * time.Second)}
			elicitation.ElicitationID = id
			ends = append(ends, linkEnd(request, "Reports", elicitation, urlmode.Opened, now))
		}
		reasons := []string{clientDeclined, clientDismissed, clientFailed}
		var unopened []End
		for _, reason := range reasons {
			elicitation := urlmode.Elicitation{URL: link, ExpiresAt: now.Add(time.Minute)}
			elicitation.ElicitationID = id
			unopened = append(unopened, unopenedEnd(request, "Reports", elicitation, urlmode.Pending, reason, now))
		}
		all.add(t, quoted(t, reasons)+".map((each) => messages.linkResult("+options+", { elicitationId: '"+id+"', url: '"+link+
			"', expiresAt: new Date(Date.now() + 60000) }, 'pending', each))", unopened)
		all.add(t, quoted(t, lasts)+".map((last) => messages.linkResult("+options+", { elicitationId: '"+id+"', url: '"+link+
			"', expiresAt: new Date(Date.now() + last * 1000) }, 'opened'))", ends)
		names := []urlmode.Progress{"pending", "opened", "attempt_failed", "processing"}
		for _, name := range names {
			all.ours = append(all.ours, progressMessage(kind, name))
		}
		all.theirs = append(all.theirs, "..."+quoted(t, names)+".map((each) => messages.progressMessage('"+string(kind)+"', each))")
	}
	all.check(t)
}

func TestClients(t *testing.T) {
	no, yes := false, true
	a := New(nil, Options{Clients: []ClientFacts{
		{Name: "x", From: "1.2", Before: "2.0", URL: &yes, Round: time.Second, Rounds: 20}, {Name: "y", URL: &no},
		{Name: "texts", Ask: AskAsText}, {Name: "errs", Ask: AskByError}}})
	for _, row := range []struct {
		client    Client
		requested time.Duration
		want      capabilities
	}{
		{Client{Name: "z", URL: true}, 0, capabilities{true, true, 0, limits.Round}},
		{Client{Name: "x", Version: "1.2.0"}, 0, capabilities{false, true, urlmode.RoundsMax, time.Second}},
		{Client{Name: "x", Version: "1.10"}, time.Minute, capabilities{false, true, urlmode.RoundsMax, time.Minute}},
		{Client{Name: "x", Version: "1.1.9"}, 0, capabilities{false, false, 0, limits.Round}},
		{Client{Name: "x", Version: "2"}, 0, capabilities{false, false, 0, limits.Round}},
		{Client{Name: "texts", URL: true}, 0, capabilities{true, false, 0, limits.Round}},
		{Client{Name: "errs", URL: true}, 0, capabilities{true, true, 0, limits.Round}},
		{Client{Name: "y", URL: true}, 0, capabilities{true, false, 0, limits.Round}},
		{Client{Name: "claude-code", Version: "2.1.107", URL: true}, 0, capabilities{true, false, 0, limits.Round}},
		{Client{Name: "claude-code", Version: "2.1.108", URL: true}, 0, capabilities{true, true, 0, limits.Round}},
	} {
		if got := a.capabilities(row.client, row.requested); got != row.want {
			t.Errorf("%v: %v", row.client, got)
		}
	}
}

// A notice is sent once, and is kept as long as somebody uses it.
func TestNotices(t *testing.T) {
	a := New(nil, Options{})
	n := &a.notices
	var reported []string
	report := func(_ context.Context, id string) error {
		reported = append(reported, id)
		return nil
	}
	first, leave := n.use("session", "a")
	second, leaveToo := n.use("session", "a")
	other, leaveOther := n.use("session", "b")
	if first != second || first == other {
		t.Fatal("the notices of a session and an elicitation")
	}
	if !first.beginWatch() || second.beginWatch() {
		t.Error("it is watched twice, or not at all")
	}
	first.send(t.Context(), "a", report)
	second.send(t.Context(), "a", report)
	other.send(t.Context(), "b", report)
	if !slices.Equal(reported, []string{"a", "b"}) {
		t.Errorf("reported: %v", reported)
	}
	leave()
	leaveOther()
	if a.Sessions() != 1 {
		t.Error("a notice is used, and was dropped")
	}
	if leaveToo(); a.Sessions() != 0 {
		t.Error("a session is kept that nobody uses")
	}
	for range 10_000 {
		n.use(nil, "a")
	}
	if a.Sessions() != 0 {
		t.Error("something is kept without a session")
	}
}

func TestMistakes(t *testing.T) {
	_, err := New(nil, Options{}).Elicit(t.Context(), Call{}, ToolRequest{}, nil)
	if !errors.Is(err, urlmode.ErrArgument) {
		t.Error(err)
	}
}

func FuzzVersions(f *testing.F) {
	f.Add("2.1.108", "2.1")
	f.Fuzz(func(t *testing.T, one, other string) {
		facts := ClientFacts{Name: "x", From: one}
		if !facts.fits(Client{Name: "x", Version: one}) || (ClientFacts{Name: "x", Before: one}).fits(Client{Name: "x", Version: one}) {
			t.Fatalf("%q is before itself", one)
		}
		if one != "" && other != "" && facts.fits(Client{Name: "x", Version: other}) == (ClientFacts{Name: "x", Before: one}).fits(Client{Name: "x", Version: other}) {
			t.Fatalf("%q is both before %q and not, or neither", other, one)
		}
	})
}

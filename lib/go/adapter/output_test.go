// SPDX-License-Identifier: MIT

package adapter

import (
	"encoding/json"
	"errors"
	"testing"

	"urlmode.example/urlmode"
)

// A link is what a tool with an output schema may return: with its data only where these cannot be taken for a result of the body.
func TestFit(t *testing.T) {
	takesAll, takesNothing := func(any) error { return nil }, func(any) error { return errors.New("it does not fit") }
	link := linkEnd(ToolRequest{Message: "Pay."}, "Reports", urlmode.Elicitation{URL: link}, urlmode.Pending, now)
	refusal := failureEnd(urlmode.Decline, "")
	for name, row := range map[string]struct {
		output *Output
		end    End
		same   bool
	}{
		"no schema":                    {nil, link, true},
		"a schema without properties":  {&Output{json.RawMessage(`{"type":"object"}`), takesAll}, link, true},
		"a schema with elicitation":    {&Output{json.RawMessage(`{"properties":{"elicitation":{}}}`), takesAll}, link, true},
		"optional properties only":     {&Output{json.RawMessage(`{"properties":{"report":{}}}`), takesAll}, link, false},
		"a schema that does not fit":   {&Output{json.RawMessage(`{"properties":{"elicitation":{}}}`), takesNothing}, link, false},
		"a schema that is none":        {&Output{json.RawMessage(`true`), takesAll}, link, false},
		"a refusal, which has no data": {&Output{json.RawMessage(`{"properties":{"report":{}}}`), takesNothing}, refusal, true},
		"input is required":            {&Output{json.RawMessage(`{"properties":{"report":{}}}`), takesNothing}, End{State: "a"}, true},
	} {
		got := row.output.fit(row.end)
		var before, after sent
		if row.end.Result != nil {
			if json.Unmarshal(row.end.Result, &before) != nil || json.Unmarshal(got.Result, &after) != nil {
				t.Fatalf("%s: %s", name, got.Result)
			}
		}
		isError := after.IsError && after.Structured == nil && string(after.Content) == string(before.Content)
		if row.same != (string(got.Result) == string(row.end.Result)) || !row.same && !isError || got.State != row.end.State {
			t.Errorf("%s: %s", name, got.Result)
		}
	}
}

func TestCheck(t *testing.T) {
	output := &Output{json.RawMessage(`{}`), func(value any) error {
		if value != 1.0 {
			return errors.New("it is not 1")
		}
		return nil
	}}
	for result, fits := range map[string]bool{
		`{"content":[],"structuredContent":1}`: true, `{"content":[],"structuredContent":2}`: false, `{"content":[]}`: false,
		`{"content":[],"isError":true}`: true, `[]`: false,
	} {
		if err := output.Check(json.RawMessage(result)); (err == nil) != fits {
			t.Errorf("%s: %v", result, err)
		}
		if err := (*Output)(nil).Check(json.RawMessage(result)); err != nil {
			t.Errorf("%s, without a schema: %v", result, err)
		}
	}
}

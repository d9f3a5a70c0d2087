// SPDX-License-Identifier: MIT

package urlmodetest

import (
	"context"
	"encoding/json"
	"regexp"
	"sync"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

// script answers the statements of the package.
type script struct {
	instance *urlmode.Instance

	mu   sync.Mutex
	ends []End
	rows map[string]*row // by id
}

type row struct {
	provider, kind, status, action, reason, expected string
	result                                           []byte
	reference, currency                              *string
	amount                                           int64
}

var function = regexp.MustCompile(`urlmode\.(\w+)\(`)

// answers are those of the functions that return one value.
var answers = map[string]any{
	"hold": true, "renew_lease": "renewed", "fulfil_lease": "fulfilled", "begin_ask": "", "purge": int64(0), "purge_results": int64(0),
	"confirm_claim": true, "release_claim": true, "end_exchange": true, "release_unsent": true, "paid": false, "delivered": false,
}

// answer returns the rows of a statement.
func (s *script) answer(statement string, given parameters) [][]any {
	found := function.FindStringSubmatch(statement)
	if found == nil {
		return nil
	}
	switch name := found[1]; name {
	case "create_elicitation":
		return s.create(given)
	case "read_paid":
		return s.read(given.texts(0))
	case "resume_for":
		return repeat(len(given.blobs(0)), []any{"", "", "", "", nil, int64(0), nil})
	case "abandon":
		return repeat(len(given.texts(0)), []any{"completed"})
	case "settle":
		s.settle(given)
		return [][]any{{"completed"}}
	case "claim_at_once":
		return [][]any{{"claimed", int64(0)}}
	case "begin_lease":
		return [][]any{s.beginLease(given.text(0))}
	default:
		if value, ok := answers[name]; ok {
			return [][]any{{value}}
		}
		return nil
	}
}

func repeat(times int, of []any) (all [][]any) {
	for range times {
		all = append(all, of)
	}
	return all
}

// create ends each row before anybody knows of it, by Complete, which comes back as settle.
func (s *script) create(given parameters) (all [][]any) {
	providers, kinds, subjects, sessions, prices := given.texts(1), given.texts(2), given.texts(3), given.texts(4), given.texts(8)
	for i, id := range given.texts(0) {
		s.mu.Lock()
		s.rows[id] = &row{provider: providers[i], kind: kinds[i], status: "pending", expected: prices[i]}
		var end *End
		if len(s.ends) > 0 {
			end, s.ends = &s.ends[0], s.ends[1:]
		}
		s.mu.Unlock()
		outcome := "created"
		if end != nil && !s.end(id, urlmode.Owner{Subject: subjects[i], Session: sessions[i]}, *end) {
			outcome = "full" // an End that Complete refuses: the call fails
		}
		all = append(all, []any{time.Now().Add(limits.TTL), outcome})
	}
	return all
}

func (s *script) end(id string, owner urlmode.Owner, end End) bool {
	answer := urlmode.Answer{Action: end.Action, Reason: end.Reason, Result: end.Result}
	s.mu.Lock()
	made := *s.rows[id]
	s.mu.Unlock()
	if made.kind == string(urlmode.Payment) && end.Action == urlmode.Accept {
		var asked struct {
			Amount   int64
			Currency string
		}
		_ = json.Unmarshal([]byte(made.expected), &asked) // "any" is no price
		answer.Reference, answer.Amount, answer.Currency = end.Reference, end.Amount, end.Currency
		if answer.Reference == "" {
			answer.Reference = "test_" + id
		}
		if answer.Amount == 0 {
			answer.Amount = asked.Amount
		}
		if answer.Currency == "" {
			answer.Currency = asked.Currency
		}
	}
	_, err := s.instance.Complete(context.Background(), id, owner, answer)
	return err == nil
}

func (s *script) settle(given parameters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := s.rows[given.text(0)]
	if made == nil {
		return
	}
	made.status, made.action, made.reason, made.result = "completed", given.text(2), given.text(3), given.blob(4)
	if made.kind == string(urlmode.Payment) && made.action == string(urlmode.Accept) {
		made.amount, made.currency, made.reference = given.number(5), given.orNull(6), given.orNull(7)
	}
}

func (s *script) read(ids []string) (all [][]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if r := s.rows[id]; r != nil {
			all = append(all, []any{id, r.provider, r.kind, r.status, r.action, r.reason, false, r.result, nil, limits.TTL.Milliseconds(), r.expected, int64(0), "",
				int64(0), int64(0), int64(0), text(r.reference), int64(0), r.reason == "held", r.amount, text(r.currency), nil})
		}
	}
	return all
}

func (s *script) beginLease(id string) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, outcome := s.rows[id], "begun"
	switch {
	case r == nil:
		return []any{"unknown", "", int64(0), nil, int64(0)}
	case r.action == "":
		outcome = "open"
	case r.action != string(urlmode.Accept):
		outcome = "changed"
	case r.kind == string(urlmode.OAuth):
		outcome = "claimed"
	}
	return []any{outcome, text(r.reference), int64(1), nil, int64(0)}
}

func text(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

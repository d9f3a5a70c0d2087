// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// Typed is what a user has typed, and is to be verified.
type Typed struct {
	ElicitationID string
	Provider      string
	// Values has a bool for a checkbox, a float64 for a number, and otherwise a string. Fields that are empty are left out.
	Values map[string]any
}

// String leaves out the values.
func (t Typed) String() string { return t.ElicitationID + ": typed" }

// GoString leaves out the values.
func (t Typed) GoString() string { return t.String() }

// Problem is what WaitOptions.Verify has found. It is shown at the field, and must not contain the value.
type Problem struct {
	Field string `json:"field"`
	// Problem is at most 500 characters.
	Problem Words `json:"problem"`
}

// check returns the problem as JSON. Its error has no value of the user.
func (p Problem) check() ([]byte, error) {
	if found := formSchema().faultIn("problem", plainValue(reflect.ValueOf(p))); found != nil {
		member := strings.Split(found.pointer, "/")[1]
		return nil, argumentError("the %s of a Problem %s", member, found.must)
	}
	text, err := toJSON(p)
	if most := *formSchema().Defs["problem"].MaxBytes; err != nil || len(text) > most {
		return nil, argumentError("a Problem must have at most %d bytes as JSON", most)
	}
	return text, nil
}

// check begins to verify what the user has typed, unless that is under way. True while it is under way in this process:
// its end makes the row due again. The caller holds the lock.
func (ws *waits) check(e *entry, read *row) bool {
	if read.kind != Input || read.status != Processing {
		return false
	}
	if ws.checking[e.key.id] {
		return true
	}
	for each := e.first; each != nil; each = each.next {
		if each.canVerify() {
			ws.checking[e.key.id] = true
			ws.run(func() { ws.runCheck(e.key, read.provider, each) })
			return true
		}
	}
	return false
}

func (ws *waits) runCheck(k rowKey, provider string, asking *wait) {
	taken, failure, err := ws.verify(k, provider, asking.options.Verify)
	ws.mu.Lock()
	delete(ws.checking, k.id)
	if failure != nil {
		asking.reject(failure)
	}
	if err == nil && !taken {
		// Another process verifies it, and its end is announced.
		ws.lookOnce(k)
	}
	ws.mu.Unlock()
	if err != nil {
		if isRefusal(err) {
			ws.failKeys([]rowKey{k}, err)
		}
		timing.Sleep(ws.ctx, timing.Jittered(limits.ReadRetry))
	} else if !taken {
		return
	}
	ws.wakeKeys(k)
}

// lookOnce ends the waits for a row that look once. The caller holds the lock.
func (ws *waits) lookOnce(k rowKey) {
	for e := ws.entries[k.id]; e != nil; e = e.next {
		for each := e.first; e.key == k && each != nil; each = each.next {
			if each.options.Once {
				each.look(Processing)
			}
		}
	}
}

// verify asks the function, unless another process has taken the values to do so. failure is the error of the function, or of an
// answer that is not valid; err is one of PostgreSQL.
func (ws *waits) verify(k rowKey, provider string, ask func(context.Context, Typed) (*Problem, error)) (isTaken bool, failure, err error) {
	taken, err := ws.db.takeCheck(ws.ctx, k)
	if err != nil || taken == nil {
		return false, nil, err
	}
	problem, failed, failure := ws.askVerify(k, provider, taken, ask)
	var sealed []byte
	if problem != nil {
		sealed = seal(ws.ring, useProblem, k, problem, nil)
	}
	return true, failure, ws.db.endCheck(ws.ctx, k, taken.lease, sealed, failed)
}

// askVerify returns the problem as JSON. failed: the function has not answered. Then the page is open again.
func (ws *waits) askVerify(
	k rowKey, provider string, taken *takenCheck, ask func(context.Context, Typed) (*Problem, error),
) (problem []byte, failed bool, failure error) {
	var result struct {
		Values map[string]any `json:"values"`
	}
	if err := unseal(ws.ring, useResult, k, taken.result, &result); err != nil {
		return nil, true, err
	}
	type answer struct {
		problem *Problem
		err     error
	}
	limited, cancel := context.WithTimeout(ws.ctx, time.Duration(taken.leftMs)*time.Millisecond)
	defer cancel()
	answered := make(chan answer, 1)
	go func() {
		found, err := guarded(ws.log, "URLMODE_VERIFY", func() (*Problem, error) {
			return ask(limited, Typed{ElicitationID: k.id, Provider: provider, Values: result.Values})
		})
		answered <- answer{found, err}
	}()
	var said answer
	select {
	case said = <-answered:
	case <-limited.Done():
	}
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		warn(ws.log, "URLMODE_VERIFY", fmt.Sprintf("Verify of elicitation %s took longer than its time limit", k.id))
		return nil, true, nil
	}
	if err := limited.Err(); err != nil {
		return nil, true, err
	}
	if said.err == nil && said.problem != nil {
		problem, said.err = said.problem.check()
	}
	return problem, said.err != nil, said.err
}

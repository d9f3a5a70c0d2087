// SPDX-License-Identifier: MIT

package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode/adapter"
)

// answeredKey is the key of the *answered of a call, in the context of its handler.
type answeredKey struct{}

// answered is what a function of Tools has returned to a handler. sdk.AddTool writes the Out of the handler into it, which is a zero one if the
// handler has no better: clients take it for the result of the tool, or refuse it.
type answered struct {
	mu     sync.Mutex
	given  *sdk.CallToolResult
	before sdk.CallToolResult
}

func (a *answered) remember(result *sdk.CallToolResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given, a.before = result, *result
}

// restored is nil if the SDK has changed nothing, or if the handler has returned something else.
func (a *answered) restored(result *sdk.CallToolResult, err error) *sdk.CallToolResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	isOverwritten := err == nil && result != nil && result == a.given && !sameData(result.StructuredContent, a.before.StructuredContent)
	isRefused := err != nil && strings.HasPrefix(err.Error(), "validating tool output: ")
	if a.given == nil || !isOverwritten && !isRefused {
		return nil
	}
	before := a.before
	if isOwn(before) {
		// A tool with an output schema returns data that fits it, or an error.
		before.StructuredContent, before.IsError = nil, true
	} else if before.StructuredContent == nil && !before.IsError {
		return nil // The body has made no data: they are those of the handler.
	}
	return &before
}

// isOwn reports whether a call has ended without the result of a body, with a link or with what has happened.
func isOwn(result sdk.CallToolResult) bool {
	text, err := json.Marshal(result.StructuredContent)
	return err == nil && result.StructuredContent != nil && adapter.IsOpen(text)
}

func sameData(one, other any) bool {
	var values [2]any
	for n, each := range []any{one, other} {
		text, err := json.Marshal(each)
		if err != nil || json.Unmarshal(text, &values[n]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// SPDX-License-Identifier: MIT

package adapter

import "context"

// Call is a tool call, as an SDK describes it. What it does not have, it cannot do.
type Call struct {
	Client Client // who calls
	// ClientID is the id of the MCP client according to your authorization, if there is one.
	ClientID string
	// Traceparent is the trace of the call, see [urlmode.TraceparentOf].
	Traceparent string
	// Progress sends progress. Nil: the call has no progress token.
	Progress func(ctx context.Context, count float64, message string) error
	// Connection ends when the client has closed the connection of the call, or the session. It may be nil.
	Connection context.Context
	// Output is what the tool returns. Nil: it has no output schema.
	Output *Output
	// WhenEnded calls the function when the tool has ended: well, or with an error, so that the next call gets what the
	// body has made. Nil: the tool counts as ended well with the function that asks its user.
	WhenEnded func(report func(well bool))
	// WhenWritten calls the function when the answer was written, or will not be. Nil: it counts as written when the tool has ended well, if
	// Connection has not ended.
	WhenWritten func(report func(written bool))
	// WhenPassed calls the function where the tool requires input after its function that asks its user has returned a result. Nil: no
	// function can ask after another one has returned.
	WhenPassed func(pass func(state string) (string, error))
	// Hand takes what a function that has opened the requestState leaves of it to the body, and to what comes after. isForeign: the answers
	// of the client are to that. It may be nil, see [HandedTo].
	Hand func(state string, isForeign bool)
	// Channel is for protocol revision 2025-11-25, and Retry for 2026-07-28. Without both, the user gets a link as text. A call of an older
	// client has both where its SDK has it ask for what a body requires.
	Channel *Channel
	Retry   *RetriedCall
	// Task is that of a call that its client can hold as a task, or of a run of its tool. See [Tasks].
	Task *TaskRound
}

// Client is what an MCP client says of itself.
type Client struct {
	Name    string // as it calls itself
	Version string // of the client
	// URL means that it declares elicitation in URL mode.
	URL bool
}

// Channel is what a server can send to its client by itself.
type Channel struct {
	// Session is the same in all calls of a session, and comparable. Nil: nothing is kept between calls.
	Session any
	// Life ends with the session. It is required if there is a Session. A call that waits may outlive it.
	Life context.Context
	// Request asks the client to send its user to the URL, and returns the action of its response. The end of the context
	// takes the request back.
	Request func(ctx context.Context, ask Ask) (action string, err error)
	// Complete tells the client in the stream of the call that an elicitation is completed.
	Complete func(ctx context.Context, elicitationID string) error
	// CompleteLater is the same in the stream of the session. It may be nil.
	CompleteLater func(ctx context.Context, elicitationID string) error
	// IsGone reports whether an error of Request means that the client has closed its session or connection. It may be nil.
	IsGone func(error) bool
}

// RetriedCall is what a client of protocol revision 2026-07-28 has sent with its call, or the SDK for an older one.
type RetriedCall struct {
	// State is the requestState.
	State string
	// Answer is the action of its response to the request with InputKey.
	Answer string
}

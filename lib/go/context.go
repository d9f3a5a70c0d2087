// SPDX-License-Identifier: MIT

package urlmode

import "context"

// checkContext refuses a nil context at once: much later, in a goroutine of this package, it would end the process.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return argumentError("a nil context was given: use context.Background() if the call has none")
	}
	return nil
}

// lasting is the context of what does not end with the call that has asked for it, and has the values of its caller: the spans of a
// tracer, for example.
type lasting struct {
	context.Context
	values context.Context
}

// lastingOf ends with the first context, and has the values of the second one.
func lastingOf(ctx, caller context.Context) context.Context {
	return lasting{ctx, context.WithoutCancel(caller)}
}

func (l lasting) Value(key any) any {
	if value := l.Context.Value(key); value != nil {
		return value
	}
	return l.values.Value(key)
}

// callerKey is the key of the context with whose end a statement leaves the queue, as long as it was not sent.
type callerKey struct{}

// untilSent is for a call whose answer only this call can use. Its end counts until the statement is sent; after that the answer is awaited.
func untilSent(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), callerKey{}, ctx)
}

// callerOf is the context of the call that has asked for a statement, or nil.
func callerOf(ctx context.Context) context.Context {
	caller, _ := ctx.Value(callerKey{}).(context.Context)
	return caller
}

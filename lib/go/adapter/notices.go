// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"sync"
)

// notices tell the clients that have asked their users that an elicitation is completed: once in each session, also after
// the end of the call. A notice is kept as long as a call or a watch of its session uses it.
type notices struct {
	mu       sync.Mutex
	sessions map[any]map[string]*notice // by session and elicitation
}

type notice struct {
	users      int // calls, and a watch; notices.mu protects it
	mu         sync.Mutex
	isReported bool
	isWatched  bool
}

// use returns the notice, and what its user calls at its end. Without a session, the notice is for a single call.
func (n *notices) use(session any, id string) (*notice, func()) {
	if session == nil {
		return &notice{}, func() {}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	of := n.sessions[session]
	if of == nil {
		of = map[string]*notice{}
		n.sessions[session] = of
	}
	one := of[id]
	if one == nil {
		one = &notice{}
		of[id] = one
	}
	one.users++
	return one, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if one.users--; one.users > 0 {
			return
		}
		if delete(of, id); len(of) == 0 {
			delete(n.sessions, session)
		}
	}
}

// Sessions is of how many sessions something is kept at the moment, for the metrics of a server.
func (a *Adapter) Sessions() int {
	a.notices.mu.Lock()
	defer a.notices.mu.Unlock()
	return len(a.notices.sessions)
}

// send notifies the client, once. If it fails, the client's next call says the same.
func (one *notice) send(ctx context.Context, id string, report func(context.Context, string) error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.isReported || report == nil {
		return
	}
	one.isReported = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	report(ctx, id)
}

// beginWatch is false if it is watched already, or the client was told.
func (one *notice) beginWatch() bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.isWatched || one.isReported {
		return false
	}
	one.isWatched = true
	return true
}

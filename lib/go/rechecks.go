// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

// rechecks are the functions of the server that ask providers whose events prove nothing: for waits and claims without a
// function of their own; and for events about which nobody waits and no call claims, such as a refund after the
// delivery. The row remembers that it is to be asked about, and any instance with a function for its provider takes it, under a
// lease (sql/functions/029_recheck.sql).
type rechecks struct {
	functions map[string]RecheckFunc
	tenant    tenant
	pool      *pool
	waits     *waits
	ctx       context.Context
	done      sync.WaitGroup
	begin     sync.Once
	asking    sync.Mutex
}

func checkRechecks(functions map[string]RecheckFunc) (map[string]RecheckFunc, error) {
	for provider, function := range functions {
		if err := checkProvider(provider); err != nil {
			return nil, err
		}
		if function == nil {
			return nil, argumentError("Rechecks[%q] "+texts.MustBeFunction, provider)
		}
	}
	return maps.Clone(functions), nil
}

// of is nil if there is none for this provider.
func (r *rechecks) of(provider string) RecheckFunc { return r.functions[provider] }

func (r *rechecks) ofRow(ctx context.Context, k rowKey) (RecheckFunc, error) {
	if len(r.functions) == 0 {
		return nil, nil
	}
	read, err := r.waits.db.read(ctx, k)
	if err != nil || read == nil {
		return nil, err
	}
	return r.of(read.provider), nil
}

// start asks regularly, until the context of the instance ends.
func (r *rechecks) start() {
	if len(r.functions) == 0 {
		return
	}
	r.begin.Do(func() {
		r.done.Add(1)
		go func() {
			defer r.done.Done()
			for timing.Sleep(r.ctx, timing.Jittered(limits.RecheckEvery)) == nil {
				// When PostgreSQL is unavailable, the next time catches up.
				if _, err := r.askAll(r.ctx); isRefusal(err) || errors.As(err, new(*recheckError)) {
					warn(r.waits.log, "URLMODE_RECHECK", err.Error())
				}
			}
		}()
	})
}

// askAll asks about one row after the other, until nothing is left to ask. A provider whose function fails is not asked any more,
// and holds up no other. The first failure is returned.
func (r *rechecks) askAll(ctx context.Context) (asked int, err error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	var failed error
	for providers := slices.Sorted(maps.Keys(r.functions)); len(providers) > 0; {
		names, err := json.Marshal(providers)
		if err != nil {
			return asked, err
		}
		due, err := first(ctx, r.pool, sqlBeginRecheckOf, beginRecheckOfValues{tenant: string(r.tenant), providers: string(names), leaseMs: limits.RecheckLease.Milliseconds()})
		if err != nil {
			return asked, err
		}
		if due == nil {
			break
		}
		k, taken := rowKey{due.id, digest(due.binding)}, &takenRecheck{due.lease, due.rechecks, due.eventType, due.unprovenReferences, due.provider,
			due.expected, due.checkout}
		failure, err := r.waits.answerTaken(ctx, k, taken, r.of(due.provider))
		if err != nil {
			return asked, err
		}
		if failure == nil {
			asked++
			continue
		}
		failed = cmp.Or(failed, error(&recheckError{k.id, due.provider, failure}))
		providers = slices.DeleteFunc(providers, func(each string) bool { return each == due.provider })
	}
	return asked, failed
}

// recheckError is that of a function for a provider.
type recheckError struct {
	id, provider string
	cause        error
}

func (e *recheckError) Error() string {
	return fmt.Sprintf(texts.RecheckFailed, e.id, e.provider, e.cause)
}

func (e *recheckError) Unwrap() error { return e.cause }

// RecheckDue asks providers, by the functions of Config.Rechecks, about all events that nobody has asked about, also where
// nobody waits. Each instance does so once a minute by itself. asked: about how many elicitations. The first error of a function is
// wrapped; its provider is asked again later, and the others are asked all the same.
func (m *Instance) RecheckDue(ctx context.Context) (asked int, err error) {
	if err := checkContext(ctx); err != nil {
		return 0, err
	}
	m.rechecks.start()
	return m.rechecks.askAll(ctx)
}

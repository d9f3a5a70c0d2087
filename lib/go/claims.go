// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/timing"
)

// claims begins claims, and renews their leases until they end.
type claims struct {
	pool  *pool
	ring  keys
	waits *waits
	keep  time.Duration // how long a result is kept after the last end of its claim
	ctx   context.Context
	done  sync.WaitGroup
	// listener tells of money that goes back while a call works.
	listener *listener

	mu         sync.Mutex
	confirming map[string]chan struct{} // the answers on their way, and confirmations, by the ids of their elicitations
}

// expectConfirmation has the next call for the elicitation wait, for a second at most: a client that has its answer can call again at once.
func (c *claims) expectConfirmation(id string) (end func()) {
	ended := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.confirming == nil {
		c.confirming = map[string]chan struct{}{}
	}
	c.confirming[id] = ended
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(ended)
		if c.confirming[id] == ended {
			delete(c.confirming, id)
		}
	})
}

func (c *claims) awaitConfirmation(ctx context.Context, id string) {
	c.mu.Lock()
	ended, ok := c.confirming[id]
	c.mu.Unlock()
	if !ok {
		return
	}
	rest := time.NewTimer(limits.ClaimConfirm)
	defer rest.Stop()
	select {
	case <-ended:
	case <-rest.C:
	case <-ctx.Done():
	}
}

func (c *claims) begin(ctx context.Context, k rowKey, o LeaseOptions) (*Claim, error) {
	until := time.Now().Add(o.Wait)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.awaitConfirmation(ctx, k.id)
	if o.Fence != 0 {
		if claim, err := c.continueClaim(untilSent(ctx), k, o); err != nil || claim != nil {
			return claim, err
		}
	}
	asked := c.asks(o.Recheck, o.RecheckAfter)
	// What PostgreSQL was sent is awaited: nobody else could do, or give back, what this call has begun.
	for asking := untilSent(ctx); ; {
		claim, err := c.try(asking, k, o, asked)
		if err == nil && claim.State == claimRecheck {
			if err := c.recheck(ctx, k, &asked); err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			continue
		}
		rest := time.Until(until)
		if err != nil || claim.State != ClaimLeased || rest <= 0 {
			return claim, err
		}
		if err := timing.Sleep(ctx, min(rest, timing.Jittered(limits.ClaimRetry))); err != nil {
			return nil, err
		}
		if c.ctx.Err() != nil {
			return nil, errorClosed()
		}
	}
}

// atOnce claims an outcome with both ends at once. It waits while another instance asks the provider.
func (c *claims) atOnce(ctx context.Context, k rowKey, o ClaimOptions) (bool, error) {
	for asked := c.asks(o.Recheck, o.RecheckAfter); ; {
		answer, err := c.waits.db.claim(untilSent(ctx), k, o, c.keep, asked.ms())
		switch {
		case err != nil || answer.outcome != "recheck":
			return answer.outcome == "claimed", err
		case answer.leasedMs > 0:
			err = timing.Sleep(c.ctx, min(time.Duration(answer.leasedMs)*time.Millisecond, timing.Jittered(limits.ClaimRetry)))
		default:
			err = c.recheck(context.WithoutCancel(ctx), k, &asked)
		}
		if c.ctx.Err() != nil {
			return false, errorClosed()
		}
		if err != nil {
			return false, err
		}
	}
}

// asking is how a claim asks the provider before it begins.
type asking struct {
	ask RecheckFunc    // nil: that of the provider
	age *time.Duration // how old the last answer may be; nil: nobody can ask
}

func (c *claims) asks(ask RecheckFunc, age time.Duration) asking {
	if ask == nil && (c.waits == nil || len(c.waits.rechecks.functions) == 0) {
		return asking{}
	}
	return asking{ask, &age}
}

func (a asking) ms() *int64 {
	if a.age == nil {
		return nil
	}
	ms := a.age.Milliseconds()
	return &ms
}

// recheck asks the provider: what it has may have gone back. If that fails, the claim does not begin.
func (c *claims) recheck(ctx context.Context, k rowKey, a *asking) (err error) {
	ask := a.ask
	if ask == nil {
		if ask, err = c.waits.rechecks.ofRow(ctx, k); err != nil || ask == nil {
			a.age = nil
			return err
		}
	}
	taken, failure, err := c.waits.askProvider(ctx, k, ask, a.age)
	if taken { // Otherwise another instance asks.
		age := max(*a.age, limits.RecheckLease)
		a.age = &age
	}
	return cmp.Or(failure, err)
}

func (c *claims) try(ctx context.Context, k rowKey, o LeaseOptions, a asking) (*Claim, error) {
	asked := time.Now()
	isOwn := o.ClaimID == "" // otherwise another call of the same ClaimID may be sending the code
	o.ClaimID = cmp.Or(o.ClaimID, newID())
	return call(ctx, c.pool, func(ctx context.Context) (*Claim, error) {
		all, err := run(ctx, c.pool, sqlBeginLease, beginLeaseValues{rowKey: k, reference: o.Reference, leaseMs: o.Lease.Milliseconds(),
			keepMs: c.keep.Milliseconds(), claimID: o.ClaimID, anyPayment: o.AnyPayment, recheckMs: a.ms()})
		if err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, errorNotFound(k.id)
		}
		claim, err := c.toClaim(all[0], k, o.Lease, asked)
		if claim != nil && isOwn {
			claim.id = o.ClaimID
		}
		return claim, err
	})
}

// toClaim also begins to renew the lease: within the call, for which Close waits before it waits for renewals.
func (c *claims) toClaim(answer claimRow, k rowKey, lease time.Duration, asked time.Time) (*Claim, error) {
	claim := &Claim{State: ClaimState(answer.outcome), Reference: answer.claimedReference, Fence: answer.fence,
		claims: c, key: k, lease: lease, lost: make(chan struct{}), back: make(chan struct{}), until: asked.Add(lease)}
	switch answer.outcome {
	case "unknown":
		return nil, errorNotFound(k.id)
	case "open":
		return nil, openAgain(k.id)
	case "recheck":
		if answer.leasedMs <= 0 {
			break
		}
		// Another instance asks, or has failed just now.
		claim.State = ClaimLeased
		fallthrough
	case "leased":
		claim.Until = time.Now().Add(time.Duration(answer.leasedMs) * time.Millisecond)
	case "claimed": // an account
		claim.State, claim.Reference, claim.Fence = ClaimBegun, "", 0
	case "fulfilled":
		var kept struct{ Result json.RawMessage }
		if err := unseal(c.ring, useFulfilled, k, answer.fulfilled, &kept); err != nil {
			return nil, err
		}
		claim.Result = kept.Result
	case "begun":
		ctx, stop := context.WithCancel(c.ctx)
		claim.stop, claim.hurried = stop, make(chan struct{}, 1)
		c.listener.subscribe(claim)
		c.done.Add(1)
		go claim.renew(ctx)
	}
	return claim, nil
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
	"urlmode.example/urlmode/internal/timing"
)

const (
	// exchangeFailed is why an account is not connected, if the call does not say it.
	exchangeFailed = "exchange_failed"
)

// ClaimState is what BeginClaim has found.
type ClaimState string

const (
	// ClaimBegun means that this call does the work.
	ClaimBegun ClaimState = "begun"
	// ClaimFulfilled means that another call has done the work, and its answer was not written. Return Result, and then Confirm. If this
	// answer fails as well, Release: the next call does the work again, for the same payment.
	ClaimFulfilled ClaimState = "fulfilled"
	// ClaimLeased means that another call does the work, and can still finish it.
	ClaimLeased ClaimState = "leased"
	// ClaimTaken means that another call has claimed it, or the payment was refunded.
	ClaimTaken ClaimState = "taken"
	// ClaimChanged means that the outcome is no longer this accept. Wait again.
	ClaimChanged ClaimState = "changed"

	// claimRecheck means that the provider must be asked first.
	claimRecheck ClaimState = "recheck"
)

// Claim is one of an accept, with two ends: the work is done (Fulfil), and the answer was written (Confirm).
// It is safe for use by several goroutines.
type Claim struct {
	State ClaimState // what it is now
	// Reference is that of the payment.
	Reference string
	// Fence is greater than that of each call before; zero for an account, whose claim is final.
	Fence int64
	// Result is what the other call has returned, after ClaimFulfilled. Nil: nothing.
	Result json.RawMessage
	// Until is, after ClaimLeased, when the next call can begin if that one dies.
	Until time.Time

	claims *claims
	key    rowKey
	id     string // by which the claim of an account is given back; empty: another call may have it as well
	lease  time.Duration
	lost   chan struct{}
	back   chan struct{}

	mu     sync.Mutex
	until  time.Time // counted from before the lease was asked for
	ended  bool
	isBack bool               // all that was paid
	isDone bool               // the work, also if PostgreSQL could not be told
	stop   context.CancelFunc // of the renewals
	// hurried has the lease renewed at once.
	hurried chan struct{}
}

// Lost is closed when the lease has ended, because PostgreSQL did not renew it or the instance was
// closed: another call may have begun.
func (c *Claim) Lost() <-chan struct{} { return c.lost }

// Refunded is closed when all that was paid went back, or is disputed: the work can stop, or go on.
func (c *Claim) Refunded() <-chan struct{} { return c.back }

// Err is nil until Lost or Refunded is closed. Then it is an ErrClaimLost or an ErrClaimRefunded.
func (c *Claim) Err() error {
	select {
	case <-c.lost:
		return errorClaimLost(c.key.id)
	default:
	}
	select {
	case <-c.back:
		return errorClaimRefunded(c.key.id)
	default:
		return nil
	}
}

// Fulfil keeps what the call returns for the next one, until Confirm: the work is done. It is not kept if it cannot be,
// because it is no JSON or has more than 16 MiB. Then the lease is renewed until Confirm, or until Release, which has the next call
// do the work again. ErrClaimLost: another call has begun since. The end of the context does not end it: without Fulfil, the next call
// would do the work again.
func (c *Claim) Fulfil(ctx context.Context, result any) (kept bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	if c.State != ClaimBegun {
		return false, argumentError("only a claim that has begun is fulfilled")
	}
	ctx = context.WithoutCancel(ctx)
	if c.Fence == 0 {
		c.done()
		c.end(false)
		// The account is connected. If this is not stored, its page stays neutral.
		c.endExchange(ctx, "")
		return false, nil
	}
	text, ok := fulfilledJSON(result)
	if !ok {
		return false, nil
	}
	sealed := seal(c.claims.ring, useFulfilled, c.key, text, nil)
	err = c.lastStep(ctx, fulfilLeaseValues{fulfilled: sealed})
	return err == nil, err
}

// End is both ends at once, for who has delivered or refunded what Unclaimed lists. refund is the provider's reference of the refund,
// if there is one. ErrClaimLost: another call has begun since. The end of the context does not end it.
func (c *Claim) End(ctx context.Context, how ClaimEnd, refund string) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	switch {
	case c.Fence == 0 || c.State != ClaimBegun && c.State != ClaimFulfilled:
		return argumentError("only the claim of a payment that has begun, or is fulfilled, ends as delivered or refunded")
	case how != ClaimDelivered && how != ClaimRefunded:
		return argumentError(texts.ClaimEnds)
	case refund != "" && how != ClaimRefunded:
		return argumentError(texts.RefundOfOtherEnd)
	}
	if err := checkReference(refund); err != nil {
		return err
	}
	return c.lastStep(context.WithoutCancel(ctx), fulfilLeaseValues{claimEnd: string(how), refund: refund})
}

func (c *Claim) lastStep(ctx context.Context, step fulfilLeaseValues) error {
	c.done()
	step.rowKey, step.fence, step.keepMs = c.key, c.Fence, c.claims.keep.Milliseconds()
	answer, err := c.whileItLasts(func() (string, error) { return one(ctx, c.claims.pool, sqlFulfilLease, step) })
	c.end(false)
	if err == nil && answer == "lost" {
		return errorClaimLost(c.key.id)
	}
	c.report(answer)
	return err
}

// report says that all that was paid went back. The work may go on.
func (c *Claim) report(answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if (answer == "refunded" || answer == "disputed") && !c.isBack {
		c.isBack = true
		close(c.back)
	}
}

// Confirm records that the answer was written, so that no later call is given it. It can be repeated, and returns
// false if another call has begun or ended it otherwise, or this one has released it. The end of the context does not end it.
func (c *Claim) Confirm(ctx context.Context) (confirmed bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	if c.Fence == 0 || c.State != ClaimBegun && c.State != ClaimFulfilled {
		return false, nil
	}
	c.done()
	defer c.claims.expectConfirmation(c.key.id)()
	done, err := c.confirm(context.WithoutCancel(ctx))
	if err == nil {
		c.end(false)
	}
	return done, err
}

// ExpectConfirmation has the next call for the same elicitation wait for Confirm, a second at most, from before the answer is written:
// a client that has it can call again at once. end ends that, also without Confirm.
func (c *Claim) ExpectConfirmation() (end func()) { return c.claims.expectConfirmation(c.key.id) }

// Release gives the claim back because the work was not done, so that the next call can begin at once. Of a claim that is fulfilled by
// another call, it says that this answer has failed as well. The claim of an account is
// final, and its page shows that it is not connected. It returns false if another call has begun, or if this one has called Fulfil or
// Confirm, so that a deferred Release is of a call that has failed. The end of the context does not end it.
func (c *Claim) Release(ctx context.Context) (released bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	c.mu.Lock()
	isDone := c.isDone
	c.mu.Unlock()
	if c.State != ClaimBegun && c.State != ClaimFulfilled || isDone {
		return false, nil
	}
	ctx = context.WithoutCancel(ctx)
	c.end(false)
	if c.Fence == 0 {
		return c.endExchange(ctx, exchangeFailed)
	}
	return one(ctx, c.claims.pool, sqlReleaseClaim, releaseClaimValues{rowKey: c.key, fence: c.Fence})
}

// ReleaseUnsent gives back the claim of an account whose code was not sent to the provider, because the call was cancelled before: the next
// call can claim it, and the user need not authorise again. Never call it after the code was sent. With a ClaimID of the caller
// it is not given back, because another call may have the same claim, and be sending the code. Any other claim is released as by Release.
// The end of the context does not end it.
func (c *Claim) ReleaseUnsent(ctx context.Context) (released bool, err error) {
	if err := checkContext(ctx); err != nil {
		return false, err
	}
	c.mu.Lock()
	isDone := c.isDone || c.ended
	c.mu.Unlock()
	if c.State != ClaimBegun || c.Fence != 0 || isDone {
		return c.Release(ctx)
	}
	c.end(false)
	if c.id == "" {
		return false, nil
	}
	return one(context.WithoutCancel(ctx), c.claims.pool, sqlReleaseUnsent, releaseUnsentValues{rowKey: c.key, claimID: c.id})
}

func (c *Claim) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isDone = true
}

func (c *Claim) confirm(ctx context.Context) (bool, error) {
	return one(ctx, c.claims.pool, sqlConfirmClaim, confirmClaimValues{rowKey: c.key, fence: c.Fence, keepMs: c.claims.keep.Milliseconds()})
}

func (c *Claim) endExchange(ctx context.Context, reason string) (bool, error) {
	return one(ctx, c.claims.pool, sqlEndExchange, endExchangeValues{rowKey: c.key, reason: reason})
}

// whileItLasts asks again if the database does not answer, for the time of one lease, because the work is done. No other
// call can begin meanwhile.
func (c *Claim) whileItLasts(ask func() (string, error)) (string, error) {
	giveUp := time.Now().Add(c.lease)
	for {
		done, err := ask()
		c.mu.Lock()
		until := earliest(giveUp, c.until)
		c.mu.Unlock()
		if err == nil || isRefusedChange(err) || errors.Is(err, ErrClosed) || !time.Now().Before(until) {
			return done, err
		}
		if timing.Sleep(c.claims.ctx, timing.Jittered(limits.ClaimRetry)) != nil {
			return "", errorClosed()
		}
	}
}

// notified has the lease renewed at once, which says whether all of it went back. Anyone in the database can send such a text.
func (c *Claim) notified(all []notification) {
	for _, each := range all {
		if each.Refunded && each.ID == c.key.id {
			select {
			case c.hurried <- struct{}{}:
			default:
			}
			return
		}
	}
}

// listening is nothing to it: the next renewal says what was not heard.
func (c *Claim) listening() {}

// pause is shorter if money went back meanwhile, but the lease is not renewed more often than a database that does not answer is asked.
func (c *Claim) pause(ctx context.Context, pause time.Duration, asked time.Time) error {
	rest := time.NewTimer(max(0, pause))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.hurried:
		return timing.Sleep(ctx, max(0, time.Until(asked.Add(limits.ClaimRetry))))
	}
}

// renew renews the lease until it ends.
func (c *Claim) renew(ctx context.Context) {
	defer c.claims.done.Done()
	defer c.claims.listener.unsubscribe(c)
	pause, asked := c.lease/limits.ClaimRenewals, time.Now()
	for {
		c.mu.Lock()
		until := c.until
		c.mu.Unlock()
		if c.pause(ctx, min(pause, time.Until(until)), asked) != nil || !time.Now().Before(until) {
			c.end(true)
			return
		}
		asked = time.Now()
		asking, cancel := context.WithDeadline(ctx, until)
		answer, err := one(asking, c.claims.pool, sqlRenewLease, renewLeaseValues{rowKey: c.key, fence: c.Fence, leaseMs: c.lease.Milliseconds()})
		cancel()
		switch {
		case err != nil:
			pause = timing.Jittered(min(limits.ClaimRetry, c.lease/limits.ClaimRenewals))
		case answer == "lost":
			c.end(true)
			return
		default:
			c.report(answer)
			c.mu.Lock()
			c.until = asked.Add(c.lease)
			c.mu.Unlock()
			pause = c.lease / limits.ClaimRenewals
		}
	}
}

// end stops the renewals. isLost: not by a step of the caller.
func (c *Claim) end(isLost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	if c.stop != nil {
		c.stop()
	}
	if isLost {
		close(c.lost)
	}
}

// fulfilledJSON is false if the result is too large to be kept, or cannot be written as JSON.
func fulfilledJSON(result any) ([]byte, bool) {
	kept := map[string]any{}
	if result != nil {
		kept["result"] = result
	}
	text, err := toJSON(kept)
	return text, err == nil && len(text) <= fulfilledMax
}

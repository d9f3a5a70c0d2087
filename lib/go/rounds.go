// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// Round is how a call goes on whose work has asked the client for something itself: what an adapter sends to its client in its own
// requestState, and what the client sends back, to any instance.
type Round struct {
	// Reference and Fence are those of the claim, which Claim.Hold has kept.
	Reference string `json:"reference,omitempty"`
	Fence     int64  `json:"fence,omitempty"`
	// State is the requestState of the work itself, of at most 8 KiB.
	State string `json:"state"`
	// Passed means that the work is done, and that something after it in the same call has asked.
	Passed bool `json:"passed,omitempty"`
}

// sealedRound is bound to the handle beside it, and so to the request: the handle of another request for the same row does not open it.
type sealedRound struct {
	Round
	Of string `json:"of"`
}

// ofHandle is the member `of` of a round.
func ofHandle(handle string) string {
	sum := sha256.Sum256([]byte(handle))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// RoundState seals a Round for the request with which its elicitation was created or found, as RequestState seals a Retry.
func (m *Instance) RoundState(elicitation Elicitation, round Round, r Request) (text string, err error) {
	if len(round.State) > limits.BodyStateMax && !round.Passed {
		return "", argumentError("the requestState of the body has more than %d bytes", limits.BodyStateMax)
	}
	text, err = m.RequestState(Retry{elicitation, 1}, r)
	if err != nil {
		return "", err
	}
	sealed, err := toJSON(sealedRound{round, ofHandle(text)})
	if err != nil {
		return "", err
	}
	row := rowKey{elicitation.ElicitationID, m.tenant.bindingOf(r.Owner)}
	return text + "." + base64.RawURLEncoding.EncodeToString(seal(m.ring, useRound, row, sealed, nil)), nil
}

// OpenRoundState opens what RoundState has sealed, for the same request. The Round is nil if the text is not of a Round.
//
// Errors: as OpenRequestState.
func (m *Instance) OpenRoundState(text string, r Request) (Elicitation, *Round, error) {
	end := strings.LastIndexByte(text, '.')
	if strings.Count(text, ".") != 2 {
		return Elicitation{}, nil, nil
	}
	retry, err := m.OpenRequestState(text[:end], r)
	if err != nil {
		return Elicitation{}, nil, err
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text[end+1:])
	var round sealedRound
	if err != nil || openJSON(m.ring, useRound, rowKey{retry.Elicitation.ElicitationID, m.tenant.bindingOf(r.Owner)}, sealed, &round) != nil ||
		round.Of != ofHandle(text[:end]) {
		return Elicitation{}, nil, requestStateError(false)
	}
	return retry.Elicitation, &round.Round, nil
}

// Hold keeps the lease for so long, without renewals, for the next round of the call: BeginClaim goes on with the Fence of this claim, on
// any instance. Nobody else can begin meanwhile, and Unclaimed does not list the payment. The end of the context does not end it.
func (c *Claim) Hold(ctx context.Context, hold time.Duration) error {
	if err := checkContext(ctx); err != nil {
		return err
	}
	if c.State != ClaimBegun {
		return argumentError("only a claim that has begun is held")
	}
	if err := checkDuration("Hold", hold, limits.ClaimLeaseMin, limits.ClaimLeaseMax); err != nil {
		return err
	}
	c.done()
	c.end(false)
	if c.Fence == 0 {
		return nil
	}
	answer, err := c.whileItLasts(func() (string, error) {
		return one(context.WithoutCancel(ctx), c.claims.pool, sqlRenewLease, renewLeaseValues{rowKey: c.key, fence: c.Fence, leaseMs: hold.Milliseconds()})
	})
	if err == nil && answer == "lost" {
		return errorClaimLost(c.key.id)
	}
	return err
}

// continueClaim is nil if the claim is not this call's any more: another call has begun, or another round of this one.
func (c *claims) continueClaim(ctx context.Context, k rowKey, o LeaseOptions) (*Claim, error) {
	asked := time.Now()
	return call(ctx, c.pool, func(ctx context.Context) (*Claim, error) {
		all, err := run(ctx, c.pool, sqlContinueLease, continueLeaseValues{rowKey: k, fence: o.Fence, leaseMs: o.Lease.Milliseconds()})
		if err != nil || len(all) == 0 || all[0].outcome == "lost" {
			return nil, err
		}
		claim, err := c.toClaim(claimRow{outcome: "begun", claimedReference: all[0].claimedReference, fence: all[0].nextFence}, k, o.Lease, asked)
		if err == nil {
			claim.report(all[0].outcome)
		}
		return claim, err
	})
}

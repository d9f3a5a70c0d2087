// SPDX-License-Identifier: MIT

package urlmode

import (
	"crypto/sha256"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// RoundsMax is how often at most a client is asked to call again for the same elicitation.
const RoundsMax = limits.RoundsMax

var retryForm = regexp.MustCompile(`^([A-Za-z0-9_-]{115})\.([1-9])$`)

// Retry is what an adapter sends to its client as requestState (MCP, protocol revision 2026-07-28), and what the client
// sends back: text that only this package can make. It is bound to the owner, the item or resume key, and all that the
// request asks for, so that one for a cheap item cannot complete an expensive one.
type Retry struct {
	Elicitation Elicitation // which the retry is about
	// Round counts the calls for this elicitation, from 1 to RoundsMax.
	Round int
}

// Name is Config.Name, or the host of BaseURL.
func (m *Instance) Name() string { return m.name }

// RequestState seals a Retry for the request with which its elicitation was created or found. Of a form that is what
// [InputRequest.Compared] or [ApprovalRequest.Compared] returns.
func (m *Instance) RequestState(retry Retry, r Request) (text string, err error) {
	purposes, err := retryPurposes(r)
	if err != nil {
		return "", err
	}
	link, err := url.Parse(retry.Elicitation.URL)
	if err != nil || retry.Round < 1 || retry.Round > RoundsMax {
		return "", argumentError("Retry must have an elicitation of Create, and a round from 1 to %d", RoundsMax)
	}
	id, kid, err := openLink(m.ring, "connect", r.Provider, link.Query().Get("state"))
	if err != nil && r.Kind == Approval { // The link is for those who decide.
		id, kid, err = openLink(m.ring, "approve", r.Provider, link.Query().Get("state"))
	}
	if err != nil || id != retry.Elicitation.ElicitationID {
		return "", argumentError("Retry must have an elicitation of Create for this provider")
	}
	expires := retry.Elicitation.ExpiresAt.Add(limits.GraceMax + time.Second - 1).Unix()
	with := m.ring.find(kid) // By this key the next call mints the same link.
	if with == nil {
		with = m.ring.minting() // The keys file has lost it just now.
	}
	return mintState(with, "retry", "", state{id, expires, m.tenant.bindingOf(r.Owner), purposes[0]}, nil) + "." + strconv.Itoa(retry.Round), nil
}

// OpenRequestState opens what RequestState has sealed, for the same request.
//
// Errors: ErrArgument, ErrRequestState. The latter is also ErrExpired if the text was valid once.
func (m *Instance) OpenRequestState(text string, r Request) (Retry, error) {
	purposes, err := retryPurposes(r)
	if err != nil {
		return Retry{}, err
	}
	parts := retryForm.FindStringSubmatch(text)
	if parts == nil {
		return Retry{}, requestStateError(false)
	}
	opened, err := openState(m.ring, "retry", "", parts[1], time.Now())
	if err != nil {
		return Retry{}, requestStateError(errors.Is(err, errStateExpired))
	}
	if opened.binding != m.tenant.bindingOf(r.Owner) || !slices.Contains(purposes, opened.browser) {
		return Retry{}, requestStateError(false)
	}
	sealed, _ := decodeToken(parts[1], stateBytes+overhead)
	kid := int16(sealed[1])
	at := placed{key: rowKey{opened.id, opened.binding}, provider: r.Provider, linkKid: &kid, isResumed: true,
		expiresAt: time.Unix(opened.expires, 0).Add(-limits.GraceMax).UTC()}
	round, _ := strconv.Atoi(parts[2])
	return Retry{m.elicitation(m.urls(at.key, r.Provider, r.Kind, 0), at), round}, nil
}

// retryPurposes take the place of the browser in the state token. The first is that of new ones, and the last may be that of a
// version that sends no items.
func retryPurposes(r Request) ([]digest, error) {
	expected, err := checkExpected(r.Expected, r.Kind)
	if err != nil {
		return nil, err
	}
	r.Expected = expected
	asked, err := r.digests(r.about())
	if err != nil {
		return nil, err
	}
	of := func(asked []byte, key string) digest {
		sum := sha256.Sum256(append(slices.Clip(asked), key...))
		return digest(sum[:16])
	}
	if asked.earlier == nil {
		return []digest{of(asked.request, r.ResumeKey)}, nil
	}
	return []digest{of(asked.request, ""), of(asked.earlier, r.ResumeKey)}, nil
}

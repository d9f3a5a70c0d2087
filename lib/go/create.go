// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"net/url"
	"slices"
	"time"
)

const (
	ttlDefault = 5 * time.Minute
	// resumeAttempts: another call may claim the elicitation that Create has found.
	resumeAttempts = 3
)

// Create writes the row of an elicitation, or finds the one that a call with the same ResumeKey goes on
// with. After that, the client can be sent to its URL.
//
// Errors: ErrArgument, ErrExists, ErrLimit, ErrBusy, ErrClosed, and that of Request.Target.
func (m *Instance) Create(ctx context.Context, r Request) (Elicitation, error) {
	asked, price, err := checkRequest(&r)
	if err != nil {
		return Elicitation{}, err
	}
	k := rowKey{r.ID, bindingOf(r.Owner)}
	m.purger.start()
	for range resumeAttempts {
		if r.ResumeKey != "" {
			found, err := m.db.resume(ctx, resumeKey{k.binding, r.ResumeKey, !r.CannotRecheck, asked})
			if err != nil {
				return Elicitation{}, err
			}
			if found.id != nil {
				old := rowKey{*found.id, k.binding}
				urls := m.urls(old, *found.provider, *found.kind, time.Duration(*found.ttlMs*float64(time.Millisecond)))
				return m.elicitation(urls, *found.provider, *found.expiresAt, found.linkKid, true), nil
			}
		}
		urls := m.urls(k, r.Provider, r.Kind, r.TTL)
		made, err := m.newRow(ctx, r, k, urls, price)
		if err != nil {
			return Elicitation{}, err
		}
		made.digest = asked
		expiresAt, err := m.db.create(ctx, made)
		if err != nil {
			return Elicitation{}, err
		}
		// Otherwise another call of the same owner was faster: resume its elicitation.
		if expiresAt != nil {
			return m.elicitation(urls, r.Provider, *expiresAt, &made.linkKid, false), nil
		}
	}
	return Elicitation{}, about(ErrExists, k.id, "elicitation %s already exists: choose another id")
}

// checkRequest fills in the defaults, and returns the digest of what is asked for and the price as the provider writes it.
func checkRequest(r *Request) (asked []byte, price string, err error) {
	if r.ID == "" {
		r.ID = newID()
	}
	r.TTL = orDefault(r.TTL, ttlDefault)
	if r.ID, err = checkID(r.ID); err != nil {
		return nil, "", err
	}
	if !slices.Contains(kinds, r.Kind) {
		return nil, "", argumentError("Kind must be one of %v", kinds)
	}
	if r.Expected, err = checkExpected(r.Expected, r.Kind); err != nil {
		return nil, "", err
	}
	for _, err := range []error{
		checkProvider(r.Provider), checkOwner(r.Owner), checkDuration("TTL", r.TTL, time.Millisecond, year),
		checkText("ResumeKey", r.ResumeKey, 0, resumeKeyMax), checkText("ClientID", r.ClientID, 0, clientIDMax),
	} {
		if err != nil {
			return nil, "", err
		}
	}
	switch {
	case r.PKCE && r.Kind != OAuth:
		return nil, "", argumentError("PKCE is only allowed for OAuth")
	case r.SameClient && r.ClientID == "":
		return nil, "", argumentError("SameClient requires ClientID")
	case r.Traceparent != "" && !isTraceparent(r.Traceparent):
		return nil, "", argumentError("Traceparent must be one of W3C Trace Context, version 00")
	case (r.TargetURL == "") == (r.Target == nil):
		return nil, "", argumentError("TargetURL is required, or Target, and not both")
	}
	if r.Target == nil {
		if err := checkTarget(Target{URL: r.TargetURL}, r.Kind); err != nil {
			return nil, "", err
		}
	}
	mcpClient := ""
	if r.SameClient {
		mcpClient = r.ClientID
	}
	if asked, err = digestOfRequest(r.Provider, r.Kind, r.Expected, r.About, mcpClient); err != nil {
		return nil, "", err
	}
	if r.Kind == Payment && !r.Expected.Any {
		price, err = priceOf(r.Provider, r.Expected)
	}
	return asked, price, err
}

// newRow makes the target URL, with PKCE if it is asked for.
func (m *Instance) newRow(ctx context.Context, r Request, k rowKey, urls CallbackURLs, price string) (newRow, error) {
	made := newRow{key: k, request: r, requester: m.name, target: Target{URL: r.TargetURL}, linkKid: int16(m.ring.minting().kid)}
	var err error
	if r.Target != nil {
		if made.target, err = r.Target(ctx, TargetArguments{urls, price}); err != nil {
			return made, err
		}
		if err := checkTarget(made.target, r.Kind); err != nil {
			return made, err
		}
	}
	if r.PKCE {
		var added verifier
		if made.target.URL, added, err = addPKCE(made.target.URL); err != nil {
			return made, err
		}
		if err := checkTarget(made.target, r.Kind); err != nil {
			return made, err
		}
		text, err := toJSON(added)
		if err != nil {
			return made, err
		}
		made.verifier = seal(m.ring, useVerifier, k, text, nil)
	}
	return made, nil
}

// urls are those to which the user and the provider come back.
func (m *Instance) urls(k rowKey, provider string, kind Kind, ttl time.Duration) CallbackURLs {
	if kind == OAuth {
		// /connect mints the state of the redirect URI and binds it to the browser.
		return CallbackURLs{ElicitationID: k.id, ReturnURL: m.baseURL + "/oauth/" + provider + "/return"}
	}
	expires := time.Now().Add(ttl + time.Second - 1).Unix()
	s := state{id: k.id, expires: expires + int64(graceMax/time.Second), binding: k.binding}
	urlFor := func(path, purpose string) string {
		token := mintState(m.ring.minting(), purpose, provider, s, nil)
		return m.baseURL + path + "?" + url.Values{"state": {token}}.Encode()
	}
	return CallbackURLs{
		ElicitationID: k.id,
		ReturnURL:     urlFor("/payment/"+provider+"/return", "return"),
		CancelURL:     urlFor("/payment/"+provider+"/cancel", "cancel"),
		WebhookURL:    urlFor("/webhook/"+provider, "webhook"),
	}
}

// elicitation has the link, which is the same each time: the key that has minted it first mints it again, as
// long as the keys file has it.
func (m *Instance) elicitation(urls CallbackURLs, provider string, expiresAt time.Time, linkKid *int16, isResumed bool) Elicitation {
	with := m.ring.minting()
	if linkKid != nil {
		if first := m.ring.find(byte(*linkKid)); first != nil {
			with = first
		}
	}
	link := mintLink(with, provider, urls.ElicitationID)
	return Elicitation{CallbackURLs: urls, URL: m.baseURL + "/connect/" + provider + "?state=" + link,
		ExpiresAt: expiresAt.UTC(), Resumed: isResumed}
}

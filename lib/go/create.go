// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"time"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

// Create writes the row of an elicitation, or finds the one that a call with the same ResumeKey goes on
// with. After that, the client can be sent to its URL.
//
// Errors: ErrArgument, ErrExists, ErrLimit, ErrSubscribed, ErrBusy, ErrUnavailable, ErrClosed, and that of Request.Target.
func (m *Instance) Create(ctx context.Context, r Request) (Elicitation, error) {
	if err := checkContext(ctx); err != nil {
		return Elicitation{}, err
	}
	price, err := checkTargetRequest(&r, m.described)
	if err != nil {
		return Elicitation{}, err
	}
	r.CannotRecheck = r.CannotRecheck && m.rechecks.of(r.Provider) == nil
	asked, err := r.digests(r.about())
	if err != nil {
		return Elicitation{}, err
	}
	// Before a checkout is made for nothing. The database refuses it as well, if another call has subscribed meanwhile.
	if r.Subscription {
		found, err := m.Entitlements(ctx, r.Owner.Subject, r.Item)
		if err != nil {
			return Elicitation{}, err
		}
		if len(found) > 0 && !found[0].IsOver() {
			return Elicitation{}, errorSubscribed(r.Item)
		}
	}
	k := rowKey{r.ID, m.tenant.bindingOf(r.Owner)}
	var urls CallbackURLs
	at, err := m.place(ctx, k, r, asked, func() (prepared, error) {
		urls = m.urls(k, r.Provider, r.Kind, r.TTL)
		return m.prepare(ctx, r, k, urls, price)
	})
	if err != nil {
		return Elicitation{}, err
	}
	m.events.created(ctx, at, r.Owner)
	if at.isResumed {
		urls = m.urls(at.key, at.provider, at.kind, at.ttl)
	}
	return m.elicitation(urls, at), nil
}

func (m *Instance) elicitation(urls CallbackURLs, at placed) Elicitation {
	return Elicitation{CallbackURLs: urls, URL: m.link(at, "connect"), ExpiresAt: at.expiresAt, Resumed: at.isResumed}
}

// placed is the row of an elicitation: a new one, or the one with which the call goes on.
type placed struct {
	key       rowKey
	provider  string
	kind      Kind
	expiresAt time.Time
	ttl       time.Duration
	linkKid   *int16
	isResumed bool
}

// place finds the row with which the call goes on, or writes the one that prepare makes.
func (m *Instance) place(ctx context.Context, k rowKey, r Request, asked digests, prepare func() (prepared, error)) (placed, error) {
	m.purger.start()
	m.rechecks.start()
	for range limits.ResumeAttempts {
		if r.ResumeKey != "" || r.Item != "" {
			found, err := m.resumable(ctx, k, r, asked)
			if err != nil {
				return placed{}, err
			}
			if found.id != "" {
				return placed{rowKey{found.id, k.binding}, found.provider, found.kind, found.expiresAt.UTC(),
					time.Duration(found.expiresInMs) * time.Millisecond, found.linkKid, true}, nil
			}
		}
		linkKid := int16(m.ring.minting().kid)
		made, err := prepare()
		if err != nil {
			return placed{}, err
		}
		made.digest, made.linkKid, made.tenant = asked.request, linkKid, m.tenant
		expiresAt, err := m.db.create(ctx, made.row())
		if err != nil {
			return placed{}, err
		}
		// Otherwise another call of the same owner was faster: resume its elicitation.
		if expiresAt != nil {
			return placed{k, r.Provider, r.Kind, expiresAt.UTC(), r.TTL, &linkKid, false}, nil
		}
	}
	return placed{}, errorExists(k.id)
}

// resumable finds the row with which the call goes on; its id is empty if there is none.
func (m *Instance) resumable(ctx context.Context, k rowKey, r Request, asked digests) (resumedRow, error) {
	wanted := resuming{binding: k.binding[:], provider: r.Provider, kind: r.Kind, resumeKey: r.ResumeKey, canRecheck: !r.CannotRecheck,
		request: asked.request, item: r.Item, earlierRequest: asked.earlier}
	if r.Kind == Payment {
		wanted.expected = r.expected()
	}
	found, err := m.db.resume(ctx, wanted)
	if err == nil && found.status == "held" {
		// What does not match was told, or nobody heard it: from now on the money is held.
		_, err = m.db.claim(ctx, rowKey{found.id, k.binding}, ClaimOptions{Action: Cancel}, limits.KeepResults, nil)
	}
	return found, err
}

// checkRequest fills in the defaults, and checks what all kinds have.
func checkRequest(r *Request) (err error) {
	if r.ID == "" {
		r.ID = newID()
	}
	r.TTL = orDefault(r.TTL, limits.TTL)
	if r.ID, err = checkID(r.ID); err != nil {
		return err
	}
	for _, err := range []error{
		checkProvider(r.Provider), checkOwner(r.Owner), checkDuration("TTL", r.TTL, time.Millisecond, limits.TTLMax),
		checkText("ResumeKey", r.ResumeKey, 0, limits.ResumeKeyMax), checkText("ClientID", r.ClientID, 0, limits.ClientIDMax),
		checkText("Item", r.Item, 0, limits.ItemMax),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case r.Item != "" && !r.Kind.hasItem():
		return argumentError(texts.ItemNotAllowed)
	case r.Item == "" && r.Kind.hasItem():
		return argumentError(texts.ItemRequired)
	case r.Subscription && (r.Kind != Payment || r.Expected.Any):
		return argumentError("Subscription is only allowed for a Payment with its first price")
	case r.SameClient && r.ClientID == "":
		return argumentError("SameClient requires ClientID")
	case r.Traceparent != "" && !isTraceparent(r.Traceparent):
		return argumentError(texts.TraceparentForm)
	}
	return nil
}

// checkDescribed refuses what an entry cannot be: for payments and signatures it needs a description, which is that of its
// name unless it names another one.
func checkDescribed(provider string, kind Kind) error {
	described, shipped := describedKinds[provider]
	if !shipped || kind == OAuth || slices.Contains(described, kind) {
		return nil
	}
	return argumentError(texts.NotOfKind, provider, kind)
}

// checkDescriptions checks which shipped description an entry of the configuration has whose name is another one.
func checkDescriptions(descriptions map[string]string) error {
	for entry, description := range descriptions {
		if _, shipped := describedKinds[description]; !shipped {
			return argumentError("Descriptions[%q] "+texts.DescriptionName, entry)
		}
	}
	return nil
}

// checkTargetRequest checks what Create is called with, and returns the price as the provider writes it. described are
// the descriptions of providers that have not the name of theirs.
func checkTargetRequest(r *Request, described map[string]string) (price string, err error) {
	if !slices.Contains(targetKinds, string(r.Kind)) {
		return "", argumentError("Kind "+texts.MustBeOneOf, targetKinds)
	}
	if r.Expected, err = checkExpected(r.Expected, r.Kind); err != nil {
		return "", err
	}
	if err := checkRequest(r); err != nil {
		return "", err
	}
	if err := checkDescribed(r.Provider, r.Kind); err != nil {
		return "", err
	}
	_, shipped := describedKinds[r.Provider]
	switch {
	case r.Expected.Match == MatchCheckout && shipped && !slices.Contains(describedCheckouts, r.Provider):
		return "", argumentError("the Match of Expected cannot be checkout: the events of %s do not name the checkout that was paid", r.Provider)
	case r.PKCE && r.Kind != OAuth:
		return "", argumentError(texts.PKCENotAllowed)
	case (r.TargetURL == "") == (r.Target == nil):
		return "", argumentError("TargetURL is required, or Target, and not both")
	case r.Expected.Match == MatchCheckout && r.Target == nil:
		return "", argumentError("MatchCheckout requires a Target with the Checkout")
	}
	if r.Target == nil {
		if err := checkTarget(Target{URL: r.TargetURL}, r.Kind); err != nil {
			return "", err
		}
	}
	if r.Kind == Payment && !r.Expected.Any && r.Expected.hasPrice() {
		description, ok := described[r.Provider]
		if !ok {
			description = r.Provider
		}
		return priceOf(description, r.Expected)
	}
	return "", nil
}

// about is what else the call asks for.
func (r *Request) about() map[string]any {
	if !r.Subscription {
		return r.About
	}
	about := map[string]any{"subscription": true}
	maps.Copy(about, r.About)
	return about
}

// expected is the price as the database has it.
func (r *Request) expected() string {
	if members, ok := r.Expected.members().(map[string]any); ok && r.Subscription {
		members["subscription"] = true
		return jsonOf(members)
	}
	return jsonOf(r.Expected)
}

// digests are those of what the call asks for. earlier is the one that a version without items has made: nil without an item.
type digests struct{ request, earlier []byte }

func (r *Request) digests(asked map[string]any) (made digests, err error) {
	mcpClient := ""
	if r.SameClient {
		mcpClient = r.ClientID
	}
	if made.request, err = digestOfRequest(r.Provider, r.Kind, r.Expected, r.Item, asked, mcpClient); err != nil || r.Item == "" {
		return made, err
	}
	made.earlier, err = digestOfRequest(r.Provider, r.Kind, r.Expected, "", asked, mcpClient)
	return made, err
}

// prepared is what a row is made of.
type prepared struct {
	key       rowKey
	request   Request
	requester string
	tenant    tenant
	target    Target
	verifier  []byte
	digest    []byte
	linkKid   int16
	form      []byte
	approvers string // of askedForm, as is verify
	verify    time.Duration
}

func (p prepared) row() newRow {
	r := p.request
	made := newRow{
		rowKey: p.key, provider: r.Provider, kind: r.Kind, subject: r.Owner.Subject, session: r.Owner.Session, requester: p.requester,
		targetURL: p.target.URL, checkout: p.target.Checkout, verifier: p.verifier, ttlMs: r.TTL.Milliseconds(), exclusive: r.Exclusive,
		resumeKey: r.ResumeKey, canRecheck: !r.CannotRecheck, request: p.digest, clientID: r.ClientID, linkKid: p.linkKid, form: p.form,
		traceparent: r.Traceparent, item: r.Item, approvers: p.approvers, tenant: string(p.tenant),
	}
	if r.Kind == Payment {
		made.expected = r.expected()
	}
	if p.verify != 0 {
		milliseconds := int(p.verify.Milliseconds())
		made.verifyMs = &milliseconds
	}
	return made
}

// jsonOf is of texts and numbers, which can be written.
func jsonOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// prepare makes the target URL, with PKCE if it is asked for.
func (m *Instance) prepare(ctx context.Context, r Request, k rowKey, urls CallbackURLs, price string) (prepared, error) {
	made := prepared{key: k, request: r, requester: m.name, target: Target{URL: r.TargetURL}}
	var err error
	if r.Target != nil {
		if made.target, err = r.Target(ctx, TargetArguments{urls, price}); err != nil {
			return made, err
		}
		if err := checkTarget(made.target, r.Kind); err != nil {
			return made, err
		}
	}
	if r.Expected.Match == MatchCheckout && made.target.Checkout == "" {
		return made, argumentError("MatchCheckout requires a Target with the Checkout")
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
	switch kind {
	case Input, Approval:
		return CallbackURLs{ElicitationID: k.id}
	case OAuth:
		// /connect mints the state of the redirect URI and binds it to the browser.
		return CallbackURLs{ElicitationID: k.id, ReturnURL: m.baseURL + "/oauth/" + provider + "/return"}
	}
	expires := time.Now().Add(ttl + time.Second - 1).Unix()
	s := state{id: k.id, expires: expires + int64(limits.GraceMax/time.Second), binding: k.binding}
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

// link is the same each time: the key that has minted it first mints it again, as long as the keys file has it.
func (m *Instance) link(at placed, purpose string) string {
	with := m.ring.minting()
	if at.linkKid != nil {
		if first := m.ring.find(byte(*at.linkKid)); first != nil {
			with = first
		}
	}
	return m.baseURL + "/connect/" + at.provider + "?state=" + mintLink(with, purpose, at.provider, at.key.id)
}

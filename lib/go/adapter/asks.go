// SPDX-License-Identifier: MIT

package adapter

import (
	"context"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/internals"
)

// What a client has answered to being asked to open an elicitation is kept with the row (lib/PROTOCOL.md, "What a client answers"). Clients
// decline, dismiss and fail by themselves, so an answer ends the ask and not the elicitation. From then on, this client gets the link as text.
const (
	accepted  = "accepted"
	asAsked   = "asked" // and it has not seen the link
	declined  = "declined"
	dismissed = "dismissed"
	failed    = "failed"
)

// These are the reasons of a call that ends with the link.
const (
	clientDeclined  = "client_declined"
	clientDismissed = "client_dismissed"
	clientFailed    = "client_failed"
)

// refusalOf is what the action of a client's response is remembered as, and the reason of its call. Both are empty if it is no refusal.
func refusalOf(action string) (answer, reason string) {
	switch urlmode.Action(action) {
	case urlmode.Decline:
		return declined, clientDeclined
	case urlmode.Cancel:
		return dismissed, clientDismissed
	}
	return "", ""
}

// beginAsk says what the client has answered before. Empty: it can be asked. awaited: its answer comes with its next call.
func (k *asking) beginAsk(ctx context.Context, id string, awaited bool) (string, error) {
	answer, err := k.a.instance.Internals(internals.Permit{}).BeginAsk(ctx, k.askOfClient(id), awaited)
	return answer, k.why(ctx, id, err)
}

// endAsk remembers an answer. Without the memory the client is asked again. The end of the call does not end it.
func (k *asking) endAsk(ctx context.Context, id, answer string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	k.a.instance.Internals(internals.Permit{}).EndAsk(ctx, k.askOfClient(id), answer)
}

func (k *asking) askOfClient(id string) internals.Ask {
	return internals.Ask{ID: id, Subject: k.request.Owner.Subject, Session: k.request.Owner.Session, Name: k.call.Client.Name, Version: k.call.Client.Version}
}

// hasFailed remembers that the client could not ask its user. It gets the link with this call or, if it does not get the answer to this
// call, with the next one.
func (k *asking) hasFailed(ctx context.Context, id string) {
	k.endAsk(ctx, id, asAsked)
	report := func(written bool) {
		if written {
			k.endAsk(ctx, id, failed)
		}
	}
	if k.call.WhenWritten != nil {
		k.call.WhenWritten(report)
		return
	}
	report(k.ctx.Err() == nil)
}

// notOpened ends a call whose client did not open the page.
func (k *asking) notOpened(elicitation urlmode.Elicitation, status urlmode.Status, reason string) End {
	if !canBeOpened(elicitation, status) || k.request.isForOthers() {
		return k.pending(elicitation, status)
	}
	return unopenedEnd(k.request.ToolRequest, k.a.instance.Name(), elicitation, status, reason, time.Now())
}

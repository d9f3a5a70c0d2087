// SPDX-License-Identifier: MIT

package urlmode

import (
	"context"

	"urlmode.example/urlmode/internal/limits"
)

// Entitlements lists what a user has subscribed to: the best subscription of each item, or of this one if it is not empty.
func (m *Instance) Entitlements(ctx context.Context, subject, item string) ([]Entitlement, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	for _, err := range []error{checkText("subject", subject, 1, limits.SubjectMax), checkText("item", item, 0, limits.ItemMax)} {
		if err != nil {
			return nil, err
		}
	}
	found, err := call(ctx, m.pool, func(ctx context.Context) ([]entitlementRow, error) {
		return run(ctx, m.pool, sqlEntitlements, entitlementsValues{tenant: string(m.tenant), subject: subject, item: item})
	})
	return column(found, toEntitlement), err
}

// IsOver means that the user may be asked for a new subscription: the best one has ended, and cannot be resumed.
func (e Entitlement) IsOver() bool {
	return !e.Entitled && !e.Paused && e.Status != PastDue
}

func toEntitlement(r entitlementRow) Entitlement {
	made := Entitlement{Item: r.itemName, Status: EntitlementStatus(r.status), Entitled: r.entitled, Paused: r.paused, Provider: r.provider,
		Account: r.account, Subscription: r.subscription, ElicitationID: r.elicitation, OpenedAt: r.openedAt}
	if r.until != nil {
		made.Until = *r.until
	}
	return made
}

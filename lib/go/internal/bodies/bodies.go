// SPDX-License-Identifier: MIT

// Package bodies is what the adapters have in common of what a call does once its user has agreed.
package bodies

import (
	"context"
	"encoding/json"
)

// InJSON is a body whose result is sent as JSON.
func InJSON[A, R any](body func(context.Context, A) (R, error)) func(context.Context, A) (json.RawMessage, error) {
	return func(ctx context.Context, accepted A) (json.RawMessage, error) {
		made, err := body(ctx, accepted)
		if err != nil {
			return nil, err
		}
		return json.Marshal(made)
	}
}

// SPDX-License-Identifier: MIT

// Package truelayer asks TrueLayer about payments, whose webhooks urlmode does not verify: for Config.Rechecks. Payments have
// the elicitation's id in their metadata, as lib/providers/truelayer.json says.
package truelayer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"urlmode.example/urlmode"
)

// Client is one of TrueLayer's Payments API v3.
type Client struct {
	// BaseURL is https://api.truelayer.com.
	BaseURL string
	// Token is an access token with the scope payments.
	Token func(context.Context) (string, error)
}

type payment struct {
	ID            string            `json:"id"`
	AmountInMinor int64             `json:"amount_in_minor"`
	Currency      string            `json:"currency"`
	Status        string            `json:"status"`
	Metadata      map[string]string `json:"metadata"`
}

type refund struct {
	ID            string `json:"id"`
	AmountInMinor int64  `json:"amount_in_minor"`
	Currency      string `json:"currency"`
	Status        string `json:"status"`
}

// The user is still at their bank in all other statuses.
var payments = map[string]urlmode.EntryStatus{
	"authorized": urlmode.EntryProcessing, "executed": urlmode.EntryPaid, "settled": urlmode.EntryPaid, "failed": urlmode.EntryFailed,
}

// An executed refund can still fail, if the bank returns it.
var refunds = map[string]urlmode.EntryStatus{
	"pending": urlmode.EntryProcessing, "authorized": urlmode.EntryProcessing, "executed": urlmode.EntryPaid, "failed": urlmode.EntryFailed,
}

// Recheck returns all that TrueLayer has of the payments that events have named. Each names its elicitation itself.
func (c *Client) Recheck(ctx context.Context, event urlmode.Recheck) (*urlmode.Answer, error) {
	answer := &urlmode.Answer{}
	for _, id := range event.References {
		var paid payment
		if found, err := c.get(ctx, "/v3/payments/"+url.PathEscape(id), &paid); err != nil || !found {
			if err != nil {
				return nil, err
			}
			continue // Whoever has sent the event has made it up.
		}
		status, known := payments[paid.Status]
		if !known {
			continue
		}
		answer.Payments = append(answer.Payments, urlmode.PaymentEntry{Reference: paid.ID, Amount: paid.AmountInMinor, Currency: paid.Currency,
			Status: status, ElicitationID: paid.Metadata["elicitation_id"]})
		var list struct {
			Items []refund `json:"items"`
		}
		if _, err := c.get(ctx, "/v3/payments/"+url.PathEscape(id)+"/refunds", &list); err != nil {
			return nil, err
		}
		for _, back := range list.Items {
			answer.Refunds = append(answer.Refunds, urlmode.RefundEntry{Reference: back.ID, Payment: paid.ID, Amount: back.AmountInMinor,
				Currency: back.Currency, Status: refunds[back.Status]})
		}
	}
	return answer, nil
}

func (c *Client) get(ctx context.Context, path string, into any) (found bool, err error) {
	token, err := c.Token(ctx)
	if err != nil {
		return false, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.BaseURL+path, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		return true, json.NewDecoder(response.Body).Decode(into)
	case http.StatusNotFound:
		return false, nil
	}
	return false, fmt.Errorf("TrueLayer answers %d", response.StatusCode)
}

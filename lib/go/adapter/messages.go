// SPDX-License-Identifier: MIT

package adapter

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"urlmode.example/urlmode"
)

// The words that the user reads, or the model that talks to the user. A test compares them with those of
// lib/node/src/adapters/messages.js.

var reasonTexts = map[string]string{
	"refused":       "the user refused",
	"access_denied": "the user refused",
	"cancelled":     "the user cancelled",
	"dismissed":     "the user dismissed the request",
	"expired":       "nobody completed it in time",
	"superseded":    "a newer request replaced it",
	"claimed":       "another call has already used the outcome",
	"refunded":      "the payment was refunded",
	"held": "it was paid, and a part of it may have gone back. The user need not pay again: the operator of this service decides about it, " +
		"and then this tool can be called again with the same arguments",
	"refused_input":    "what the user typed was not accepted five times",
	"not_checked":      "what the user typed could not be verified ten times",
	"payment_failed":   "the payment failed",
	"amount_mismatch":  "the amount paid differs from the price",
	"provider_error":   "the provider reported an error",
	"issuer_missing":   "the response did not say which provider it is from",
	"issuer_mismatch":  "the response is from another provider",
	"exchange_refused": "the provider did not grant access",
	"exchange_failed":  "the provider could not be asked for access",
	"scope_missing":    "not everything was granted that is needed",
	"other_account": "another account was connected than the one that is needed. It is kept as well. The user can connect the right one: call this " +
		"tool again with the same arguments",
}

var progressMessages = map[urlmode.Progress]string{
	"pending":                     "Waiting for the user to open the page.",
	urlmode.ProgressOpened:        "The page is open in the browser.",
	urlmode.ProgressAttemptFailed: "An attempt to pay has failed. The user can try again.",
	urlmode.ProgressProcessing:    "The provider is working on it.",
}

var inputMessages = map[urlmode.Progress]string{
	urlmode.ProgressAttemptFailed: "What the user typed was not accepted. The user can try again.",
	urlmode.ProgressProcessing:    "What the user typed is being verified.",
}

func progressMessage(kind urlmode.Kind, status urlmode.Progress) string {
	if said := inputMessages[status]; kind == urlmode.Input && said != "" {
		return said
	}
	return progressMessages[status]
}

// tasks are what the user does on the page.
var tasks = map[urlmode.Kind]string{
	urlmode.OAuth: "connect the account", urlmode.Payment: "pay", urlmode.Signature: "sign", urlmode.Input: "fill in the form",
	urlmode.Approval: "decide",
}

var openTexts = map[urlmode.Status]string{
	urlmode.Pending:    "The link is no longer valid, and nobody has opened it.",
	urlmode.Opened:     "It is not finished yet: the user has opened the page and can still finish there.",
	urlmode.Processing: "The provider is still working on it.",
	"claimed":          "Another call of this tool is working on it.",
}

const isoForm = "2006-01-02T15:04:05.000Z"

const again = "call this tool again with the same arguments"

// text is a part of a result.
type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type structured struct {
	Elicitation described `json:"elicitation"`
}

// described is what a result says of an elicitation to a program.
type described struct {
	ElicitationID string            `json:"elicitationId"`
	Status        urlmode.Status    `json:"status"`
	Kind          urlmode.Kind      `json:"kind"`
	Message       string            `json:"message"`
	URL           string            `json:"url,omitempty"`
	Approver      any               `json:"approver,omitempty"`
	ApprovalURL   string            `json:"approvalUrl,omitempty"`
	ExpiresAt     string            `json:"expiresAt,omitempty"`
	Expected      *urlmode.Expected `json:"expected,omitempty"`
}

func endOf(said string, isError bool, about *described) End {
	result := struct {
		Content    []text      `json:"content"`
		IsError    bool        `json:"isError,omitempty"`
		Structured *structured `json:"structuredContent,omitempty"`
	}{[]text{{"text", said}}, isError, nil}
	if about != nil {
		result.Structured = &structured{*about}
	}
	made, _ := json.Marshal(result) // only text
	return End{Result: made}
}

// linkEnd ends a call whose elicitation is open. The link stands alone on its line, so that a model passes it on as it is.
func linkEnd(wish Wish, name string, asked urlmode.Elicitation, status urlmode.Status, now time.Time) End {
	price, opened := wish.Expected.String(), ""
	if price != "" {
		price = " " + price
	}
	if status == urlmode.Opened {
		opened = " " + openTexts[status]
	}
	said := fmt.Sprintf("%s\n\nTo %s%s, the user opens this link in a browser, which is a page of %s:\n\n%s\n\nThe link works for %s.%s\n\n"+
		"Show the user the link exactly as it is, alone on its line. When the user says that it is done, %s: that continues this request, "+
		"and asks for nothing that is done.", wish.Message, tasks[wish.Kind], price, name, asked.URL, inWords(asked.ExpiresAt.Sub(now)), opened, again)
	about := described{ElicitationID: asked.ElicitationID, Status: status, Kind: wish.Kind, Message: wish.Message, URL: asked.URL,
		ExpiresAt: asked.ExpiresAt.UTC().Format(isoForm)}
	if price != "" {
		about.Expected = &wish.Expected
	}
	return endOf(said, false, &about)
}

// approversEnd ends a call that waits for a decision of somebody else. The link, which is the URL of asked, is for them.
func approversEnd(wish question, name string, asked urlmode.Elicitation, status urlmode.Status, now time.Time) End {
	who, approver := "somebody else who can sign in at "+name, any("others")
	if !wish.others {
		who, approver = strings.Join(wish.approvers, " or "), wish.approvers
	}
	sent, nobody := ". Show the user this link to pass on", "Nobody"
	if wish.sendLink != nil {
		sent = ", who has been sent this link"
	}
	if status == urlmode.Opened {
		nobody = "It was opened, and nobody"
	}
	said := fmt.Sprintf("%s\n\nThe decision is for %s%s, which is a page of %s:\n\n%s\n\nThe link works for %s. %s has decided yet. "+
		"To learn the decision, %s later: that continues this request, and asks nobody again.",
		wish.Message, who, sent, name, asked.URL, inWords(asked.ExpiresAt.Sub(now)), nobody, again)
	return endOf(said, false, &described{ElicitationID: asked.ElicitationID, Status: status, Kind: wish.Kind, Message: wish.Message,
		Approver: approver, ApprovalURL: asked.URL, ExpiresAt: asked.ExpiresAt.UTC().Format(isoForm)})
}

// openEnd says that the call has ended, and that what the user has begun has not.
func openEnd(wish Wish, id string, status urlmode.Status) End {
	state := openTexts[status]
	if wish.Kind == urlmode.Input && status == urlmode.Processing {
		state = inputMessages[urlmode.ProgressProcessing]
	}
	said := fmt.Sprintf("%s\n\n%s It goes on without this call. To learn how it ends, %s later: that continues the same request and does not "+
		"start another one.", wish.Message, state, again)
	return endOf(said, false, &described{ElicitationID: id, Status: status, Kind: wish.Kind, Message: wish.Message})
}

// declinedEnd is of an approval that was refused.
func declinedEnd(outcome urlmode.Outcome) End {
	comment := ""
	if outcome.Comment != "" {
		comment = ": “" + outcome.Comment + "”"
	}
	return endOf("Not done: "+outcome.Approver+" declined"+comment+".", true, nil)
}

func failureEnd(action urlmode.Action, reason string) End { return detailedEnd(action, reason, "") }

// detailedEnd is an end with a detail, which has no secret.
func detailedEnd(action urlmode.Action, reason, detail string) End {
	why, known := reasonTexts[reason]
	switch {
	case known:
	case reason != "":
		why = reason
	case action == urlmode.Decline:
		why = "the user refused"
	default:
		why = "it was cancelled"
	}
	if detail != "" {
		why += " (" + detail + ")"
	}
	return endOf("Not done: "+why+".", true, nil)
}

func inWords(rest time.Duration) string {
	minutes := max(1, int((rest+30*time.Second)/time.Minute))
	switch {
	case minutes >= 2*1440:
		return fmt.Sprintf("%d days", minutes/1440)
	case minutes >= 2*60:
		return fmt.Sprintf("%d hours", minutes/60)
	case minutes == 1:
		return "one minute"
	}
	return fmt.Sprintf("%d minutes", minutes)
}

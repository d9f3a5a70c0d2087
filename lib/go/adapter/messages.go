// SPDX-License-Identifier: MIT

package adapter

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"urlmode.example/urlmode"
)

func progressMessage(kind urlmode.Kind, status urlmode.Progress) string {
	if said := inputProgressTexts[string(status)]; kind == urlmode.Input && said != "" {
		return said
	}
	return progressTexts[string(status)]
}

const isoForm = "2006-01-02T15:04:05.000Z"

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
	Reason        string            `json:"reason,omitempty"`
	Expected      *urlmode.Expected `json:"expected,omitempty"`
}

// text is what a result says to the model.
func (e End) text() string {
	var result struct{ Content []text }
	if json.Unmarshal(e.Result, &result) != nil || len(result.Content) == 0 {
		return ""
	}
	return result.Content[0].Text
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
func linkEnd(request ToolRequest, name string, elicitation urlmode.Elicitation, status urlmode.Status, now time.Time) End {
	return unopenedEnd(request, name, elicitation, status, "", now)
}

// unopenedEnd is linkEnd, and says why the client did not open the page, if it was asked.
func unopenedEnd(request ToolRequest, name string, elicitation urlmode.Elicitation, status urlmode.Status, reason string, now time.Time) End {
	price, opened, message := request.Expected.String(), "", request.Message
	if price != "" {
		price = " " + price
	}
	if status == urlmode.Opened {
		opened = " " + openTexts[string(status)]
	}
	if reason != "" {
		message = notOpenedText(message, notOpenedTexts[reason])
	}
	said := linkText(message, tasksTexts[string(request.Kind)], price, name, elicitation.URL, inWords(elicitation.ExpiresAt.Sub(now)), opened)
	about := described{ElicitationID: elicitation.ElicitationID, Status: status, Kind: request.Kind, Message: request.Message, URL: elicitation.URL,
		ExpiresAt: elicitation.ExpiresAt.UTC().Format(isoForm), Reason: reason}
	if price != "" {
		about.Expected = &request.Expected
	}
	return endOf(said, false, &about)
}

// approversEnd ends a call that waits for a decision of somebody else. The link, which is the URL of the elicitation, is for them.
func approversEnd(request question, name string, elicitation urlmode.Elicitation, status urlmode.Status, now time.Time) End {
	who, approver := otherApproverText(name), any("others")
	if !request.others {
		who, approver = strings.Join(request.approvers, " or "), request.approvers
	}
	sent, nobody := linkToPassOnText, nobodyYetText
	if request.sendLink != nil {
		sent = linkSentText
	}
	if status == urlmode.Opened {
		nobody = openedByNobodyText
	}
	said := approversText(request.Message, who, sent, name, elicitation.URL, inWords(elicitation.ExpiresAt.Sub(now)), nobody)
	return endOf(said, false, &described{ElicitationID: elicitation.ElicitationID, Status: status, Kind: request.Kind, Message: request.Message,
		Approver: approver, ApprovalURL: elicitation.URL, ExpiresAt: elicitation.ExpiresAt.UTC().Format(isoForm)})
}

// openEnd says that the call has ended, and that what the user has begun has not.
func openEnd(request ToolRequest, id string, status urlmode.Status) End {
	state := openTexts[string(status)]
	if request.Kind == urlmode.Input && status == urlmode.Processing {
		state = inputProgressTexts[string(urlmode.ProgressProcessing)]
	}
	return endOf(openText(request.Message, state), false, &described{ElicitationID: id, Status: status, Kind: request.Kind, Message: request.Message})
}

// declinedEnd is of an approval that was refused.
func declinedEnd(outcome urlmode.Outcome) End {
	comment := ""
	if outcome.Comment != "" {
		comment = commentText(outcome.Comment)
	}
	return endOf(declinedText(outcome.Approver, comment), true, nil)
}

func failureEnd(action urlmode.Action, reason string) End { return detailedEnd(action, reason, "") }

// detailedEnd is an end with a detail, which has no secret.
func detailedEnd(action urlmode.Action, reason, detail string) End {
	why, known := reasonsTexts[reason]
	switch {
	case known:
	case reason != "":
		why = reason
	case action == urlmode.Decline:
		why = refusedText
	default:
		why = cancelledText
	}
	if detail != "" {
		detail = detailText(detail)
	}
	return endOf(failureText(why, detail), true, nil)
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

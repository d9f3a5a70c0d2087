// SPDX-License-Identifier: MIT

package app

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/adaptertest"
	urlmcp "urlmode.example/urlmode/mcp"
)

type askedTask struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
}

type answeredTask struct {
	mcp.ResultBase
	Status string `json:"status"`
	Result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// throughTask calls a tool that uses the account, and asks for the task that the call becomes.
func (u *user) throughTask() func() string {
	serves, tools := u.serve()
	if err := tools.HandleTasks(serves, urlmcp.TaskOptions{Owner: func(*mcp.RequestExtra) urlmode.Owner { return u.me }}); err != nil {
		u.t.Fatal(err)
	}
	capabilities := &mcp.ClientCapabilities{}
	capabilities.AddExtension("io.modelcontextprotocol/tasks", nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "tests", Version: "1"}, &mcp.ClientOptions{Capabilities: capabilities})
	if err := mcp.AddSendingCustomMethod[*askedTask, *answeredTask](client, "tasks/get"); err != nil {
		u.t.Fatal(err)
	}
	session := u.connect(serves, client)
	return func() (said string) {
		before := len(u.tasks())
		result, err := session.CallTool(u.t.Context(), &mcp.CallToolParams{Name: "use"})
		if err != nil {
			return err.Error()
		}
		made := u.tasks()
		if len(made) == before {
			return result.Content[0].(*mcp.TextContent).Text
		}
		u.answer(idOf(u, ""))
		adaptertest.Until(u.t, "the task has ended", func() bool {
			got, err := mcp.CallCustomMethod[*askedTask, *answeredTask](u.t.Context(), session, "tasks/get", &askedTask{TaskID: made[0]})
			if err != nil {
				u.t.Fatal(err)
			}
			if got.Status == "completed" {
				said = got.Result.Content[0].Text
			}
			return got.Status == "completed"
		})
		return said
	}
}

// tasks are those of the user, the newest first.
func (u *user) tasks() (ids []string) {
	u.t.Helper()
	found, err := adaptertest.AsOperator(u.t).Query(context.Background(),
		"SELECT t.id::text FROM urlmode.task t JOIN urlmode.elicitation e ON e.id = t.elicitation WHERE e.subject = $1 ORDER BY t.created_at DESC", u.me.Subject)
	if err == nil {
		ids, err = pgx.CollectRows(found, pgx.RowTo[string])
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return ids
}

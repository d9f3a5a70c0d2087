// SPDX-License-Identifier: MIT

package adapter

import (
	"encoding/json"

	"urlmode.example/urlmode"
)

// Output is what a tool with an output schema returns. A result must have structured content that fits the schema, or be
// an error, which needs none. Clients refuse any other result, and with it the link.
type Output struct {
	// Schema is the output schema, as JSON.
	Schema json.RawMessage
	// Validate returns why structured content does not fit the schema, or nil.
	Validate func(structured any) error
}

// sent is the part of a result that an output schema is about.
type sent struct {
	Content    json.RawMessage `json:"content"`
	IsError    bool            `json:"isError,omitempty"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
}

func isError(result json.RawMessage) bool {
	var made sent
	return json.Unmarshal(result, &made) == nil && made.IsError
}

// Check returns an error if the result of a tool does not fit its output schema. A nil Output takes every result.
func (o *Output) Check(result json.RawMessage) error {
	var made sent
	if o == nil {
		return nil
	}
	if err := json.Unmarshal(result, &made); err != nil || made.IsError {
		return err
	}
	if made.Structured == nil {
		return refuse("the tool has an output schema, and its result has no structured content")
	}
	if err := o.validate(made.Structured); err != nil {
		return failure(urlmode.ErrArgument, err, "the result of the tool does not fit its output schema: %v", err)
	}
	return nil
}

// fit returns an end without the result of a body in a form that reaches the client.
func (o *Output) fit(end End) End {
	var answer sent
	if o == nil || json.Unmarshal(end.Result, &answer) != nil || answer.Structured == nil || o.takes(answer.Structured) {
		return end
	}
	made, err := json.Marshal(sent{Content: answer.Content, IsError: true})
	if err != nil {
		return end
	}
	return End{Result: made}
}

// takes reports whether structured content that describes an elicitation fits, and cannot be taken for the result of a body.
func (o *Output) takes(structured json.RawMessage) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(o.Schema, &schema) != nil {
		return false
	}
	_, isNamed := schema.Properties["elicitation"]
	return (isNamed || len(schema.Properties) == 0) && o.validate(structured) == nil
}

func (o *Output) validate(structured json.RawMessage) error {
	var value any
	if err := json.Unmarshal(structured, &value); err != nil {
		return err
	}
	return o.Validate(value)
}

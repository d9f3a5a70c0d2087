// SPDX-License-Identifier: MIT

package urlmode

import (
	"reflect"
	"strings"

	"urlmode.example/urlmode/internal/texts"
)

// Typed is what a user has typed, and is to be verified.
type Typed struct {
	ElicitationID string // of which elicitation
	Provider      string // its name in the configuration
	// Values has a bool for a checkbox, a float64 for a number, and otherwise a string. Fields that are empty are left out.
	Values map[string]any
}

// String leaves out the values.
func (t Typed) String() string { return t.ElicitationID + ": typed" }

// GoString leaves out the values.
func (t Typed) GoString() string { return t.String() }

// Problem is what WaitOptions.Verify has found. It is shown at the field, and must not contain the value.
type Problem struct {
	Field string `json:"field"` // the name of the field that has it
	// Problem is at most 500 characters.
	Problem Words `json:"problem"`
}

// check returns the problem as JSON. Its error has no value of the user.
func (p Problem) check() ([]byte, error) {
	if found := formSchema().faultIn("problem", plainValue(reflect.ValueOf(p))); found != nil {
		member := strings.Split(found.pointer, "/")[1]
		return nil, argumentError("the %s of a Problem %s", member, found.must)
	}
	text, err := toJSON(p)
	if most := *formSchema().Defs["problem"].MaxBytes; err != nil || len(text) > most {
		return nil, argumentError(texts.ProblemTooLarge, most)
	}
	return text, nil
}

// SPDX-License-Identifier: MIT

package urlmode

import "testing"

// Values are checked as in the other languages.
func TestFirstMistakeHasAPlaceAndASentence(t *testing.T) {
	var all []struct {
		Name   string
		Schema schema
		Cases  []struct {
			Value         any
			Pointer, Must string
		}
	}
	readJSON(t, "../../tests/vectors/schema-cases.json", &all)
	if len(all) < 20 {
		t.Fatal("there are no cases")
	}
	for _, group := range all {
		group.Schema.formats = formFormats
		for _, each := range group.Cases {
			found := group.Schema.faultIn("it", each.Value)
			if found == nil {
				found = &fault{}
			}
			if *found != (fault{each.Pointer, each.Must}) {
				t.Errorf("%s: %v: %+v", group.Name, each.Value, *found)
			}
		}
	}
}

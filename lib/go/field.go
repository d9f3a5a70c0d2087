// SPDX-License-Identifier: MIT

package urlmode

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sync"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/texts"
)

// formSchemaJSON is lib/contract/form.schema.json: TestFormSchema compares it.
//
//go:embed form.schema.json
var formSchemaJSON []byte

// formSchema says what a form and a problem may have.
var formSchema = sync.OnceValue(func() *schema {
	found := &schema{formats: formFormats}
	if err := json.Unmarshal(formSchemaJSON, found); err != nil {
		panic(err) // A mistake in this package.
	}
	return found
})

// check returns the form as JSON.
func (f InputForm) check() ([]byte, error) { return checkForm("input", f, f.Fields) }

// check returns the form as JSON.
func (f ApprovalForm) check() ([]byte, error) { return checkForm("approval", f, nil) }

func checkForm(name string, form any, fields []Field) ([]byte, error) {
	found := formSchema().faultIn(name, plainValue(reflect.ValueOf(form)))
	for i := 0; found == nil && i < len(fields); i++ {
		if member, must := fields[i].misfit(); must != "" {
			found = faultAt(fmt.Sprintf("/fields/%d/%s", i, member), "%s", must)
		}
	}
	if found != nil {
		return nil, argumentError("form%s %s", found.pointer, found.must)
	}
	text, err := toJSON(form)
	if err != nil {
		return nil, argumentError("form must be such as JSON can write")
	}
	if most := formSchema().MaxBytes; len(text) > most {
		return nil, argumentError(texts.FormTooLarge, most, len(text))
	}
	return text, nil
}

// misfit is a member that does not fit to the others, and what it must be. The field is as the schema says.
func (f Field) misfit() (member, must string) {
	switch f.Type {
	case NumberField:
		return f.misfitOfNumber()
	case ChoiceField:
		for _, each := range f.Choices {
			if f.Default == nil || f.Default == each.Value {
				return "", ""
			}
		}
		return "default", texts.MustBeChoice
	case CheckboxField:
		return "", ""
	}
	return f.misfitOfText()
}

func (f Field) misfitOfNumber() (member, must string) {
	least, most := valueOr(f.Min, math.Inf(-1)), valueOr(f.Max, math.Inf(1))
	given, isGiven := plainValue(reflect.ValueOf(&f.Default)).(float64)
	switch {
	case least > most:
		return "max", texts.MaxBelowMin
	case isGiven && (given < least || given > most):
		return "default", texts.MustBeInRange
	}
	return "", ""
}

func (f Field) misfitOfText() (member, must string) {
	bounds := formSchema().Defs[string(f.Type)].Properties.of("max")
	usual := bounds.Default.(float64)
	if f.Multiline {
		usual = *bounds.Maximum
	}
	least, most := int(valueOr(f.Min, 0)), int(valueOr(f.Max, usual))
	text, isGiven := f.Default.(string)
	length := utf8.RuneCountInString(text)
	switch {
	case least > most:
		return "max", fmt.Sprintf(texts.UsualMaxBelowMin, most)
	case f.Multiline && f.Format != "":
		return "format", texts.NotForLines
	case isGiven && (length < least || length > most):
		return "default", fmt.Sprintf(texts.MustHaveLength, least, most)
	case isGiven && f.Format != "" && !formats[f.Format].MatchString(text):
		return "default", fmt.Sprintf(texts.MustHaveFormat, f.Format)
	}
	return "", ""
}

func valueOr(value *float64, otherwise float64) float64 {
	if value == nil {
		return otherwise
	}
	return *value
}

// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"urlmode.example/urlmode/internal/texts"
)

// schema checks values against the part of JSON Schema (2020-12) that is in lib/contract, and says where the first mistake
// is. tests/vectors/schema-cases.json has cases for all languages.
type schema struct {
	Defs     map[string]*rules `json:"$defs"`
	MaxBytes int               `json:"maxBytes"`
	// formats say what is wrong with a value, or nothing.
	formats map[string]func(any) string
}

// rules are a schema, or a part of one.
type rules struct {
	Ref           string `json:"$ref"`
	Discriminator struct {
		PropertyName string `json:"propertyName"`
	} `json:"discriminator"`
	OneOf         []*rules    `json:"oneOf"`
	AnyOf         []*rules    `json:"anyOf"`
	Type          string      `json:"type"`
	Enum          []any       `json:"enum"`
	Const         any         `json:"const"`
	Format        string      `json:"format"`
	MinLength     int         `json:"minLength"`
	MaxLength     *int        `json:"maxLength"`
	MaxBytes      *int        `json:"maxBytes"`
	Minimum       *float64    `json:"minimum"`
	Maximum       *float64    `json:"maximum"`
	Default       any         `json:"default"`
	Items         *rules      `json:"items"`
	MinItems      int         `json:"minItems"`
	MaxItems      *int        `json:"maxItems"`
	UniqueMember  string      `json:"uniqueMember"`
	Properties    memberRules `json:"properties"`
	Required      []string    `json:"required"`
	Names         *rules      `json:"propertyNames"`
	Others        *rules      `json:"additionalProperties"`
	MinProperties int         `json:"minProperties"`
	isFalse       bool        // the schema false, which nothing fulfils
}

// UnmarshalJSON reads an object, true or false.
func (r *rules) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		r.isFalse = string(text) == "false"
		return nil
	}
	type plain rules
	return json.Unmarshal(text, (*plain)(r))
}

// memberRules are the rules of members, in the order of the file.
type memberRules []struct {
	name string
	*rules
}

// UnmarshalJSON reads an object.
func (m *memberRules) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		of := new(rules)
		if err := decoder.Decode(of); err != nil {
			return err
		}
		*m = append(*m, struct {
			name string
			*rules
		}{name.(string), of})
	}
	return nil
}

func (m memberRules) of(name string) *rules {
	for _, each := range m {
		if each.name == name {
			return each.rules
		}
	}
	return nil
}

// fault is where a mistake is (RFC 6901), and the rest of a sentence about it.
type fault struct{ pointer, must string }

func faultAt(pointer, format string, values ...any) *fault {
	return &fault{pointer, fmt.Sprintf(format, values...)}
}

// faultIn returns nil if there is no mistake. The value is such as [plainValue] makes.
func (s *schema) faultIn(name string, value any) *fault { return s.check(s.Defs[name], value, "") }

func (s *schema) resolve(r *rules) *rules {
	if r.Ref != "" {
		return s.resolve(s.Defs[strings.TrimPrefix(r.Ref, "#/$defs/")])
	}
	return r
}

// typeWords are the types of JSON Schema in a sentence.
var typeWords = map[string]string{"string": "a string", "boolean": "true or false", "number": "a number", "integer": "a whole number",
	"array": "an array", "object": "an object"}

func isType(name string, value any) bool {
	switch value := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && value == math.Trunc(value)
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func (s *schema) check(given *rules, value any, pointer string) *fault {
	r := s.resolve(given)
	if r.Discriminator.PropertyName != "" {
		return s.checkSelected(r, value, pointer)
	}
	if r.AnyOf != nil {
		return s.checkAny(r.AnyOf, value, pointer)
	}
	if choices := r.choices(); choices != nil && !slices.ContainsFunc(choices, func(one any) bool { return reflect.DeepEqual(one, value) }) {
		one := "one of "
		if len(choices) == 1 {
			one = ""
		}
		return faultAt(pointer, "must be %s%s", one, joined(choices))
	}
	if r.Type != "" && !isType(r.Type, value) {
		return faultAt(pointer, "must be %s%s", typeWords[r.Type], r.span())
	}
	switch value := value.(type) {
	case string:
		return s.checkString(r, value, pointer)
	case float64:
		if r.Minimum != nil && (value < *r.Minimum || value > *r.Maximum) {
			return faultAt(pointer, "must be %s%s", typeWords[r.Type], r.span())
		}
		return s.checkFormat(r, value, pointer)
	case []any:
		return s.checkArray(r, value, pointer)
	case map[string]any:
		return s.checkMembers(r, value, pointer)
	}
	return nil
}

func (r *rules) choices() []any {
	if r.Const != nil {
		return []any{r.Const}
	}
	return r.Enum
}

func joined(choices []any) string {
	shown := make([]string, len(choices))
	for i, each := range choices {
		shown[i] = fmt.Sprint(each)
	}
	return strings.Join(shown, ", ")
}

// span is that of a number.
func (r *rules) span() string {
	if r.Minimum == nil {
		return ""
	}
	return fmt.Sprintf(" from %v to %v", *r.Minimum, *r.Maximum)
}

// checkSelected checks a value by the rules that one of its members selects.
func (s *schema) checkSelected(r *rules, value any, pointer string) *fault {
	object, isObject := value.(map[string]any)
	if !isObject {
		return faultAt(pointer, texts.MustBeObject)
	}
	name := r.Discriminator.PropertyName
	var known []any
	for _, each := range r.OneOf {
		selected := s.resolve(each)
		constant := selected.Properties.of(name).Const
		if constant == object[name] {
			return s.check(selected, value, pointer)
		}
		known = append(known, constant)
	}
	return faultAt(pointer+"/"+name, texts.MustBeOneOf, joined(known))
}

// checkAny checks a value by the branch that has its type.
func (s *schema) checkAny(branches []*rules, value any, pointer string) *fault {
	var words []string
	for _, each := range branches {
		branch := s.resolve(each)
		if isType(branch.Type, value) {
			return s.check(branch, value, pointer)
		}
		words = append(words, typeWords[branch.Type])
	}
	return faultAt(pointer, "must be %s", strings.Join(words, " or "))
}

func (s *schema) checkString(r *rules, value, pointer string) *fault {
	length := utf8.RuneCountInString(value)
	switch {
	case length < r.MinLength && r.MaxLength == nil:
		return faultAt(pointer, texts.MustNotBeEmpty)
	case length < r.MinLength || r.MaxLength != nil && length > *r.MaxLength:
		return faultAt(pointer, texts.MustHaveCharacters, r.MinLength, *r.MaxLength)
	case r.MaxBytes != nil && len(value) > *r.MaxBytes:
		return faultAt(pointer, texts.MustHaveBytesAtMost, *r.MaxBytes)
	}
	return s.checkFormat(r, value, pointer)
}

func (s *schema) checkFormat(r *rules, value any, pointer string) *fault {
	if r.Format == "" {
		return nil
	}
	if must := s.formats[r.Format](value); must != "" {
		return faultAt(pointer, "%s", must)
	}
	return nil
}

func (s *schema) checkArray(r *rules, value []any, pointer string) *fault {
	if len(value) < r.MinItems || r.MaxItems != nil && len(value) > *r.MaxItems {
		return faultAt(pointer, texts.MustHaveElements, r.MinItems, *r.MaxItems)
	}
	known := map[any]bool{}
	for i, each := range value {
		if found := s.check(r.Items, each, fmt.Sprintf("%s/%d", pointer, i)); found != nil {
			return found
		}
	}
	for i, each := range value {
		if r.UniqueMember == "" {
			break
		}
		one := each.(map[string]any)[r.UniqueMember]
		if known[one] {
			return faultAt(fmt.Sprintf("%s/%d/%s", pointer, i, r.UniqueMember), texts.MustNotOccurTwice)
		}
		known[one] = true
	}
	return nil
}

func (s *schema) checkMembers(r *rules, value map[string]any, pointer string) *fault {
	at := func(name string) string {
		return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	var allowed, more []string
	for _, each := range r.Properties {
		allowed = append(allowed, each.name)
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if r.Properties.of(name) == nil {
			more = append(more, name)
		}
	}
	if r.Names != nil {
		allowed = strings.Split(joined(s.resolve(r.Names).Enum), ", ")
	}
	for _, name := range more {
		if r.Others != nil && r.Others.isFalse || r.Names != nil && !slices.Contains(allowed, name) {
			return faultAt(at(name), texts.AllowedHere, strings.Join(allowed, ", "))
		}
	}
	if len(value) < r.MinProperties {
		return faultAt(pointer, texts.MustNotBeEmpty)
	}
	for _, each := range r.Properties {
		member, is := value[each.name]
		if !is && slices.Contains(r.Required, each.name) {
			return faultAt(at(each.name), "is missing")
		}
		if is {
			if found := s.check(each.rules, member, at(each.name)); found != nil {
				return found
			}
		}
	}
	for _, name := range more {
		if r.Others == nil {
			break
		}
		if found := s.check(r.Others, value[name], at(name)); found != nil {
			return found
		}
	}
	return nil
}

// plainValue is what the JSON of a value means, but with its texts and numbers as they are, also those that JSON cannot write.
func plainValue(value reflect.Value) any {
	switch value.Kind() {
	case reflect.Pointer:
		return plainValue(value.Elem())
	case reflect.Interface: // the default of a field
		if kind := value.Elem().Kind(); kind == reflect.String || kind == reflect.Bool || kind == reflect.Int || kind == reflect.Float64 {
			return plainValue(value.Elem())
		}
		return nil
	case reflect.Struct:
		return plainMembers(value)
	case reflect.Map:
		words, _ := value.Interface().(Words)
		if words.isPlain() {
			return words[""]
		}
		object := map[string]any{}
		for name, text := range words {
			object[name] = text
		}
		return object
	case reflect.Slice:
		list := make([]any, value.Len())
		for i := range list {
			list[i] = plainValue(value.Index(i))
		}
		return list
	case reflect.String:
		return value.String()
	case reflect.Bool:
		return value.Bool()
	case reflect.Int:
		return float64(value.Int())
	case reflect.Float64:
		return value.Float()
	}
	return nil // Nothing that a form can have.
}

func plainMembers(value reflect.Value) map[string]any {
	object := map[string]any{}
	for i := range value.NumField() {
		member := value.Field(i)
		if value.Type().Field(i).Anonymous {
			maps.Copy(object, plainMembers(member))
			continue
		}
		name, options, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		canBeNil := member.Kind() == reflect.Map || member.Kind() == reflect.Slice
		if member.IsZero() && (canBeNil || options == "omitempty") {
			continue
		}
		object[name] = plainValue(member)
	}
	return object
}

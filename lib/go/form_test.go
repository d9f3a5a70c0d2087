// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// formVectors are the known answers that all languages read.
func formVectors(t testing.TB) (found struct {
	Seals []struct {
		vector
		Info      use
		Text      string
		SealedHex string `json:"sealed_hex"`
	}
	Formats []struct {
		Format          FieldFormat
		Matches, Misses []string
	}
	Forms, Broken []struct {
		Name, Pointer, Must string
		Kind                Kind
		Form                json.RawMessage
	}
}) {
	t.Helper()
	readJSON(t, "../../tests/vectors/form.json", &found)
	if len(found.Seals) == 0 || len(found.Formats) == 0 || len(found.Forms) == 0 || len(found.Broken) == 0 {
		t.Fatal("there are no vectors")
	}
	return found
}

func TestWhatIsForThePageIsSealed(t *testing.T) {
	count := 0
	for _, v := range formVectors(t).Seals {
		if v.BindingHex == "" {
			continue // The SDK does not seal it.
		}
		count++
		ring, k := keyRing{v.key(t)}, v.row()
		if sealed := seal(ring, v.Info, k, []byte(v.Text), unhex(t, v.NonceHex)); hex.EncodeToString(sealed) != v.SealedHex {
			t.Errorf("%s is sealed as %x", v.Name, sealed)
		}
		var opened map[string]any
		if err := unseal(ring, v.Info, rowKey{k.id, bindingOf(someone())}, unhex(t, v.SealedHex), &opened); !errors.Is(err, ErrSeal) {
			t.Errorf("%s, for another owner: %v", v.Name, err)
		}
	}
	if count != 2 {
		t.Fatalf("there are %d", count)
	}
}

// strictly reads a form, whose members are all known.
func strictly(kind Kind, text []byte) (checked []byte, isForm bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if kind == Input {
		var form InputForm
		if decoder.Decode(&form) != nil {
			return nil, false, nil
		}
		checked, err = form.check()
	} else {
		var form ApprovalForm
		if decoder.Decode(&form) != nil {
			return nil, false, nil
		}
		checked, err = form.check()
	}
	return checked, true, err
}

func TestFormIsTakenAsItIs(t *testing.T) {
	for _, v := range formVectors(t).Forms {
		checked, _, err := strictly(v.Kind, v.Form)
		var is, wanted any
		if err != nil || json.Unmarshal(checked, &is) != nil || json.Unmarshal(v.Form, &wanted) != nil || !reflect.DeepEqual(is, wanted) {
			t.Errorf("%s: %s, %v", v.Name, checked, err)
		}
	}
}

// A mistake is named by its place. Some cannot be made in Go, because of the types.
func TestMistakeInAForm(t *testing.T) {
	made := 0
	for _, v := range formVectors(t).Broken {
		_, isForm, err := strictly(v.Kind, v.Form)
		if !isForm {
			continue
		}
		made++
		if !errors.Is(err, ErrArgument) || err.Error() != "form"+v.Pointer+" "+v.Must {
			t.Errorf("%s: %v, and not at %s: %s", v.Name, err, v.Pointer, v.Must)
		}
	}
	if made < 80 {
		t.Errorf("only %d can be made", made)
	}
}

// COUNT and SEED of the environment choose them. Those with other types cannot be made in Go.
func TestRandomFormsAreCheckedAsInOtherLanguages(t *testing.T) {
	lines, err := exec.Command("node", "../../tests/support/random-forms.mjs").Output()
	if err != nil {
		t.Fatal(err)
	}
	made, refusals := 0, 0
	for line := range bytes.Lines(lines) {
		var v struct {
			Kind  Kind
			Form  json.RawMessage
			Fault *string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		_, isForm, err := strictly(v.Kind, v.Form)
		if !isForm || !isMade(t, v.Kind, v.Form) {
			continue
		}
		if made++; err != nil {
			refusals++
		}
		if (err == nil) != (v.Fault == nil) || err != nil && err.Error() != *v.Fault {
			t.Fatalf("%v for %s", err, line)
		}
	}
	if total := bytes.Count(lines, []byte("\n")); made < total/2 || refusals < total/15 {
		t.Errorf("of %d, %d were made, and %d refused", total, made, refusals)
	}
}

// isMade tells whether what Go has read is all that the JSON says. For null, it has read nothing.
func isMade(t *testing.T, kind Kind, text []byte) bool {
	t.Helper()
	var form any = new(InputForm)
	if kind == Approval {
		form = new(ApprovalForm)
	}
	var is, wanted any
	if json.Unmarshal(text, form) != nil || json.Unmarshal(text, &wanted) != nil {
		t.Fatalf("%s", text)
	}
	again, err := toJSON(form)
	return err == nil && json.Unmarshal(again, &is) == nil && reflect.DeepEqual(is, wanted) && !bytes.Contains(text, []byte("null"))
}

func keyField() Field {
	return Field{Name: "api_key", Type: SecretField, Label: Text("API key"), Required: true}
}

func keyForm(change ...func(*Field)) InputForm {
	field := keyField()
	for _, each := range change {
		each(&field)
	}
	return InputForm{Title: Text("T"), Fields: []Field{field}}
}

// Go can make these, and JSON cannot; form.json has the others.
func TestMistakeInAFieldIsDescribed(t *testing.T) {
	for message, change := range map[string]func(*Field){
		"min must be a whole number from 0 to 8192": func(f *Field) { f.Min = Bound(math.NaN()) },
		"label must be valid Unicode text":          func(f *Field) { f.Label = Text("a\xff") },
		"label is missing":                          func(f *Field) { f.Label = nil },
		"help must not be empty":                    func(f *Field) { f.Help = Words{} },
		"label/ is not allowed here. Allowed are ar, de, en, es, fr, it, ja, ko, pt, zh": func(f *Field) { f.Label = Words{"": "a", "de": "b"} },
		"max must be a number of at most 15 digits":                                      func(f *Field) { f.Type, f.Max = NumberField, Bound(1e21) },
		"default must be a number of at most 15 digits":                                  func(f *Field) { f.Type, f.Default = NumberField, 1e-7 },
		"min must be a number of at most 15 digits":                                      func(f *Field) { f.Type, f.Min = NumberField, Bound(0.1234567890123456) },
		"default must be a string":                                                       func(f *Field) { f.Type, f.Default = TextField, 1 },
		"default must be true or false":                                                  func(f *Field) { f.Type, f.Default = CheckboxField, struct{ b map[string]int }{} },
	} {
		if _, err := keyForm(change).check(); err == nil || err.Error() != "form/fields/0/"+message {
			t.Errorf("%v, and not %s", err, message)
		}
	}
	big := keyForm()
	big.Text = Text(strings.Repeat("字", 2000))
	for range 20 {
		big.Facts = append(big.Facts, Fact{Text("L"), Text(strings.Repeat("字", 500))})
	}
	if _, err := big.check(); err == nil || !strings.HasPrefix(err.Error(), "form must have at most 16384 bytes as JSON, and has ") {
		t.Errorf("a form that is too large: %v", err)
	}
}

func TestNumberIsWrittenAsInOtherLanguages(t *testing.T) {
	text, err := keyForm(func(f *Field) {
		f.Type, f.Min, f.Max, f.Default, f.Required = NumberField, Bound(1), Bound(2.5), 2, false
	}).check()
	if err != nil || !strings.Contains(string(text), `"min":1,"max":2.5,"default":2}`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestLinkIsWhatTheProtocolSays(t *testing.T) {
	var links struct{ Allowed, Refused []string }
	readJSON(t, "../../tests/vectors/links.json", &links)
	if len(links.Allowed) < 40 || len(links.Refused) < 40 {
		t.Fatal("there are no vectors")
	}
	for _, each := range append(links.Allowed, "https://"+strings.Repeat("a", 2_040)) {
		if !isLink(each) {
			t.Errorf("%q is refused", each)
		}
	}
	for _, each := range append(links.Refused, "https://"+strings.Repeat("a", 2_041)) {
		if isLink(each) {
			t.Errorf("%q is allowed", each)
		}
	}
}

func TestFormatHasItsCharactersAndNoOthers(t *testing.T) {
	all := formVectors(t).Formats
	if len(all) != len(formats) {
		t.Fatalf("there are %d", len(all))
	}
	for _, v := range all {
		form := formats[v.Format]
		if i := slices.IndexFunc(v.Matches, func(value string) bool { return !form.MatchString(value) }); i >= 0 {
			t.Errorf("%s does not match %q", v.Format, v.Matches[i])
		}
		if i := slices.IndexFunc(v.Misses, form.MatchString); i >= 0 {
			t.Errorf("%s matches %q", v.Format, v.Misses[i])
		}
	}
}

func TestThoseWhoDecide(t *testing.T) {
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, row := range []struct {
		given  []string
		others bool
		list   []string
		fault  string
	}{
		{nil, false, nil, ""}, {[]string{}, false, nil, ""}, {nil, true, []string{}, ""}, {[]string{"bob"}, false, []string{"bob"}, ""},
		{many[:16], false, many[:16], ""}, {many, false, nil, "at most 16"}, {[]string{"bob"}, true, nil, "together"},
		{[]string{""}, false, nil, "1 to 512"}, {[]string{"bob", "bob"}, false, nil, "twice"}, {[]string{strings.Repeat("a", 513)}, false, nil, "1 to 512"},
		{[]string{"a\xff"}, false, nil, "UTF-8"},
	} {
		list, err := checkApprovers(row.given, row.others)
		if row.fault != "" {
			refused(t, row.fault, err, row.fault)
		} else if err != nil || !reflect.DeepEqual(list, row.list) {
			t.Errorf("%v: %v, %v", row.given, list, err)
		}
	}
}

func TestProblemIsCheckedAndNotReported(t *testing.T) {
	text, err := Problem{"a", Words{"en": "No."}}.check()
	if err != nil || string(text) != `{"field":"a","problem":{"en":"No."}}` {
		t.Errorf("%s, %v", text, err)
	}
	long := Words{}
	for _, language := range formSchema().Defs["language"].Enum {
		long[language.(string)] = strings.Repeat("字", 500)
	}
	for message, given := range map[string]Problem{
		"the field of a Problem":                  {"A", Text("No.")},
		"the problem of a Problem must have 1 to": {"a", Text(strings.Repeat("s3cret", 90))},
		"at most 8192 bytes as JSON":              {"a", long},
		"the problem of a Problem is missing":     {Field: "a"},
		"must not have control characte":          {"a", Text("a\nb")},
	} {
		_, err := given.check()
		refused(t, message, err, message)
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the value is reported: %v", err)
		}
	}
	if said := fmt.Sprintf("%v %+v %#v", Typed{"id", "p", map[string]any{"a": "s3cret"}}, Typed{Values: map[string]any{"a": "s3cret"}},
		Outcome{Values: map[string]any{"a": "s3cret"}, Comment: "s3cret"}); strings.Contains(said, "s3cret") {
		t.Errorf("it prints as %s", said)
	}
}

func TestFormRequestIsChecked(t *testing.T) {
	m := offline(t)
	for argument, change := range map[string]func(*InputRequest){
		"UUID":               func(r *InputRequest) { r.ID = "1" },
		"Provider":           func(r *InputRequest) { r.Provider = "In Take" },
		"Subject":            func(r *InputRequest) { r.Owner.Subject = "" },
		"TTL":                func(r *InputRequest) { r.TTL = -time.Second },
		"VerifyTimeout":      func(r *InputRequest) { r.VerifyTimeout = time.Millisecond },
		"VerifyTimeout must": func(r *InputRequest) { r.VerifyTimeout = time.Hour },
		"SameClient":         func(r *InputRequest) { r.SameClient = true },
		"form/title":         func(r *InputRequest) { r.Form.Title = nil },
		"About":              func(r *InputRequest) { r.About = map[string]any{"a": func() {}} },
	} {
		request := InputRequest{Provider: "intake", Owner: someone(), Form: keyForm()}
		change(&request)
		_, err := m.CreateInput(t.Context(), request)
		refused(t, argument, err, argument)
	}
	for argument, change := range map[string]func(*ApprovalRequest){
		"Approvers":    func(r *ApprovalRequest) { r.Approvers, r.Others = []string{"bob"}, true },
		"form/comment": func(r *ApprovalRequest) { r.Form.Comment = "yes" },
		"Traceparent":  func(r *ApprovalRequest) { r.Traceparent = "x" },
	} {
		request := ApprovalRequest{Provider: "approvals", Owner: someone(), Form: ApprovalForm{Title: Text("T")}}
		change(&request)
		_, err := m.CreateApproval(t.Context(), request)
		refused(t, argument, err, argument)
	}
	_, err := m.Create(t.Context(), Request{Provider: "intake", Kind: Input, Owner: someone(), TargetURL: "https://p.example"})
	refused(t, "Create", err, "Kind")
}

func TestAnotherFormIsAnotherRequest(t *testing.T) {
	known := map[string]bool{}
	digest := func(kind Kind, more map[string]any, form askedForm) string {
		t.Helper()
		request := Request{Provider: "p", Kind: kind}
		made, err := request.digests(form.about(more))
		if err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(made.request)
	}
	one, other := []byte(`{"title":"T"}`), []byte(`{"title":"U"}`)
	for _, made := range []string{
		digest(Approval, nil, askedForm{text: one}), digest(Approval, nil, askedForm{text: other}),
		digest(Approval, nil, askedForm{text: one, approvers: []string{}}), digest(Approval, nil, askedForm{text: one, approvers: []string{"bob"}}),
		digest(Approval, map[string]any{"a": 1}, askedForm{text: one}), digest(Input, nil, askedForm{text: one}),
		digest(Input, nil, askedForm{text: one, verify: time.Second}),
		digest(Approval, nil, askedForm{text: one, approvers: []string{}, fourEyes: true}),
	} {
		if known[made] {
			t.Errorf("%s is the same", made)
		}
		known[made] = true
	}
	if digest(Input, nil, askedForm{text: one, verify: time.Second}) != digest(Input, map[string]any{}, askedForm{text: one, verify: time.Minute}) {
		t.Error("the time limit is a part of it")
	}
}

// As tests/vectors/request.json has it.
func TestSubmitLabelAndStepUpAreAPartOfTheForm(t *testing.T) {
	request := InputRequest{Provider: "intake", Owner: someone(), SubmitLabel: Words{"en": "Connect", "de": "Verbinden"},
		Form: InputForm{Title: Text("Key"), Fields: []Field{{Name: "api_key", Type: SecretField, Label: Text("Key")}}}}
	compared, err := request.Compared()
	if err != nil {
		t.Fatal(err)
	}
	if made, err := compared.digests(compared.About); err != nil || hex.EncodeToString(made.request) != "6cc60a1098021378907e093171c61088" {
		t.Errorf("%x, %v", made.request, err)
	}
	approval := ApprovalRequest{Provider: "approvals", Owner: someone(), StepUp: true, Form: ApprovalForm{Title: Text("Delete?")}}
	if compared, err = approval.Compared(); err != nil {
		t.Fatal(err)
	}
	if made, err := compared.digests(compared.About); err != nil || hex.EncodeToString(made.request) != "7d2ce915e254d897502888f81727e7bc" {
		t.Errorf("%x, %v", made.request, err)
	}
	request.SubmitLabel = Text(strings.Repeat("x", 41))
	_, err = request.Compared()
	refused(t, "SubmitLabel", err, "form/submit_label must")
}

// What is a form is one again as it is sealed.
func FuzzForm(f *testing.F) {
	for _, v := range formVectors(f).Forms {
		f.Add([]byte(v.Form))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, kind := range []Kind{Input, Approval} {
			checked, isForm, err := strictly(kind, text)
			if !isForm {
				continue
			}
			if err != nil {
				if !errors.Is(err, ErrArgument) || !strings.HasPrefix(err.Error(), "form") {
					t.Fatalf("%s: %v", text, err)
				}
				continue
			}
			if again, _, err := strictly(kind, checked); err != nil || !bytes.Equal(again, checked) {
				t.Fatalf("%s is %s, %v", checked, again, err)
			}
		}
	})
}

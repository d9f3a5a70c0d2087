// SPDX-License-Identifier: MIT

package urlmode

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"urlmode.example/urlmode/internal/limits"
)

// Words are a text in the language of the form, as Text makes them, or one text for each of several languages, such as
// Words{"en": "Key", "de": "Schlüssel"}: the page shows its own, otherwise English, otherwise the first.
type Words map[string]string

// Text is a text in the language of the form.
func Text(text string) Words { return Words{"": text} }

// isPlain reports whether there is one text, in the language of the form.
func (w Words) isPlain() bool {
	_, is := w[""]
	return is && len(w) == 1
}

// MarshalJSON writes a string, or an object with a string for each language.
func (w Words) MarshalJSON() ([]byte, error) {
	if w.isPlain() {
		return toJSON(w[""])
	}
	return toJSON(map[string]string(w))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Words) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var plain string
		err := json.Unmarshal(text, &plain)
		*w = Text(plain)
		return err
	}
	return json.Unmarshal(text, (*map[string]string)(w))
}

// InputForm is what the page of an input asks. At most 16,384 bytes as JSON. PROTOCOL.md, "Forms", has all limits.
type InputForm struct {
	// Language is that of the words that are in one: ar, de, en, es, fr, it, ja, ko, pt or zh; en by default.
	Language string `json:"language,omitempty"`
	// Title is required: at most 120 characters.
	Title Words `json:"title"`
	// Text is at most 2,000 characters, also several lines.
	Text Words `json:"text,omitempty"`
	// Fields are 1 to 16.
	Fields []Field `json:"fields"`
	// Facts are at most 20.
	Facts []Fact `json:"facts,omitempty"`
}

// sealedInput is the form of an input as it is sealed.
type sealedInput struct {
	InputForm
	SubmitLabel Words `json:"submit_label,omitempty"`
}

// ApprovalForm is what the page of an approval asks. The members are those of InputForm.
type ApprovalForm struct {
	Language string `json:"language,omitempty"` // of the words that are in one language; English by default
	Title    Words  `json:"title"`              // at most 120 characters
	Text     Words  `json:"text,omitempty"`     // at most 2,000 characters, also several lines
	Facts    []Fact `json:"facts,omitempty"`    // what is shown, at most 20
	// Comment is optional or required. Empty: nobody is asked for one.
	Comment string `json:"comment,omitempty"`
}

// sealedApproval is the form of an approval as it is sealed.
type sealedApproval struct {
	ApprovalForm
	StepUp bool `json:"step_up,omitempty"`
}

// Fact is what a page shows: 120 and 500 characters.
type Fact struct {
	Label Words `json:"label"` // at most 120 characters
	Value Words `json:"value"` // what is told, at most 500 characters
}

// FieldType is what a field takes.
type FieldType string

// The types of fields.
const (
	TextField      FieldType = "text"
	SecretField    FieldType = "secret"
	MultilineField FieldType = "multiline"
	EmailField     FieldType = "email"
	URLField       FieldType = "url"
	NumberField    FieldType = "number"
	ChoiceField    FieldType = "choice"
	CheckboxField  FieldType = "checkbox"
)

// FieldFormat names the only characters that a text has.
type FieldFormat string

// The formats of fields. Letters are those of ASCII.
const (
	DigitsFormat       FieldFormat = "digits"
	LettersFormat      FieldFormat = "letters"
	AlphanumericFormat FieldFormat = "alphanumeric"
	HexFormat          FieldFormat = "hex"
	TokenFormat        FieldFormat = "token" // printable ASCII without spaces
)

// Field is one field. Name, Type and Label are required.
type Field struct {
	// Name begins with a letter, and has at most 32 characters of a-z, 0-9 and _.
	Name string    `json:"name"`
	Type FieldType `json:"type"`
	// Label is at most 200 characters.
	Label Words `json:"label"`
	// Help is at most 500 characters, also several lines.
	Help Words `json:"help,omitempty"`
	// Link is where one gets the value.
	Link *FieldLink `json:"link,omitempty"`
	// Required means that the field must not be empty, and a checkbox must be ticked.
	Required bool `json:"required,omitempty"`
	// Multiline means that a secret has several lines, such as a key in PEM.
	Multiline bool `json:"multiline,omitempty"`
	// Save means that a password manager may keep a secret. By default the page asks it not to.
	Save bool `json:"save,omitempty"`
	// Min and Max are the length of a text in characters, and the bounds of a number. Bound makes one.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// Format names the only characters that a TextField or SecretField of one line has.
	Format FieldFormat `json:"format,omitempty"`
	// Choices are the 1 to 20 of a ChoiceField.
	Choices []Choice `json:"choices,omitempty"`
	// Default is a string, a bool for a checkbox, or an int or float64 for a number. A secret has none.
	Default any `json:"default,omitempty"`
}

// Bound is a value for Min or Max of a Field.
func Bound(value float64) *float64 { return &value }

// FieldLink is where one gets a value. URL has https, and at most 2,048 bytes; Label 120 characters.
type FieldLink struct {
	URL   string `json:"url"`
	Label Words  `json:"label"`
}

// Choice is a value that can be chosen: 200 bytes and 200 characters.
type Choice struct {
	Value string `json:"value"` // what the outcome has
	Label Words  `json:"label"` // what people read
}

// InputRequest is what CreateInput asks for. Provider, Owner and Form are required.
type InputRequest struct {
	Provider string
	Owner    Owner
	Form     InputForm
	// SubmitLabel is what the button says that sends the form: at most 40 characters. By default it says Send, in the language of
	// the page.
	SubmitLabel Words
	// VerifyTimeout is how long WaitOptions.Verify may take, from a second to two minutes. Without it nothing is verified.
	VerifyTimeout time.Duration
	RequestOptions
}

// ApprovalRequest is what CreateApproval asks for. Provider, Owner and Form are required.
type ApprovalRequest struct {
	Provider string
	Owner    Owner
	Form     ApprovalForm
	// Approvers are 1 to 16 subjects who decide. If there are none, Owner.Subject decides.
	Approvers []string
	// Others means that anybody but Owner.Subject decides whom the sign-in of the callback programs knows.
	Others bool
	// FourEyes demands that Owner.Subject is none of them, in no spelling of the name. The page refuses everybody with
	// four_eyes_not_set_up where the provider's entry in the configuration has no four_eyes.
	FourEyes bool
	// StepUp demands that whoever decides signs in once more for it. It requires user_check openid; otherwise the page refuses
	// everybody with step_up_not_set_up.
	StepUp bool
	RequestOptions
}

// FormElicitation is what CreateInput and CreateApproval have created or found.
type FormElicitation struct {
	ElicitationID string // of which elicitation
	// URL is what is elicited. Empty if others decide.
	URL string
	// ApprovalURL is what those get who decide. Empty if Owner.Subject decides.
	ApprovalURL string
	ExpiresAt   time.Time // when its link expires
	// Resumed means that it existed before, see Request.ResumeKey.
	Resumed bool
}

// CreateInput asks the user to type something on a page of the callback programs. The errors are those of Create. One in
// the form names the place of the mistake as a JSON pointer, such as form/fields/0/label.
func (m *Instance) CreateInput(ctx context.Context, r InputRequest) (FormElicitation, error) {
	return m.createForm(ctx, r.split)
}

// Compared is the request that is compared with earlier ones: the form is a part of its About. It is for
// [Instance.RequestState], and Create refuses it.
func (r InputRequest) Compared() (Request, error) { return compared(r.split()) }

func (r InputRequest) split() (Request, askedForm, error) {
	asked := askedForm{verify: r.VerifyTimeout}
	if r.VerifyTimeout != 0 {
		if err := checkDuration("VerifyTimeout", r.VerifyTimeout, limits.VerifyMin, limits.VerifyMax); err != nil {
			return Request{}, asked, err
		}
	}
	var err error
	asked.text, err = checkForm("input", sealedInput{r.Form, r.SubmitLabel}, r.Form.Fields)
	return Request{Provider: r.Provider, Kind: Input, Owner: r.Owner, RequestOptions: r.RequestOptions}, asked, err
}

// CreateApproval asks for a decision on a page of the callback programs: of the subject, of others, or of certain
// subjects. The errors are those of CreateInput.
func (m *Instance) CreateApproval(ctx context.Context, r ApprovalRequest) (FormElicitation, error) {
	return m.createForm(ctx, r.split)
}

// Compared is what that of an InputRequest is. The approvers are a part of its About as well.
func (r ApprovalRequest) Compared() (Request, error) { return compared(r.split()) }

func (r ApprovalRequest) split() (Request, askedForm, error) {
	var asked askedForm
	var err error
	if asked.approvers, err = checkApprovers(r.Approvers, r.Others); err == nil {
		asked.text, err = checkForm("approval", sealedApproval{r.Form, r.StepUp}, nil)
	}
	if asked.fourEyes = r.FourEyes; err == nil && asked.fourEyes && asked.approvers == nil {
		err = argumentError("FourEyes requires Approvers or Others")
	}
	return Request{Provider: r.Provider, Kind: Approval, Owner: r.Owner, RequestOptions: r.RequestOptions}, asked, err
}

func compared(r Request, form askedForm, err error) (Request, error) {
	if err == nil {
		r.About = form.about(r.About)
	}
	return r, err
}

// askedForm is what a row of a form has beside others.
type askedForm struct {
	text      []byte        // as JSON
	approvers []string      // nil: the subject decides; empty: anybody else
	fourEyes  bool          // the subject is none of them
	verify    time.Duration // zero: nothing is verified
}

// about is what is compared with an earlier call (PROTOCOL.md, "What a call asks for").
func (a askedForm) about(more map[string]any) map[string]any {
	about := map[string]any{}
	maps.Copy(about, more)
	about["form"] = json.RawMessage(a.text)
	if delete(about, "verify"); a.verify != 0 {
		about["verify"] = true
	}
	if delete(about, "approver"); len(a.approvers) > 0 {
		about["approver"] = a.approvers
	} else if a.approvers != nil {
		about["approver"] = "others"
	}
	if delete(about, "four_eyes"); a.fourEyes {
		about["four_eyes"] = true
	}
	return about
}

// approversJSON is how the row has the approvers; empty if the subject decides.
func (a askedForm) approversJSON() string {
	switch {
	case a.approvers == nil:
		return ""
	case a.fourEyes:
		return jsonOf(map[string]any{"approvers": a.approvers, "four_eyes": true})
	}
	return jsonOf(a.approvers)
}

// createForm writes the row of the request and the form that split returns.
func (m *Instance) createForm(ctx context.Context, split func() (Request, askedForm, error)) (FormElicitation, error) {
	if err := checkContext(ctx); err != nil {
		return FormElicitation{}, err
	}
	r, form, err := split()
	if err != nil {
		return FormElicitation{}, err
	}
	if err := checkRequest(&r); err != nil {
		return FormElicitation{}, err
	}
	asked, err := r.digests(form.about(r.About))
	if err != nil {
		return FormElicitation{}, err
	}
	k := rowKey{r.ID, m.tenant.bindingOf(r.Owner)}
	at, err := m.place(ctx, k, r, asked, func() (prepared, error) {
		return prepared{key: k, request: r, requester: m.name, form: seal(m.ring, useForm, k, form.text, nil),
			approvers: form.approversJSON(), verify: form.verify}, nil
	})
	if err != nil {
		return FormElicitation{}, err
	}
	m.events.created(ctx, at, r.Owner)
	made := FormElicitation{ElicitationID: at.key.id, ExpiresAt: at.expiresAt, Resumed: at.isResumed}
	if form.approvers == nil {
		made.URL = m.link(at, "connect")
	} else {
		made.ApprovalURL = m.link(at, "approve")
	}
	return made, nil
}

// checkApprovers returns nil if the subject decides, and an empty list if anybody else does.
func checkApprovers(approvers []string, others bool) ([]string, error) {
	switch {
	case others && len(approvers) > 0:
		return nil, argumentError("Approvers and Others cannot be used together")
	case others:
		return []string{}, nil
	case len(approvers) == 0:
		return nil, nil
	case len(approvers) > limits.ApproversMax:
		return nil, argumentError("Approvers must have at most %d subjects", limits.ApproversMax)
	}
	known := map[string]bool{}
	for _, subject := range approvers {
		var twice error
		if known[subject] {
			twice = argumentError("Approvers must not have a subject twice")
		}
		if err := cmp.Or(checkText("each of Approvers", subject, 1, limits.SubjectMax), twice); err != nil {
			return nil, err
		}
		known[subject] = true
	}
	return approvers, nil
}

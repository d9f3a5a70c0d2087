// SPDX-License-Identifier: MIT

package urlmode

import (
	"bytes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/seals"
	"urlmode.example/urlmode/internal/texts"
)

// use is what a sealed JSON object is (PROTOCOL.md, "Values"), and the info of its key.
// An event of a provider names no owner, so its result and outcome are sealed for
// the id alone: they begin with 02, and neither key nor context has the binding.
type use string

const (
	useResult       use = seals.ResultInfo
	useEventResult  use = seals.EventResultInfo
	useOutcome      use = seals.OutcomeInfo
	useEventOutcome use = seals.EventOutcomeInfo
	useVerifier     use = seals.VerifierInfo
	useFulfilled    use = seals.FulfilledInfo
	useRound        use = seals.RoundInfo
	useTask         use = seals.TaskInfo
	useForm         use = seals.FormInfo
	useProblem      use = seals.ProblemInfo

	// resultMax is the largest result as JSON text, in bytes: the limit of the column less what sealing adds.
	resultMax = limits.ResultMax - overhead
	// fulfilledMax is the same of what a call has returned.
	fulfilledMax = limits.FulfilledMax - overhead
)

// rowKey identifies a row: nobody reads it without its binding.
type rowKey struct {
	id      string
	binding digest
}

func (u use) version() byte {
	if u == useEventResult || u == useEventOutcome {
		return 2
	}
	return 1
}

func (u use) cipher(with *key, row rowKey) cipher.AEAD {
	id := idBytes(row.id)
	switch u {
	case useResult:
		return aesGCM(with.derive(id[:], string(u)+string(row.binding[:])))
	case useEventResult:
		return aesGCM(with.derive(id[:], string(u)))
	}
	return with.cipher(string(u))
}

func (u use) context(row rowKey) []byte {
	id := idBytes(row.id)
	switch u {
	case useVerifier, useOutcome, useFulfilled, useRound, useTask, useForm, useProblem:
		return append(id[:], row.binding[:]...)
	}
	return id[:]
}

// toJSON writes JSON as JavaScript does, without escapes for HTML.
func toJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// seal seals JSON text. A nil nonce is random; tests with known answers give one.
func seal(ring keys, u use, row rowKey, text, nonce []byte) []byte {
	with := ring.minting()
	return encrypt(u.cipher(with, row), u.version(), with.kid, u.context(row), text, nonce)
}

// unseal opens a JSON object into value. For useResult it also opens what is sealed for the id alone.
func unseal(ring keys, u use, row rowKey, sealed []byte, value any) error {
	if u == useResult && len(sealed) > 0 && sealed[0] == 2 {
		u = useEventResult
	}
	if err := openJSON(ring, u, row, sealed, value); err != nil {
		return errorSeal(row.id, err.Error())
	}
	return nil
}

// notifiedOutcome is the outcome in a notification.
type notifiedOutcome struct {
	Action    Action         `json:"action"`
	Reason    string         `json:"reason"`
	Reference string         `json:"reference"`
	Result    map[string]any `json:"result"`
}

// openOutcome opens an outcome that was announced, in base64. It is nil if the outcome is not
// genuine, or of another elicitation.
func openOutcome(ring keys, row rowKey, notified string) *notifiedOutcome {
	sealed, err := base64.StdEncoding.Strict().DecodeString(notified)
	if err != nil || len(sealed) == 0 {
		return nil
	}
	u := useOutcome
	if sealed[0] == 2 {
		u = useEventOutcome
	}
	var outcome notifiedOutcome
	if openJSON(ring, u, row, sealed, &outcome) != nil || outcome.Action == "" {
		return nil
	}
	return &outcome
}

func openJSON(ring keys, u use, row rowKey, sealed []byte, value any) error {
	opened, err := decrypt(sealed, u.version(), ring, u.context(row), func(with *key) cipher.AEAD { return u.cipher(with, row) })
	if err != nil {
		return err
	}
	// The error of the decoder quotes the text.
	if len(opened) == 0 || opened[0] != '{' || json.Unmarshal(opened, value) != nil {
		return errors.New(texts.NotAJSONObject)
	}
	return nil
}

// SPDX-License-Identifier: MIT

// Package responses records what was written to an HTTP response, which no SDK reports to its tools.
package responses

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Writer records whether the response to a call was sent to a client that was there. Only one goroutine may use it at a time. An SDK
// writes each event of a stream at once.
type Writer struct {
	http.ResponseWriter
	// IsThere reports whether the client still waits for the response.
	IsThere func() bool
	// HasAnswer is true once the event with the response to the call was written.
	HasAnswer bool

	isSent bool
}

func (w *Writer) Write(data []byte) (int, error) {
	n, err := w.ResponseWriter.Write(data)
	if err == nil && isResponse(dataOf(data)) {
		w.HasAnswer = true
	}
	return n, err
}

// FlushError is for [http.ResponseController].
func (w *Writer) FlushError() error {
	wasThere := w.IsThere()
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.isSent = w.isSent || w.HasAnswer && wasThere && err == nil
	return err
}

// Unwrap is for [http.ResponseController].
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// IsSent reports, once the response has ended, whether all of the answer was sent to a client that was there. One that has read it from
// a stream may have closed its connection since.
func (w *Writer) IsSent() bool { return w.isSent || w.IsThere() }

// dataOf is the message of an event.
func dataOf(event []byte) []byte {
	for line := range bytes.Lines(event) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			return data
		}
	}
	return nil
}

// isResponse reports whether a message is one, and reads no further than it has to: its result may be large.
func isResponse(message []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(message))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil || key == "method" {
			return false
		}
		if key == "result" || key == "error" {
			return true
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
	}
	return false
}

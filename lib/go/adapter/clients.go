// SPDX-License-Identifier: MIT

package adapter

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/internal/limits"
)

// clientsJSON is what is known of clients: a copy of lib/node/src/adapters/clients.json, which TestClients compares.
//
//go:embed clients.json
var clientsJSON []byte

// ClientFacts are what is known of a client beside what it declares.
type ClientFacts struct {
	// Name is that of its clientInfo.
	Name string
	// From and Before are versions: from which on, and before which. All by default.
	From   string
	Before string
	// URL is whether the client can send its user to a URL, where it declares something else. Nil: as it declares.
	URL *bool
	// Ask is the way that works with it, and goes before what a tool prefers. Empty: any. In protocol revision 2026-07-28, AskByError is
	// AskByRequest.
	Ask ClientAsk
	// Round is how long a call of it may wait.
	Round time.Duration
	// Rounds is how often it takes an answer with a requestState and no request, and calls again: never by default, at
	// most [urlmode.RoundsMax] times.
	Rounds int
}

// ClientAsk is a way of asking a client.
type ClientAsk string

const (
	// AskByRequest is a request, or a result that requires input.
	AskByRequest ClientAsk = "request"
	// AskByError is the error -32042 alone.
	AskByError ClientAsk = "error"
	// AskAsText is the link as text, whatever the client declares.
	AskAsText ClientAsk = "text"
)

// capabilities is what a client takes.
type capabilities struct {
	declares bool
	url      bool
	rounds   int
	round    time.Duration
}

var shippedClients = sync.OnceValue(func() (facts []ClientFacts) {
	var read []struct {
		Name     string
		Versions struct{ From, Before string }
		URL      *bool
		Ask      ClientAsk
		Round    int64
		Rounds   int
	}
	if err := json.Unmarshal(clientsJSON, &read); err != nil {
		panic(err) // only if the file was changed by hand
	}
	for _, each := range read {
		facts = append(facts, ClientFacts{Name: each.Name, From: each.Versions.From, Before: each.Versions.Before, URL: each.URL, Ask: each.Ask,
			Round: time.Duration(each.Round) * time.Millisecond, Rounds: each.Rounds})
	}
	return facts
})

// capabilities returns what a client takes. round is that of the request, which has precedence.
func (a *Adapter) capabilities(client Client, round time.Duration) capabilities {
	known := capabilities{declares: client.URL, url: client.URL, round: round}
	facts := a.knownOf(client)
	if facts.URL != nil {
		known.url = *facts.URL
	}
	known.url = known.url && facts.Ask != AskAsText
	known.rounds = min(facts.Rounds, urlmode.RoundsMax)
	if known.round <= 0 {
		known.round = facts.Round
	}
	if known.round <= 0 {
		known.round = limits.Round
	}
	return known
}

// knownOf is the first of the facts that fit a client, if there is one.
func (a *Adapter) knownOf(client Client) (none ClientFacts) {
	for _, each := range slices.Concat(a.options.Clients, shippedClients()) {
		if each.fits(client) {
			return each
		}
	}
	return none
}

func (f ClientFacts) fits(client Client) bool {
	version := numbers(client.Version)
	return f.Name == client.Name && (f.From == "" || slices.Compare(version, numbers(f.From)) >= 0) &&
		(f.Before == "" || slices.Compare(version, numbers(f.Before)) < 0)
}

var digits = regexp.MustCompile(`\d+`)

func numbers(version string) (all []int) {
	for _, text := range digits.FindAllString(version, -1) {
		number, _ := strconv.Atoi(text) // the largest int, if it is larger
		all = append(all, number)
	}
	for len(all) > 0 && all[len(all)-1] == 0 {
		all = all[:len(all)-1]
	}
	return all
}

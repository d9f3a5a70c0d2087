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

// What is known of clients: a copy of lib/node/src/adapters/clients.json, which TestClients compares.
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
	// Round is how long a call of it may wait.
	Round time.Duration
	// Rounds is how often it takes an answer with a requestState and no request, and calls again: never by default, at
	// most [urlmode.RoundsMax] times.
	Rounds int
}

// takes is what a client takes.
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
		Round    int64
		Rounds   int
	}
	if err := json.Unmarshal(clientsJSON, &read); err != nil {
		panic(err) // only if the file was changed by hand
	}
	for _, each := range read {
		facts = append(facts, ClientFacts{each.Name, each.Versions.From, each.Versions.Before, each.URL,
			time.Duration(each.Round) * time.Millisecond, each.Rounds})
	}
	return facts
})

// capabilities returns what a client takes. round is that of the wish, which has precedence.
func (a *Adapter) capabilities(client Client, round time.Duration) capabilities {
	known := capabilities{declares: client.URL, url: client.URL, round: round}
	all := slices.Concat(a.options.Clients, shippedClients())
	i := slices.IndexFunc(all, func(each ClientFacts) bool { return each.fits(client) })
	if i >= 0 {
		if all[i].URL != nil {
			known.url = *all[i].URL
		}
		known.rounds = min(all[i].Rounds, urlmode.RoundsMax)
		if known.round <= 0 {
			known.round = all[i].Round
		}
	}
	if known.round <= 0 {
		known.round = limits.Round
	}
	return known
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

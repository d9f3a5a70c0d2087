// SPDX-License-Identifier: MIT

package vault

import (
	"net/http"
	"time"
)

// Config configures a Vault. Providers are required, and KeysFile or Keys.
type Config struct {
	// KeysFile is the name of the vault's own keys file, which no callback host has. It is read again when it changes.
	KeysFile string
	// Keys is the content of a keys file.
	Keys string
	// Providers are those at which accounts are connected, by their names in the configuration of the callback programs.
	Providers map[string]Provider
	// OnEvent is told what happens to accounts, for a log. It must return soon, and not close the instance. Several goroutines may
	// call it at the same time.
	OnEvent func(Event)
	// HTTPClient has the Transport of the requests to providers, such as one that traces them, and a Timeout, if it is less than 30
	// seconds. Redirects are not followed, and cookies not kept. By default each request has a connection of its own.
	HTTPClient *http.Client
}

// Provider is what accounts of a provider are connected with.
type Provider struct {
	Client Client // of this server at the provider
	// Description is the name of one in lib/providers: that of the provider by default.
	Description string
	// Scopes are asked for, and an account without one of RequiredScopes is not connected.
	Scopes         []string
	RequiredScopes []string
	// Variables are those of the description, and Parameters are added to the authorization request.
	Variables  map[string]string
	Parameters map[string]string
	// ReuseWithin is for how long after its use the provider takes a refresh token again, over what the description says; or
	// NeverReused.
	ReuseWithin time.Duration
}

// NeverReused is the ReuseWithin of a provider at which a second use of a refresh token ends all that was granted.
const NeverReused time.Duration = -1

// EventName is what has happened to an account.
type EventName string

// The events.
const (
	EventConnected EventName = "connected"
	EventRefreshed EventName = "refreshed"
	// EventFailed means that a refresh has failed, and is tried again.
	EventFailed    EventName = "failed"
	EventReconnect EventName = "reconnect"
	// EventDisconnected is also of tokens that came for it afterwards.
	EventDisconnected EventName = "disconnected"
	// EventUnopened means that its tokens cannot be sealed anew.
	EventUnopened EventName = "unopened"
	// EventNotStored means that tokens that came cannot be stored.
	EventNotStored EventName = "not_stored"
)

// Event is what has happened to an account, for a log. It contains no token.
type Event struct {
	Name     EventName // one of the events of the vault
	Subject  string    // the user
	Provider string    // its name in the configuration
	Account  string    // the provider's id of it
	// Scopes are those of EventConnected.
	Scopes []string
	// Detail is of EventFailed and EventNotStored.
	Detail string
	// Reason is of EventReconnect and EventUnopened.
	Reason string
	// Revoked is of EventDisconnected and EventNotStored.
	Revoked bool
}

// Disconnected is how an account was disconnected. Its tokens are deleted in any case.
type Disconnected struct {
	Revoked bool // whether the provider took them back
	// Detail is why they could not be revoked.
	Detail string
}

// KeyInUse is a key that the vault still needs, and for how many accounts.
type KeyInUse struct {
	KID      int   // of the key
	Accounts int64 // how many it has sealed
}

// Resealed is how many accounts were sealed with the first key, and how many could not be opened.
type Resealed struct {
	Sealed   int // how many were sealed anew
	Unopened int // how many could not be opened
}

// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

package urlmode

const (
	// ErrArgument: A call has a mistake. The message names the argument.
	ErrArgument Code = "ARGUMENT"
	// ErrTimeout: The time of a wait passed before the elicitation was completed. It stays open: wait again, or cancel it.
	ErrTimeout Code = "ELICITATION_TIMEOUT"
	// ErrClientGone: The MCP client has closed its session or connection. The elicitation stays open, and the next call
	// goes on with it.
	ErrClientGone Code = "ELICITATION_CLIENT_GONE"
	// ErrNotFound: The elicitation does not exist, or belongs to another subject or session.
	ErrNotFound Code = "ELICITATION_NOT_FOUND"
	// ErrOpen: The elicitation that was to be claimed is not completed. If it was before, a failover of PostgreSQL has
	// lost that: wait for it again.
	ErrOpen Code = "ELICITATION_OPEN"
	// ErrClaimLost: The lease of this claim has ended, and another call may have begun to claim the same outcome.
	ErrClaimLost Code = "CLAIM_LOST"
	// ErrClaimRefunded: All that was paid went back, or is disputed, while a call was doing the work that it had paid for.
	// The call can stop, or go on.
	ErrClaimRefunded Code = "CLAIM_REFUNDED"
	// ErrLimit: This owner has as many open elicitations as one may have, and has opened all of them.
	ErrLimit Code = "ELICITATION_LIMIT"
	// ErrSubscribed: The first payment of a subscription was to be asked for, and the user has one for this item that is
	// not over: also one that is past due or paused, which can be settled.
	ErrSubscribed Code = "ELICITATION_SUBSCRIBED"
	// ErrExists: An elicitation was to be created with an id that is in use.
	ErrExists Code = "ELICITATION_EXISTS"
	// ErrMismatch: The payment that the server reports is not what the elicitation expects. Nothing was changed.
	ErrMismatch Code = "ELICITATION_MISMATCH"
	// ErrReference: The payment that the server reports has paid for another elicitation. Nothing was changed.
	ErrReference Code = "ELICITATION_REFERENCE"
	// ErrSeal: A sealed value cannot be opened: its key is not in the keys file, or it was changed.
	ErrSeal Code = "ELICITATION_SEAL"
	// ErrBusy: PostgreSQL is too slow for the number of calls. This call has changed nothing: it can be made again later.
	ErrBusy Code = "URLMODE_BUSY"
	// ErrUnavailable: PostgreSQL did not answer in time. The message says whether the call may have been carried out.
	ErrUnavailable Code = "URLMODE_UNAVAILABLE"
	// ErrClosed: The instance was closed.
	ErrClosed Code = "URLMODE_CLOSED"
	// ErrKeysFile: The keys file is not acceptable. The message contains its name and the reason.
	ErrKeysFile Code = "URLMODE_KEYS_FILE"
	// ErrRequestState: The requestState of a call is not valid for it: it was changed, has expired, or belongs to another
	// user or request. The client has to call the tool again without it.
	ErrRequestState Code = "REQUEST_STATE"
	// ErrProviderUnavailable: The metadata of a provider, which are needed to connect an account, cannot be read.
	ErrProviderUnavailable Code = "PROVIDER_UNAVAILABLE"
	// ErrAccountNotConnected: The user has connected no account at this provider, or not this one.
	ErrAccountNotConnected Code = "ACCOUNT_NOT_CONNECTED"
	// ErrAccountReconnect: The account must be connected again by its user.
	ErrAccountReconnect Code = "ACCOUNT_RECONNECT"
	// ErrTokenRefused: The body of a call that uses an account says that the provider's API has refused its access token,
	// as with status 401. The token is refreshed, and the body runs once more.
	ErrTokenRefused Code = "TOKEN_REFUSED"
	// ErrAccountUnavailable: The access token has expired or was refused, and the provider cannot refresh it just now.
	ErrAccountUnavailable Code = "ACCOUNT_UNAVAILABLE"
	// ErrAccountSeal: The tokens of an account cannot be opened.
	ErrAccountSeal Code = "ACCOUNT_SEAL"
	// ErrAccountSize: The provider has answered with more than can be kept of an account.
	ErrAccountSize Code = "ACCOUNT_SIZE"
	// ErrUnclaimedPayments: A user cannot be forgotten while payments are unclaimed. Nothing was deleted.
	ErrUnclaimedPayments Code = "UNCLAIMED_PAYMENTS"
)

func errorClientGone(id string) error {
	return &Error{Code: ErrClientGone, ElicitationID: id, reason: "the MCP client of elicitation " + id + " has closed its session or connection"}
}

func errorNotFound(id string) error {
	return &Error{Code: ErrNotFound, ElicitationID: id, reason: "elicitation " + id + " does not exist for this subject and session"}
}

func errorOpen(id string) error {
	return &Error{Code: ErrOpen, ElicitationID: id, reason: "elicitation " + id + " is open, perhaps again after a failover: wait for it before you claim it"}
}

func errorClaimLost(id string) error {
	return &Error{Code: ErrClaimLost, ElicitationID: id, reason: "the lease of this claim of elicitation " + id + " has ended: another call may have begun"}
}

func errorClaimRefunded(id string) error {
	return &Error{Code: ErrClaimRefunded, ElicitationID: id, reason: "all that was paid for elicitation " + id + " went back while a call was working for it"}
}

func errorLimit() error {
	return &Error{Code: ErrLimit, reason: "this subject has too many open elicitations: it must finish or leave some of them first"}
}

func errorSubscribed(item string) error {
	return &Error{Code: ErrSubscribed, reason: "this subject has a subscription for " + item + " that is not over: its entitlement says how it stands"}
}

func errorExists(id string) error {
	return &Error{Code: ErrExists, ElicitationID: id, reason: "elicitation " + id + " already exists: choose another id"}
}

func errorMismatch(id string) error {
	return &Error{Code: ErrMismatch, ElicitationID: id, reason: "the amount or the currency of the payment is not what elicitation " + id + " expects"}
}

func errorReference(id string) error {
	return &Error{Code: ErrReference, ElicitationID: id, reason: "the payment of this reference has paid for another elicitation than " + id}
}

func errorSeal(id, reason string) error {
	return &Error{Code: ErrSeal, ElicitationID: id, reason: "the sealed data of elicitation " + id + " cannot be opened: " + reason}
}

func errorBusy(why string) error {
	return &Error{Code: ErrBusy, reason: "PostgreSQL answers too slowly: " + why + ". Nothing was changed"}
}

func errorClosed() error {
	return &Error{Code: ErrClosed, reason: "this UrlMode is closed"}
}

func errorKeysFile(message string) error {
	return &Error{Code: ErrKeysFile, reason: message}
}

func providerUnavailableText(provider, reason string) string {
	return "the metadata of " + provider + " cannot be read: " + reason
}

func accountNotConnectedText(provider string) string {
	return "no account is connected at " + provider
}

func accountReconnectText(provider, reason string) string {
	return "the account at " + provider + " must be connected again: " + reason
}

func accountUnavailableText(provider, detail string) string {
	return "the token at " + provider + " cannot be refreshed just now: " + detail
}

func accountSealText(provider, reason string) string {
	return "the tokens of an account at " + provider + " cannot be opened: " + reason
}

func accountSizeText(provider string) string {
	return "what " + provider + " has answered is too large to be kept"
}

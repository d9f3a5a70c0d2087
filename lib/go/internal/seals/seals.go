// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

// Package seals has the uses of the keys, and the labels of digests.
package seals

const (
	NonceBytes         = 12
	TagBytes           = 16
	DigestBytes        = 16
	LinkMacBytes       = 14
	TicketCookie       = "__Host-urlmode-ticket"
	LinkInfo           = "urlmode link v1"
	StateInfo          = "urlmode state v1"
	TicketInfo         = "urlmode ticket v1"
	ResultInfo         = "urlmode result v1"
	EventResultInfo    = "urlmode result v2"
	OutcomeInfo        = "urlmode outcome v1"
	EventOutcomeInfo   = "urlmode outcome v2"
	FulfilledInfo      = "urlmode fulfilled v1"
	RoundInfo          = "urlmode round v1"
	TaskInfo           = "urlmode task v1"
	VerifierInfo       = "urlmode verifier v1"
	FormInfo           = "urlmode form v1"
	ProblemInfo        = "urlmode problem v1"
	AccountInfo        = "urlmode account v1"
	BindingLabel       = "urlmode binding v1"
	BrowserLabel       = "urlmode browser v1"
	RequestLabel       = "urlmode request v1"
	ClientLabel        = "urlmode client v1"
	TenantBindingLabel = "urlmode binding v2"
)

// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

// Package limits has the times, sizes and defaults that this module has in common with other languages.
package limits

import "time"

const (
	// ProviderMax: Characters of the name of a provider.
	ProviderMax = 64
	// TenantMax: Characters of the name of a tenant.
	TenantMax = 64
	// SubjectMax: Bytes of a subject.
	SubjectMax = 512
	// SessionMax: Bytes of a session.
	SessionMax = 512
	// ResumeKeyMax: Bytes of a resume key.
	ResumeKeyMax = 512
	// ItemMax: Bytes of an item, which a payment or signature is for.
	ItemMax = 512
	// AccountMax: Bytes of the id of an account.
	AccountMax = 512
	// NameMax: Bytes of the name of an MCP server.
	NameMax = 200
	// ClientIDMax: Bytes of the id of an MCP client.
	ClientIDMax = 2_048
	// TargetURLMax: Bytes of a target URL.
	TargetURLMax = 8_192
	// ReasonMax: Characters of a reason.
	ReasonMax = 64
	// ReferenceMax: Bytes of the reference of a payment.
	ReferenceMax = 800
	// ResultMax: Bytes of a sealed result.
	ResultMax = 65_536
	// FulfilledMax: Bytes of what a call returned, sealed: 16 MiB, its name and the seal.
	FulfilledMax = 16_777_280
	// TokensMax: Bytes of the sealed tokens of an account.
	TokensMax = 65_536
	// SafeInteger: The largest whole number that numbers of JSON hold exactly everywhere (2^53 - 1), and so the largest
	// amount.
	SafeInteger = 9_007_199_254_740_991
	// ApproversMax: Subjects who may decide.
	ApproversMax = 16
	// LinkMax: Bytes of a link in a form.
	LinkMax = 2_048
	// DigitsMax: Digits of a number in a form: a double holds them.
	DigitsMax = 15
	// FieldNameMax: Characters of the name of a field of a form.
	FieldNameMax = 32
	// SecretMin: Bytes of a secret in a keys file, at least.
	SecretMin = 32
	// SecretMax: Bytes of a secret in a keys file, at most.
	SecretMax = 256
	// KeysFileMax: Bytes of a keys file, or of its content in an option.
	KeysFileMax = 131_072
	// KeysCheck: How often it is looked whether a keys file has changed, while it is used.
	KeysCheck = 1 * time.Second
	// TTL: How long a link can be opened.
	TTL = 5 * time.Minute
	// TTLMax: The longest time that a link can be opened, and the longest wait: a year.
	TTLMax = 8_760 * time.Hour
	// GraceMax: The longest grace of a description: so long after the expiry, the user and the provider may come back.
	GraceMax = 8_760 * time.Hour
	// ResumeAttempts: How often `create` looks again, because another call has claimed the elicitation that it found.
	ResumeAttempts = 3
	// BusyMin: The first pause while another call creates for the same owner.
	BusyMin = 2 * time.Millisecond
	// BusyMax: The longest of these pauses.
	BusyMax = 100 * time.Millisecond
	// Ticket: How long a session ticket is valid.
	Ticket = 5 * time.Minute
	// TicketMax: The longest that a session ticket can be valid.
	TicketMax = 1 * time.Hour
	// Abandon: How long the end of a wait waits for the database to end its row.
	Abandon = 2 * time.Second
	// ReadBatchMax: Rows that one statement reads for the waits.
	ReadBatchMax = 1_000
	// Routine: How often rows are read although nothing says so.
	Routine = 30 * time.Second
	// ReadRetry: How long after a read that failed the next one begins.
	ReadRetry = 1 * time.Second
	// PollMin: The first pause between two reads, where notifications do not arrive.
	PollMin = 250 * time.Millisecond
	// PollMax: The longest of these pauses.
	PollMax = 5 * time.Second
	// PollGrowth: How much longer each of these pauses is than the one before.
	PollGrowth = 1.5
	// AlarmMin: The shortest delay of the timer for all deadlines, because each time everything is looked at.
	AlarmMin = 50 * time.Millisecond
	// PoolMax: Connections of an instance, besides the one that listens.
	PoolMax = 4
	// CallsMax: Calls that may be in progress. Further ones are refused.
	CallsMax = 10_000
	// Query: How long a statement may take. PostgreSQL ends it somewhat earlier (statement_timeout), so that it is not
	// carried out after its call has failed.
	Query = 30 * time.Second
	// CommitUnanswered: How long a commit may be unanswered, before its connection is closed and the other hosts are asked
	// which of them leads. It is never cancelled: PostgreSQL would commit what waits for a standby without it.
	CommitUnanswered = 10 * time.Second
	// Connect: How long it may take to connect to PostgreSQL.
	Connect = 10 * time.Second
	// ConnectOfSeveral: The same for one of several hosts: one that is dead must not delay the others for long.
	ConnectOfSeveral = 3 * time.Second
	// BackoffMin: The first pause before a lost listening connection is opened again.
	BackoffMin = 100 * time.Millisecond
	// BackoffMax: The longest of these pauses.
	BackoffMax = 5 * time.Second
	// BackoffOfSeveralMax: The longest of these pauses where there are several hosts, because one may be promoted at any
	// moment.
	BackoffOfSeveralMax = 500 * time.Millisecond
	// ListenQuery: How long a statement on the listening connection may take.
	ListenQuery = 10 * time.Second
	// ListenCheck: How often the listening connection is asked whether it is alive. With a quarter more, and
	// `listen_query_ms` of a statement that was sent just before, one that died in silence is noticed in 15 seconds.
	ListenCheck = 4 * time.Second
	// Ping: How long the answer may take to the question whether a connection is alive.
	Ping = 5 * time.Second
	// Alive: How long after its last answer a connection counts as alive: it is not asked before the next statement.
	Alive = 500 * time.Millisecond
	// Keepalive: After how much silence TCP asks the other end of a connection whether it is alive, and how long it waits
	// before it asks again.
	Keepalive = 5 * time.Second
	// KeepaliveCount: How many of these questions may have no answer.
	KeepaliveCount = 2
	// Unacked: How long what was sent may stay without TCP's acknowledgement, where the driver can set it.
	Unacked = 15 * time.Second
	// Probe: How long a notification may take that tests whether notifications arrive.
	Probe = 3 * time.Second
	// Close: How long `close` waits for what is under way.
	Close = 1 * time.Second
	// Disconnect: How long a listening connection may take to close.
	Disconnect = 1 * time.Second
	// BatchMax: Elements of one statement. Each may take a lock, and PostgreSQL counts on 64 in a transaction
	// (max_locks_per_transaction).
	BatchMax = 32
	// BatchesAtOnce: Statements of a batch that are under way: PostgreSQL has one while this process is at the other.
	BatchesAtOnce = 2
	// BatchWait: How long an element waits for others before it is refused.
	BatchWait = 15 * time.Second
	// ClaimLease: How long the lease of a claim lasts. It is renewed while the call works.
	ClaimLease = 30 * time.Second
	// ClaimLeaseMin: The shortest lease of a claim.
	ClaimLeaseMin = 1 * time.Second
	// ClaimLeaseMax: The longest lease of a claim.
	ClaimLeaseMax = 1 * time.Hour
	// ClaimHold: How long the lease of a claim lasts while the client asks its user what the body has asked for.
	ClaimHold = 5 * time.Minute
	// ClaimRenewals: How often a lease is renewed while it lasts.
	ClaimRenewals = 3
	// ClaimRetry: How long a renewal that failed waits for the next one, and how often a call looks that waits for another
	// one.
	ClaimRetry = 500 * time.Millisecond
	// ClaimConfirm: How long a call waits for the confirmation of a claim that is under way: the next call of the same
	// process, and in Go the answer.
	ClaimConfirm = 1 * time.Second
	// ClaimAttempts: How often a call looks again, if the outcome that it was to claim is not there any more.
	ClaimAttempts = 3
	// ConsumerMax: Characters of the name of a consumer of the ledger.
	ConsumerMax = 64
	// LedgerLease: How long the lease lasts with which an instance reads the ledger for a consumer. It is renewed as often
	// as that of a claim.
	LedgerLease = 30 * time.Second
	// LedgerPageMax: Entries of the ledger that one statement reads.
	LedgerPageMax = 100
	// RecheckLease: How long nobody else begins a recheck. A function that takes longer has failed.
	RecheckLease = 1 * time.Minute
	// RecheckAfter: How old the last answer of a recheck may be when a claim begins.
	RecheckAfter = 1 * time.Minute
	// RecheckAfterMax: The longest that this can be.
	RecheckAfterMax = 24 * time.Hour
	// RecheckEvery: How often an instance asks providers about events for which nobody waits.
	RecheckEvery = 1 * time.Minute
	// EntriesMax: How many payments, and how many refunds, a recheck can tell of.
	EntriesMax = 100
	// ListedMax: How many payments, and how many refunds, can be compared at once.
	ListedMax = 100_000
	// Verify: How long the check of a typed value may take.
	Verify = 30 * time.Second
	// VerifyMin: The shortest time for the check of a value.
	VerifyMin = 1 * time.Second
	// VerifyMax: The longest time for the check of a value.
	VerifyMax = 2 * time.Minute
	// KeepResults: How long a result is kept after it was read.
	KeepResults = 10 * time.Minute
	// KeepResultsMax: The longest that it can be kept. After this time, the database purges every result.
	KeepResultsMax = 24 * time.Hour
	// KeepUnclaimed: How long the result of an unclaimed payment is kept.
	KeepUnclaimed = 720 * time.Hour
	// KeepUnclaimedMin: The shortest that it can be kept: the database purges none that is younger.
	KeepUnclaimedMin = 168 * time.Hour
	// KeepUnclaimedMax: The longest that it can be kept: ten years.
	KeepUnclaimedMax = 87_600 * time.Hour
	// Retention: How long rows are kept that are over.
	Retention = 2_160 * time.Hour
	// RetentionMin: The shortest that they can be kept.
	RetentionMin = 168 * time.Hour
	// RetentionMax: The longest that they can be kept: a hundred years.
	RetentionMax = 876_000 * time.Hour
	// PurgeResultsEvery: How often an instance purges the results that are due.
	PurgeResultsEvery = 1 * time.Minute
	// PurgeRowsEvery: How often an instance purges the rows that are over.
	PurgeRowsEvery = 1 * time.Hour
	// PurgeBatchMax: Rows that one statement purges or marks as read.
	PurgeBatchMax = 1_000
	// MarkDelay: How long rows are collected before one statement marks them as read.
	MarkDelay = 100 * time.Millisecond
	// UnmarkedMax: Rows that are kept to be marked while PostgreSQL is unavailable. The rest are purged a day after
	// completion.
	UnmarkedMax = 10_000
	// ReportedMax: Reports that are remembered, so that each is made once. Beyond that the oldest one is dropped.
	ReportedMax = 10_000
	// RememberedMin: Elicitations of which it is remembered which status was reported, at least; at most twice as many:
	// those that changed last.
	RememberedMin = 5_000
	// ReportsPendingMax: Notifications about payments that wait to be read. After that, the last ones are listed.
	ReportsPendingMax = 1_000
	// ReportsOverlap: How far before the last list of payments or refunds the next one begins: transactions commit in
	// another order than they begin.
	ReportsOverlap = 1 * time.Minute
	// ValidFor: How long before its end an access token is refreshed in the background.
	ValidFor = 1 * time.Minute
	// ValidLeast: An access token with less time left is refreshed before a call is given it: it might end on its way.
	ValidLeast = 5 * time.Second
	// RefusedNew: A token that comes from a refresh and is refused so soon is not refreshed again: the account has to be
	// connected again.
	RefusedNew = 1 * time.Minute
	// ValidForMax: The longest that a call may ask for.
	ValidForMax = 24 * time.Hour
	// AccountLook: How often a call looks that waits for another instance to refresh or exchange.
	AccountLook = 200 * time.Millisecond
	// AccountRequest: How long a request to a provider about accounts may take.
	AccountRequest = 30 * time.Second
	// AccountAnswerMax: Bytes of the answer of a provider: far more than tokens, keys and metadata have.
	AccountAnswerMax = 1_048_576
	// AccountHeaderMax: Bytes of the header of this answer, as in Node, which reads no more.
	AccountHeaderMax = 16_384
	// AccountCodeMax: Characters of an error that a provider names.
	AccountCodeMax = 64
	// AccountHostMax: Characters of a host that is a variable of a description.
	AccountHostMax = 253
	// AccountParameterMax: Bytes of a parameter of an authorization request.
	AccountParameterMax = 4_096
	// AccountNamesMax: Names of members that a description gives a token.
	AccountNamesMax = 8
	// AccountAgain: How long after a failure it is asked once more whose account it is.
	AccountAgain = 1 * time.Second
	// TokenLifetimeMaxS: Seconds of the longest lifetime of a token: a provider that says more does not know it.
	TokenLifetimeMaxS = 3_153_600_000
	// Assertion: How long a signed client assertion is valid: long enough for clocks that differ.
	Assertion = 5 * time.Minute
	// Metadata: How long the metadata of a provider are used.
	Metadata = 1 * time.Hour
	// MetadataMax: Providers whose metadata are kept.
	MetadataMax = 256
	// ClockSkew: How much the clock of a provider may differ.
	ClockSkew = 30 * time.Second
	// Exchange: How long the exchange of a code may take: three requests to a provider, and what the database takes.
	Exchange = 95 * time.Second
	// RefreshLease: How long only one instance refreshes the token of an account: longer than a request may take, with
	// room for the commits.
	RefreshLease = 1 * time.Minute
	// RefreshSent: How long it stays the only one after it has sent the token: for the limit of the request, and for as
	// long as new tokens are kept in memory.
	RefreshSent = 330 * time.Second
	// ReuseMax: The longest time for which a provider is said to take a refresh token again.
	ReuseMax = 24 * time.Hour
	// HoldWait: How long a refresh waits for the listening session, which tells the others that this instance is there.
	HoldWait = 10 * time.Second
	// Thaw: How much longer a request may take whose limit has passed while the process stood still: what came meanwhile
	// is read first.
	Thaw = 2 * time.Second
	// Frozen: So much later than it should be, a timer fires in a process that stood still.
	Frozen = 100 * time.Millisecond
	// RetryAfterMax: The longest pause that a provider can ask for with Retry-After: an hour.
	RetryAfterMax = 1 * time.Hour
	// RefreshLate: After so much of the lease, what is left of it is too little for a request.
	RefreshLate = 20 * time.Second
	// Commit: How long tokens that came are kept in memory while they cannot be stored.
	Commit = 5 * time.Minute
	// CommitRetryMin: The first pause between two attempts to store them.
	CommitRetryMin = 100 * time.Millisecond
	// CommitRetryMax: The longest of these pauses.
	CommitRetryMax = 5 * time.Second
	// Round: How long a call waits before it asks its client to call again. Most clients end a call after 60 seconds,
	// whatever progress they see.
	Round = 45 * time.Second
	// RoundsMax: How often a client is asked to call again without an outcome.
	RoundsMax = 8
	// TaskCallMax: Bytes of the sealed call of a task, and of each of its answers.
	TaskCallMax = 262_144
	// TaskLease: How long an instance has a task for itself whose tool it runs. It is renewed while the tool works.
	TaskLease = 30 * time.Second
	// TaskWait: How long `tasks/get` waits for a tool that is run.
	TaskWait = 2 * time.Second
	// TaskPoll: How often a client is asked to look at its task.
	TaskPoll = 2 * time.Second
	// TaskLook: How often a task that a client listens to is looked at, although its elicitation has not moved. Twice as
	// often, the stream says that it is alive.
	TaskLook = 30 * time.Second
	// TaskListensMax: Clients that may listen to tasks at a time. Others ask.
	TaskListensMax = 1_024
	// TaskOwnerListensMax: How many of them may be one user's.
	TaskOwnerListensMax = 32
	// TaskIDsMax: Tasks to which a client listens by one request.
	TaskIDsMax = 32
	// ListenRequestMax: Bytes of such a request. A longer one is answered by the SDK alone.
	ListenRequestMax = 65_536
	// BodyStateMax: Bytes of the `requestState` of a body that asks its user for something itself.
	BodyStateMax = 8_192
	// RPCInternalError: The code of JSON-RPC of what has failed inside.
	RPCInternalError = -32603
	// RPCHeaderMismatch: The code of MCP of a request whose header names something else.
	RPCHeaderMismatch = -32020
	// RPCCapabilityMissing: The code of MCP of a request whose client does not declare what it requires.
	RPCCapabilityMissing = -32021
	// Heartbeat: How often a call that waits reports progress to its client.
	Heartbeat = 15 * time.Second
	// Response: How long after the completion the response of a client is still waited for.
	Response = 1 * time.Second
)

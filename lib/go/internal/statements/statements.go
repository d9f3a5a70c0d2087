// Code generated from lib/contract by make contract. DO NOT EDIT.

// SPDX-License-Identifier: MIT

// Package statements has what this module sends to PostgreSQL in the same words as other languages.
package statements

const (
	// Channel: The channel on which every change of a row is notified, as {"id":…,"status":…}.
	Channel = `urlmode`
	// ProbeChannel: The channel that tests whether notifications arrive.
	ProbeChannel = `urlmode_probe`
	// Notify: Sends a notification on a channel.
	Notify = `SELECT pg_notify($1::text, $2::text)`
	// ProgramLimitExceeded: The SQLSTATE program_limit_exceeded, with which PostgreSQL refuses a change whose notification
	// has no room in its queue, which empties by itself. `begin_ledger` raises it as well, for one consumer too many.
	ProgramLimitExceeded = `54000`
	// BackendPid: Which process of PostgreSQL answers. A pooler says another one than the connection has.
	BackendPid = `SELECT pg_backend_pid() AS pid`
	// LockMigrations: Makes migrations wait for each other until the end of the session: the roles are those of the
	// cluster.
	LockMigrations = `SELECT pg_advisory_lock(hashtext('urlmode.migration'))`
)

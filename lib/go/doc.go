// SPDX-License-Identifier: MIT

// Package urlmode is the SDK of urlmode in Go: it creates MCP
// elicitations in URL mode, and waits until the callback programs have completed
// them. The state of an elicitation is a row in PostgreSQL, and NOTIFY wakes the
// processes that wait. Therefore any instance of a server can create an
// elicitation, wait for it, or wait again, and servers in other languages can
// share the database.
//
// An [Instance] is safe for use by any number of goroutines, and one in each
// process is enough. All waits of an instance share one connection that listens.
// The package keeps no state outside of its instances.
//
// A context ends the call to which it is given, and nothing else: the
// elicitation stays as it is, and so does a statement that PostgreSQL has begun.
package urlmode

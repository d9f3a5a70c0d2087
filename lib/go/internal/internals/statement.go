// SPDX-License-Identifier: MIT

package internals

import "github.com/jackc/pgx/v5"

// Statement calls a function of the database: A has the values of its parameters by name, and R is a row of what it returns.
type Statement[A, R any] struct {
	Text   string
	Values func(A) []any
	Read   pgx.RowToFunc[R]
	// Reads: the function only reads, so that it can be called once more if the connection was lost before the answer came. Any
	// other is called again only if it is certain that the statement was not sent.
	Reads bool
}

// StatementOf is for the files that lib/contract generates.
func StatementOf[A, R any](text string, values func(A) []any, read pgx.RowToFunc[R]) Statement[A, R] {
	return Statement[A, R]{Text: text, Values: values, Read: read}
}

// ReadingOf is StatementOf for a function that only reads.
func ReadingOf[A, R any](text string, values func(A) []any, read pgx.RowToFunc[R]) Statement[A, R] {
	return Statement[A, R]{Text: text, Values: values, Read: read, Reads: true}
}

// Nothing reads nothing of a row.
func Nothing(pgx.CollectableRow) (none struct{}, err error) { return none, nil }

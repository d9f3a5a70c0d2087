// SPDX-License-Identifier: MIT

package urlmodetest

import (
	"net"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// pids are the process ids of the connections.
var pids atomic.Uint32

// serve is a server of PostgreSQL's protocol, as far as the package speaks it: statements without a name.
func (s *script) serve(conn net.Conn) {
	defer conn.Close()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	pid := pids.Add(1)
	backend.Send(&pgproto3.AuthenticationOk{})
	for name, value := range map[string]string{"server_version": "16.0", "client_encoding": "UTF8", "standard_conforming_strings": "on"} {
		backend.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	backend.Send(&pgproto3.BackendKeyData{ProcessID: pid, SecretKey: []byte{0, 0, 0, 0}})
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	backend.Send(ready)
	var statement string
	var rows [][]any
	for backend.Flush() == nil {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Query: // without parameters, and nobody reads its rows
			backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")})
			backend.Send(ready)
		case *pgproto3.Parse:
			statement = m.Query
			backend.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			if strings.Contains(statement, "pg_backend_pid()") {
				rows = [][]any{{int64(pid)}}
			} else {
				rows = s.answer(statement, parameters{m.ParameterFormatCodes, m.Parameters})
			}
			backend.Send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			backend.Send(described(rows))
		case *pgproto3.Execute:
			for _, row := range rows {
				backend.Send(encoded(row))
			}
			backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 0")})
		case *pgproto3.Sync:
			backend.Send(ready)
		case *pgproto3.Terminate:
			return
		}
	}
}

var types = pgtype.NewMap()

func oidOf(value any) uint32 {
	if known, ok := types.TypeForValue(value); ok {
		return known.OID
	}
	return pgtype.TextOID
}

// described says of which type each column is, which is that of a value in any row.
func described(rows [][]any) pgproto3.BackendMessage {
	if len(rows) == 0 {
		return &pgproto3.NoData{}
	}
	made := &pgproto3.RowDescription{}
	for column := range rows[0] {
		field := pgproto3.FieldDescription{Name: []byte("answer"), DataTypeOID: pgtype.TextOID, DataTypeSize: -1, TypeModifier: -1}
		for _, row := range rows {
			if row[column] != nil {
				field.DataTypeOID = oidOf(row[column])
			}
		}
		made.Fields = append(made.Fields, field)
	}
	return made
}

func encoded(row []any) *pgproto3.DataRow {
	made := &pgproto3.DataRow{}
	for _, value := range row {
		var text []byte
		if value != nil {
			text, _ = types.Encode(oidOf(value), pgtype.TextFormatCode, value, []byte{})
		}
		made.Values = append(made.Values, text)
	}
	return made
}

// parameters are those of a statement.
type parameters struct {
	formats []int16
	values  [][]byte
}

func scan[T any](p parameters, n int, oid uint32) (value T) {
	if n >= len(p.values) || p.values[n] == nil {
		return value
	}
	format := int16(pgtype.TextFormatCode)
	switch len(p.formats) {
	case 0:
	case 1:
		format = p.formats[0]
	default:
		format = p.formats[n]
	}
	_ = types.Scan(oid, format, p.values[n], &value)
	return value
}

func (p parameters) text(n int) string    { return scan[string](p, n, pgtype.TextOID) }
func (p parameters) orNull(n int) *string { return scan[*string](p, n, pgtype.TextOID) }
func (p parameters) blob(n int) []byte    { return scan[[]byte](p, n, pgtype.ByteaOID) }
func (p parameters) number(n int) int64   { return scan[int64](p, n, pgtype.Int8OID) }
func (p parameters) blobs(n int) [][]byte { return scan[[][]byte](p, n, pgtype.ByteaArrayOID) }
func (p parameters) texts(n int) (all []string) {
	for _, each := range scan[[]*string](p, n, pgtype.TextArrayOID) {
		all = append(all, text(each))
	}
	return all
}

module urlmode.example/demo

go 1.25.5

require (
	github.com/modelcontextprotocol/go-sdk v1.8.0
	urlmode.example/urlmode v1.0.0
	urlmode.example/urlmode/examples v1.0.0
	urlmode.example/urlmode/mcp v1.0.0
)

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace (
	urlmode.example/urlmode => ../../../lib/go
	urlmode.example/urlmode/examples => ../../../lib/go/examples
	urlmode.example/urlmode/mcp => ../../../lib/go/mcp
	urlmode.example/urlmode/mcpgo => ../../../lib/go/mcpgo
)

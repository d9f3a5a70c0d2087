-- The data of MCP frameworks whose instances share it: FrontMCP and mcp-lite. This schema is
-- there only where `migrate --frameworks` asked for it.

CREATE SCHEMA IF NOT EXISTS urlmode_frameworks AUTHORIZATION :"owner";
COMMENT ON SCHEMA urlmode_frameworks IS 'What the adapters of MCP frameworks store, and the functions that change it.';
GRANT USAGE ON SCHEMA urlmode_frameworks TO :"server";

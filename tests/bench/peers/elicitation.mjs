// What an MCP server creates, on each side.

export const TTL_MS = 600_000;
export const TARGET_URL = 'https://provider.example.com/authorize?client_id=mcp-server-8f2b&response_type=code'
	+ '&redirect_uri=https%3A%2F%2Fcallback.example.com%2Foauth%2Fdemo%2Freturn&scope=openid%20profile%20email';

// The users of the demo MCP server: access token → subject. A real server verifies
// tokens that its authorization server has issued.

export const demoUsers = new Map([
	['demo-token-of-ada', 'ada@example.org'],
	['demo-token-of-grace', 'grace@example.org'],
]);

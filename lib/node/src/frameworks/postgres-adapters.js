// What keeps the state of mcp-lite in PostgreSQL.

export { PostgresClientRequestAdapter } from './client-requests.js';
export { PostgresSessionAdapter } from './sessions.js';

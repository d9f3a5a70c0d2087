// Where there is no Node.js, there is no connection to PostgreSQL.

export class PostgresClientRequestAdapter {
	constructor() {
		throw new TypeError('the adapters of mcp-lite on PostgreSQL need Node.js');
	}
}

export class PostgresSessionAdapter extends PostgresClientRequestAdapter {}

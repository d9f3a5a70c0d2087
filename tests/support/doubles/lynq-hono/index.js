// A double of @lynq/hono: it serves one path, to local Host headers unless others
// are allowed, and passes no option to `server.http`. Compared with 0.1.1.

const LOCAL = ['localhost', '127.0.0.1', '::1'];

export function mountLynq(app, server, { path = '/mcp', allowedHosts = LOCAL } = {}) {
	const handle = server.http();
	app.use(path, async (c, next) => {
		const host = c.req.header('host')?.replace(/:\d+$/, '');
		if (!allowedHosts.includes(host)) return c.json({ jsonrpc: '2.0', error: { code: -32000, message: 'Forbidden' }, id: null }, 403);
		return next();
	});
	app.all(path, (c) => handle(c.req.raw));
}

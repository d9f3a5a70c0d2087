// Where there is no Node.js there is no database, which keeps the tasks.

export class TaskServer {
	constructor() {
		throw new TypeError('handleTasks needs Node.js, and a UrlMode with a database');
	}
}

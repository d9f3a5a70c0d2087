// For the tests of servers: a UrlMode without a database, whose elicitations end as the test says, and a real database for one test.

export { accept, approve, decline, expire, hold, ScriptedUrlMode, typeIn } from './testing/scripted.js';
export { temporaryDatabase } from './testing/temporary-database.js';

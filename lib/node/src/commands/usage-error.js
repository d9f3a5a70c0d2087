/** The command line makes no sense. */
export class UsageError extends Error {}

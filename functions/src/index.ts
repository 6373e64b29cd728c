/** The functions that a deployment consists of. */

export * from './entry/events.ts';
export { githubWebhook, mcp } from './entry/http.ts';

// @ts-check
/** What every script must agree on: the project's name, its region and where things lie. */
import { fileURLToPath } from 'node:url';

export const projectId = 'demo-muster';
export const region = 'us-central1';

/** The Realtime Database's namespace: what the Admin SDK and rules-unit-testing take for a demo project. */
export const databaseNamespace = projectId;

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

/** Git-ignored: what belongs to one machine and one run. */
export const devDirectory = `${root}/.dev`;

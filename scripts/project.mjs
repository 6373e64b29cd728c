// @ts-check
/** Shared constants of all scripts: the project's name, its region and its paths. */
import { fileURLToPath } from 'node:url';

export const projectId = 'demo-muster';
export const region = 'us-central1';

/** The Realtime Database's namespace, which the Admin SDK and rules-unit-testing expect for a demo project. */
export const databaseNamespace = projectId;

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

/** Git-ignored folder for files of one machine or run. */
export const devDirectory = `${root}/.dev`;

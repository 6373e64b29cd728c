// @ts-check
/** Constants of all scripts: the id of the emulators' project, its region, and paths. */
import { fileURLToPath } from 'node:url';

export const projectId = 'demo-muster';
export const region = 'us-central1';

/** Namespace that the Admin SDK and rules-unit-testing use in the Realtime Database for a demo project. */
export const databaseNamespace = projectId;
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

/** Folder for files of one machine or run, which Git ignores. */
export const devDirectory = `${root}/.dev`;

import { type App, getApps, initializeApp } from 'firebase-admin/app';

/** The name that the Admin SDK gives to an app without one. */
const DEFAULT_NAME = '[DEFAULT]';

/** The Admin SDK's app, of the environment's own credentials. Others may be there, which act as callers. */
export function firebaseApp(): App {
  return getApps().find(({ name }) => name === DEFAULT_NAME) ?? initializeApp();
}

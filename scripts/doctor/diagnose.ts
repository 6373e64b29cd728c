/** All checks of the doctor. Problems are best fixed in this order. */
import type { Google } from '../google/client.ts';
import type { Check, Finding, Site } from './check.ts';
import { databaseChecks } from './checks/databases.ts';
import { eventChecks } from './checks/events.ts';
import { functionChecks } from './checks/functions.ts';
import { identityChecks } from './checks/identity.ts';
import { indexChecks } from './checks/indexes.ts';
import { modelChecks } from './checks/models.ts';
import { moneyChecks } from './checks/money.ts';
import { projectChecks } from './checks/project.ts';
import { ruleChecks } from './checks/rules.ts';
import { secretChecks } from './checks/secrets.ts';
import { signInChecks } from './checks/signIn.ts';
import type { Declared } from './declared.ts';
import { inspect } from './inspect.ts';

export const CHECKS: readonly Check[] = [
  ...projectChecks,
  ...databaseChecks,
  ...identityChecks,
  ...secretChecks,
  ...indexChecks,
  ...ruleChecks,
  ...functionChecks,
  ...eventChecks,
  ...signInChecks,
  ...modelChecks,
  ...moneyChecks,
];

export type Named = Finding & { readonly name: string };

export interface Diagnosis extends Site {
  readonly findings: readonly Named[];
}

/** Runs all checks on a project. @throws NoProject if the project cannot be read */
export async function diagnose(google: Google, declared: Declared): Promise<Diagnosis> {
  const site = { seen: await inspect(google, declared), declared };
  return { ...site, findings: CHECKS.map(({ name, find }) => ({ name, ...find(site) })) };
}

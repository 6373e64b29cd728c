/** The roles that the deploy guide lists for CI permit every call of a deployment, and each role is needed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { DEPLOYING } from '../../../scripts/doctor/needs.ts';
import { methodIds } from '../../support/google/discovery.ts';

const names = z.array(z.string());
const permissions = z
  .object({
    renamed: z.record(z.string(), z.string()),
    always: names,
    methods: z.record(z.string(), names),
    cli: z.record(z.string(), names),
    roles: z.record(z.string(), names),
  })
  .parse(JSON.parse(readText('../../../scripts/doctor/permissions.json')));

function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

/** Returns the permissions that the Firebase CLI requires for each deploy target. */
function requiredByCli(): readonly string[] {
  const { TARGET_PERMISSIONS } = z
    .object({ TARGET_PERMISSIONS: z.record(z.string(), names) })
    .parse(createRequire(import.meta.url)('firebase-tools/lib/commands/deploy.js'));
  const targets = ['firestore', 'database', 'functions', 'hosting'];
  return targets.flatMap((target) => TARGET_PERMISSIONS[target] ?? assert.fail(target));
}

function asNamedToday(permission: string): string {
  const old = Object.keys(permissions.renamed).find((prefix) => permission.startsWith(`${prefix}.`));
  return old === undefined ? permission : `${permissions.renamed[old]}${permission.slice(old.length)}`;
}

function missing(roles: readonly string[]): readonly string[] {
  const granted = new Set(roles.flatMap((role) => permissions.roles[role] ?? assert.fail(`${role} is unknown`)));
  return DEPLOYING.filter((permission) => !granted.has(permission)).sort();
}

describe('roles of a CI account', () => {
  const section = /## In CI[^#]+/.exec(readText('../../../docs/guides/deploy.md'))?.[0] ?? '';
  const documented = [...section.matchAll(/`(roles\/[\w.]+)`/g)].map(([, role]) => role ?? '');

  it('cover all methods that a deployment may call', () =>
    assert.deepEqual(Object.keys(permissions.methods).sort(), [...methodIds()].sort()));

  it('cover the permissions that the Firebase CLI requires', () =>
    assert.deepEqual(permissions.cli['commands/deploy.js'], requiredByCli().map(asNamedToday).sort()));

  it('are sufficient for every step of a deployment', () => assert.deepEqual(missing(documented), []));

  it('include no role that a deployment does not need', () => {
    assert.equal(documented.length, 12);
    for (const role of documented) assert.notDeepEqual(missing(documented.filter((one) => one !== role)), [], role);
  });
});

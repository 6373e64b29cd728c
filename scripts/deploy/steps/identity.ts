/** An account for the functions, with the roles that they need and no others, and for Cloud Build the one that it needs. */

import { z } from 'zod';
import { builderOf } from '../../doctor/checks/identity.ts';
import { neededRoles, ROLES_ON_ITSELF, SECRET_ROLE } from '../../doctor/needs.ts';
import { serviceAccount } from '../../doctor/shapes.ts';
import type { Google } from '../../google/client.ts';
import { grant } from '../../google/grant.ts';
import { serviceAccountMember } from '../../google/policy.ts';
import { orStop, type Step, Stop } from '../step.ts';
import { writeParameters } from './parameters.ts';

export const identitySteps: readonly Step[] = [
  {
    title: 'an account of their own for the functions',
    checks: ['service account'],
    run: async (deployment, { seen, declared }) => {
      const { google, say } = deployment;
      if (declared.serviceAccount === undefined) writeParameters(deployment, { SERVICE_ACCOUNT: 'muster@' });
      const email = (await deployment.declare()).serviceAccount ?? '';
      if (
        declared.serviceAccount !== undefined &&
        seen.serviceAccount.ok &&
        seen.serviceAccount.value?.disabled
      )
        throw new Stop(`The service account ${email} is disabled`, {
          command: `gcloud iam service-accounts enable ${email} --project ${google.project}`,
        });
      say(`  ${email}`);
      const made = await google.send({
        method: 'POST',
        api: 'iam.googleapis.com',
        path: `v1/projects/${google.project}/serviceAccounts`,
        body: { accountId: email.split('@')[0], serviceAccount: { displayName: 'Muster' } },
        schema: serviceAccount,
      });
      // Somebody made it before, and the parameter did not say so.
      if (!made.ok && made.failure.status === 409) return;
      orStop(made, `The service account ${email} cannot be made`);
    },
  },
  {
    title: 'their roles, and that of Cloud Build',
    checks: ['roles', 'builds'],
    run: async ({ google }, site) => {
      const { seen, declared, findings } = site;
      const isToBuild = findings.some(({ name, state }) => name === 'builds' && state === 'problem');
      const builder = builderOf(seen.builder.ok ? seen.builder.value.serviceAccountEmail : '', site);
      const granted = await grant(
        google,
        {
          api: 'cloudresourcemanager.googleapis.com',
          path: `v3/projects/${google.project}`,
          reading: 'POST',
        },
        {
          [serviceAccountMember(seen.account)]: neededRoles(declared),
          ...(isToBuild && { [serviceAccountMember(builder)]: ['roles/cloudbuild.builds.builder'] }),
        },
      );
      orStop(granted, 'Roles cannot be given');
    },
  },
  {
    title: 'their rights on themselves: to sign tokens, and to hand Cloud Tasks who they are',
    checks: ['token creator', 'acting as itself'],
    run: async ({ google }, { seen }) => {
      const path = `v1/projects/${google.project}/serviceAccounts/${seen.account}`;
      const roles = { [serviceAccountMember(seen.account)]: ROLES_ON_ITSELF };
      orStop(
        await grant(google, { api: 'iam.googleapis.com', path, reading: 'POST' }, roles),
        'Roles cannot be given',
      );
    },
  },
];

export const secretSteps: readonly Step[] = [
  {
    title: 'secrets',
    checks: ['secrets'],
    run: async ({ google, secrets, say }, { seen, declared }) => {
      for (const name of declared.secrets) {
        const versions = seen.secretVersions.get(name);
        if (versions?.ok && (versions.value ?? []).length > 0) continue;
        const value = secrets[name] ?? '';
        say(`  ${name}: ${value === '' ? 'none, since nobody gave a value' : 'as given'}`);
        await makeSecret(google, name);
        const data = Buffer.from(value === '' ? 'none' : value).toString('base64');
        const added = await google.send({
          method: 'POST',
          api: 'secretmanager.googleapis.com',
          path: `v1/projects/${google.project}/secrets/${name}:addVersion`,
          body: { payload: { data } },
          schema: z.unknown(),
        });
        orStop(added, `The secret ${name} cannot be set`);
      }
    },
  },
  {
    title: 'access to secrets for the functions',
    checks: ['access to secrets'],
    run: async ({ google }, { seen, declared }) => {
      for (const name of declared.secrets) {
        const path = `v1/projects/${google.project}/secrets/${name}`;
        const roles = { [serviceAccountMember(seen.account)]: [SECRET_ROLE] };
        const granted = await grant(
          google,
          { api: 'secretmanager.googleapis.com', path, reading: 'GET' },
          roles,
        );
        orStop(granted, `Access to ${name} cannot be given`);
      }
    },
  },
];

/** One that was made before without a value is there already. */
async function makeSecret(google: Google, secretId: string): Promise<void> {
  const made = await google.send({
    method: 'POST',
    api: 'secretmanager.googleapis.com',
    path: `v1/projects/${google.project}/secrets`,
    query: { secretId },
    body: { replication: { automatic: {} } },
    schema: z.unknown(),
  });
  if (!made.ok && made.failure.status !== 409) orStop(made, `The secret ${secretId} cannot be made`);
}

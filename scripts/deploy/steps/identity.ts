/** Steps that give the accounts of the functions and of Cloud Build the roles that they need, and set secrets. */
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
    title: 'dedicated account for the functions',
    checks: ['service account'],
    run: async (deployment, { seen, declared }) => {
      const { google, say } = deployment;
      if (declared.serviceAccount === undefined) writeParameters(deployment, { SERVICE_ACCOUNT: 'muster@' });
      const email = (await deployment.declare()).serviceAccount ?? '';
      if (declared.serviceAccount !== undefined && seen.serviceAccount.ok && seen.serviceAccount.value?.disabled)
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
      // Status 409 means that the account already exists. Only the parameter was missing.
      if (!made.ok && made.failure.status === 409) return;
      orStop(made, `Cannot create the service account ${email}`);
    },
  },
  {
    title: "roles of the functions' account and of Cloud Build",
    checks: ['roles', 'builds'],
    run: async ({ google }, site) => {
      const { seen, declared, findings } = site;
      const isToBuild = findings.some(({ name, state }) => name === 'builds' && state === 'problem');
      const builder = builderOf(seen.builder.ok ? seen.builder.value.serviceAccountEmail : '', site);
      const granted = await grant(
        google,
        { api: 'cloudresourcemanager.googleapis.com', path: `v3/projects/${google.project}`, reading: 'POST' },
        {
          [serviceAccountMember(seen.account)]: neededRoles(declared),
          ...(isToBuild && { [serviceAccountMember(builder)]: ['roles/cloudbuild.builds.builder'] }),
        },
      );
      orStop(granted, 'Cannot grant roles');
    },
  },
  {
    title: 'permissions of the account on itself, to sign tokens and to run Cloud Tasks',
    checks: ['token creator', 'acting as itself'],
    run: async ({ google }, { seen }) => {
      const path = `v1/projects/${google.project}/serviceAccounts/${seen.account}`;
      const roles = { [serviceAccountMember(seen.account)]: ROLES_ON_ITSELF };
      orStop(await grant(google, { api: 'iam.googleapis.com', path, reading: 'POST' }, roles), 'Cannot grant roles');
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
        say(`  ${name}: ${value === '' ? 'set to "none", because no value was given' : 'set to the given value'}`);
        await makeSecret(google, name);
        const data = Buffer.from(value === '' ? 'none' : value).toString('base64');
        const added = await google.send({
          method: 'POST',
          api: 'secretmanager.googleapis.com',
          path: `v1/projects/${google.project}/secrets/${name}:addVersion`,
          body: { payload: { data } },
          schema: z.unknown(),
        });
        orStop(added, `Cannot set the secret ${name}`);
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
        const granted = await grant(google, { api: 'secretmanager.googleapis.com', path, reading: 'GET' }, roles);
        orStop(granted, `Cannot grant access to ${name}`);
      }
    },
  },
];

/** Creates a secret without a value, unless the secret already exists. */
async function makeSecret(google: Google, secretId: string): Promise<void> {
  const made = await google.send({
    method: 'POST',
    api: 'secretmanager.googleapis.com',
    path: `v1/projects/${google.project}/secrets`,
    query: { secretId },
    body: { replication: { automatic: {} } },
    schema: z.unknown(),
  });
  if (!made.ok && made.failure.status !== 409) orStop(made, `Cannot create the secret ${secretId}`);
}

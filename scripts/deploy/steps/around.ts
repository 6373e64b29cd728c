/** Steps for Google's resources around the functions: callers, images, queues, dead letters, logs and domains. */
import { z } from 'zod';
import { consuming, topicPath } from '../../doctor/checks/events.ts';
import { isOurs } from '../../doctor/checks/functions.ts';
import { LINK_EXCLUSION, signInDomains } from '../../doctor/checks/signIn.ts';
import type { Diagnosis } from '../../doctor/diagnose.ts';
import { calledByGoogle, deadLetterTopic, INVOKER_ROLE, pubSubAgentOf } from '../../doctor/needs.ts';
import { grant } from '../../google/grant.ts';
import { ended, operation } from '../../google/operation.ts';
import { serviceAccountMember } from '../../google/policy.ts';
import { type Deployment, orStop, type Step } from '../step.ts';

const anything = z.unknown();

/** Number of attempts after which Pub/Sub moves a message to the dead-letter topic. */
const DELIVERY_ATTEMPTS = 20;

/** Policy that deletes container images after a day, when no longer needed. Firebase finds the policy by its id. */
const CLEANUP = {
  'firebase-functions-cleanup': {
    id: 'firebase-functions-cleanup',
    action: 'DELETE',
    condition: { tagState: 'ANY', olderThan: '86400s' },
  },
};

export const aroundSteps: readonly Step[] = [
  { title: 'permission for clients to call the endpoint', checks: ['invoker', 'public callers'], run: openEndpoint },
  {
    title: 'permission for events, schedules and queues to call the functions',
    checks: ['calls by Google'],
    run: async ({ google }, { seen, declared }) => {
      const services = orStop(seen.runServices, 'Cannot read the Cloud Run services');
      const roles = { [serviceAccountMember(seen.account)]: [INVOKER_ROLE] };
      for (const name of calledByGoogle(declared)) {
        const service = services.find((one) => one.name.endsWith(`/services/${name.toLowerCase()}`));
        if (service === undefined) continue;
        const granted = await grant(
          google,
          { api: 'run.googleapis.com', path: `v2/${service.name}`, reading: 'GET' },
          roles,
        );
        orStop(granted, `Cannot let events, schedules and queues call ${name}`);
      }
    },
  },
  {
    title: 'deletion of old images after one day',
    checks: ['cleanup policy'],
    run: async ({ google }, { seen }) => {
      const repository = seen.repository.ok ? seen.repository.value : undefined;
      if (repository === undefined) return;
      const patched = await google.send({
        method: 'PATCH',
        api: 'artifactregistry.googleapis.com',
        path: `v1/${repository.name}`,
        query: { updateMask: 'cleanupPolicies' },
        body: { cleanupPolicies: CLEANUP },
        schema: anything,
      });
      orStop(patched, 'Cannot set the cleanup policy');
    },
  },
  {
    title: 'running queue and schedules',
    checks: ['task queue', 'schedules'],
    run: async ({ google, say }, { seen, declared }) => {
      const ours = (one: { readonly name: string }) => isOurs(declared, one);
      const queues = seen.queues.ok ? seen.queues.value.filter((one) => ours(one) && one.state !== 'RUNNING') : [];
      const jobs = seen.jobs.ok ? seen.jobs.value.filter((one) => ours(one) && one.state !== 'ENABLED') : [];
      const still = [
        ...queues.map(({ name }) => ({ api: 'cloudtasks.googleapis.com', path: `v2/${name}:resume` }) as const),
        ...jobs.map(({ name }) => ({ api: 'cloudscheduler.googleapis.com', path: `v1/${name}:resume` }) as const),
      ];
      for (const { api, path } of still) {
        say(`  ${path}`);
        orStop(await google.send({ method: 'POST', api, path, body: {}, schema: anything }), `${path} fails`);
      }
    },
  },
  { title: 'dead letters', checks: ['dead letters', 'permissions for dead letters'], run: giveUpMessages },
  { title: 'exclusion of sign-in codes from logs', checks: ['sign-in links in logs'], run: excludeLinks },
  {
    title: 'authorized domains',
    checks: ['authorized domains'],
    run: async ({ google }, site) => {
      const config = orStop(site.seen.authConfig, 'Cannot read the settings of Authentication');
      const patched = await google.send({
        method: 'PATCH',
        api: 'identitytoolkit.googleapis.com',
        path: `v2/projects/${google.project}/config`,
        query: { updateMask: 'authorizedDomains' },
        body: { authorizedDomains: [...new Set([...(config?.authorizedDomains ?? []), ...signInDomains(site)])] },
        schema: anything,
      });
      orStop(patched, 'Cannot authorize the sign-in domains');
    },
  },
];

/** Allows all callers. If an organization policy forbids that, turns off Cloud Run's own check of the caller. */
async function openEndpoint({ google, say }: Deployment, { seen, declared }: Diagnosis): Promise<void> {
  const api = 'run.googleapis.com';
  const services = orStop(seen.runServices, 'Cannot read the Cloud Run services');
  for (const { name } of declared.functions.filter(({ isPublic }) => isPublic)) {
    const service = services.find((one) => one.name.endsWith(`/services/${name.toLowerCase()}`));
    if (service === undefined || service.invokerIamDisabled) continue;
    const path = `v2/${service.name}`;
    const granted = await grant(google, { api, path, reading: 'GET' }, { allUsers: [INVOKER_ROLE] });
    if (granted.ok) continue;
    say(`  ${name}: ${granted.failure.message} Turning off Cloud Run's check of callers. The function checks them.`);
    const started = await google.send({
      method: 'PATCH',
      api,
      path,
      query: { updateMask: 'invokerIamDisabled' },
      body: { invokerIamDisabled: true },
      schema: operation,
    });
    orStop(await ended(google, api, 'v2', started), `Cannot make ${name} public`, {
      page: `https://console.cloud.google.com/iam-admin/orgpolicies/iam-allowedPolicyMemberDomains?project=${google.project}`,
      press: 'ask an organization administrator to exempt the project: Override, Allow all',
    });
  }
}

async function excludeLinks({ google }: Deployment, { seen }: Diagnosis): Promise<void> {
  const { name, filter } = LINK_EXCLUSION;
  const exclusions = orStop(seen.logExclusions, 'Cannot read the log exclusions');
  const path = `v2/projects/${google.project}/exclusions`;
  const body = { name, filter, disabled: false, description: 'Codes of emailed sign-in links' };
  const isThere = exclusions.some((one) => one.name === name);
  const sent = await google.send({
    method: isThere ? 'PATCH' : 'POST',
    api: 'logging.googleapis.com',
    path: isThere ? `${path}/${name}` : path,
    ...(isThere && { query: { updateMask: 'filter,disabled' } }),
    body,
    schema: anything,
  });
  orStop(sent, 'Cannot exclude the codes of sign-in links from logs');
}

async function giveUpMessages({ google }: Deployment, diagnosis: Diagnosis): Promise<void> {
  const { seen, declared } = diagnosis;
  const api = 'pubsub.googleapis.com';
  const topic = topicPath(diagnosis, deadLetterTopic(declared) ?? '');
  const agent = serviceAccountMember(pubSubAgentOf(seen.project.number));
  const may = (path: string, role: string) =>
    grant(google, { api, path: `v1/${path}`, reading: 'GET' }, { [agent]: [role] });
  orStop(await may(topic, 'roles/pubsub.publisher'), `Cannot let Pub/Sub publish to ${topic}`);
  for (const { name, deadLetterPolicy } of consuming(
    diagnosis,
    orStop(seen.subscriptions, 'Cannot read the subscriptions'),
  )) {
    orStop(await may(name, 'roles/pubsub.subscriber'), `Cannot let Pub/Sub acknowledge messages of ${name}`);
    if (deadLetterPolicy?.deadLetterTopic === topic) continue;
    const subscription = { name, deadLetterPolicy: { deadLetterTopic: topic, maxDeliveryAttempts: DELIVERY_ATTEMPTS } };
    const patched = await google.send({
      method: 'PATCH',
      api,
      path: `v1/${name}`,
      body: { subscription, updateMask: 'deadLetterPolicy' },
      schema: anything,
    });
    orStop(patched, `Cannot change ${name}`);
  }
}

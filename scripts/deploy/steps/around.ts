/** What Google keeps around the functions: who may call them, old images, queues, schedules, dead letters, domains. */
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

/** Pub/Sub gives a message up after so many attempts. */
const DELIVERY_ATTEMPTS = 20;

/** The CLI's own, so that it finds it: one day is enough to see that a build was well. */
const CLEANUP = {
  'firebase-functions-cleanup': {
    id: 'firebase-functions-cleanup',
    action: 'DELETE',
    condition: { tagState: 'ANY', olderThan: '86400s' },
  },
};

export const aroundSteps: readonly Step[] = [
  { title: 'let clients call the endpoint', checks: ['invoker', 'public callers'], run: openEndpoint },
  {
    title: 'let events, schedules and queues call the functions',
    checks: ['calls by Google'],
    run: async ({ google }, { seen, declared }) => {
      const services = orStop(seen.runServices, 'Cloud Run cannot be looked at');
      const roles = { [serviceAccountMember(seen.account)]: [INVOKER_ROLE] };
      for (const name of calledByGoogle(declared)) {
        const service = services.find((one) => one.name.endsWith(`/services/${name.toLowerCase()}`));
        if (service === undefined) continue;
        const granted = await grant(
          google,
          { api: 'run.googleapis.com', path: `v2/${service.name}`, reading: 'GET' },
          roles,
        );
        orStop(granted, `${name} cannot be opened to events, schedules and queues`);
      }
    },
  },
  {
    title: 'delete images of former deployments after a day',
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
      orStop(patched, 'Old images cannot be cleaned up');
    },
  },
  {
    title: 'let the queue and the schedules run',
    checks: ['task queue', 'schedules'],
    run: async ({ google, say }, { seen, declared }) => {
      const ours = (one: { readonly name: string }) => isOurs(declared, one);
      const queues = seen.queues.ok
        ? seen.queues.value.filter((one) => ours(one) && one.state !== 'RUNNING')
        : [];
      const jobs = seen.jobs.ok ? seen.jobs.value.filter((one) => ours(one) && one.state !== 'ENABLED') : [];
      const still = [
        ...queues.map(
          ({ name }) => ({ api: 'cloudtasks.googleapis.com', path: `v2/${name}:resume` }) as const,
        ),
        ...jobs.map(
          ({ name }) => ({ api: 'cloudscheduler.googleapis.com', path: `v1/${name}:resume` }) as const,
        ),
      ];
      for (const { api, path } of still) {
        say(`  ${path}`);
        orStop(await google.send({ method: 'POST', api, path, body: {}, schema: anything }), `${path} fails`);
      }
    },
  },
  { title: 'dead letters', checks: ['dead letters', 'rights for dead letters'], run: giveUpMessages },
  {
    title: 'keep the codes of sign-in links out of logs',
    checks: ['sign-in links in logs'],
    run: excludeLinks,
  },
  {
    title: 'authorised domains',
    checks: ['authorised domains'],
    run: async ({ google }, site) => {
      const config = orStop(site.seen.authConfig, 'Authentication cannot be looked at');
      const patched = await google.send({
        method: 'PATCH',
        api: 'identitytoolkit.googleapis.com',
        path: `v2/projects/${google.project}/config`,
        query: { updateMask: 'authorizedDomains' },
        body: {
          authorizedDomains: [...new Set([...(config?.authorizedDomains ?? []), ...signInDomains(site)])],
        },
        schema: anything,
      });
      orStop(patched, 'The domains where people sign in cannot be authorised');
    },
  },
];

/** Everybody may call, as far as Cloud Run is concerned. Where a policy forbids to say so, it is told not to ask. */
async function openEndpoint({ google, say }: Deployment, { seen, declared }: Diagnosis): Promise<void> {
  const api = 'run.googleapis.com';
  const services = orStop(seen.runServices, 'Cloud Run cannot be looked at');
  for (const { name } of declared.functions.filter(({ isPublic }) => isPublic)) {
    const service = services.find((one) => one.name.endsWith(`/services/${name.toLowerCase()}`));
    if (service === undefined || service.invokerIamDisabled) continue;
    const path = `v2/${service.name}`;
    const granted = await grant(google, { api, path, reading: 'GET' }, { allUsers: [INVOKER_ROLE] });
    if (granted.ok) continue;
    say(
      `  ${name}: ${granted.failure.message} So Cloud Run is told not to ask who calls: the function does.`,
    );
    const started = await google.send({
      method: 'PATCH',
      api,
      path,
      query: { updateMask: 'invokerIamDisabled' },
      body: { invokerIamDisabled: true },
      schema: operation,
    });
    orStop(await ended(google, api, 'v2', started), `${name} cannot be opened`, {
      page: `https://console.cloud.google.com/iam-admin/orgpolicies/iam-allowedPolicyMemberDomains?project=${google.project}`,
      press: 'have an administrator of the organisation exempt the project: Override, Allow all',
    });
  }
}

async function excludeLinks({ google }: Deployment, { seen }: Diagnosis): Promise<void> {
  const { name, filter } = LINK_EXCLUSION;
  const exclusions = orStop(seen.logExclusions, 'Logging cannot be looked at');
  const path = `v2/projects/${google.project}/exclusions`;
  const body = { name, filter, disabled: false, description: 'Codes of mailed sign-in links' };
  const isThere = exclusions.some((one) => one.name === name);
  const sent = await google.send({
    method: isThere ? 'PATCH' : 'POST',
    api: 'logging.googleapis.com',
    path: isThere ? `${path}/${name}` : path,
    ...(isThere && { query: { updateMask: 'filter,disabled' } }),
    body,
    schema: anything,
  });
  orStop(sent, 'The codes of sign-in links cannot be kept out of logs');
}

async function giveUpMessages({ google }: Deployment, diagnosis: Diagnosis): Promise<void> {
  const { seen, declared } = diagnosis;
  const api = 'pubsub.googleapis.com';
  const topic = topicPath(diagnosis, deadLetterTopic(declared) ?? '');
  const agent = serviceAccountMember(pubSubAgentOf(seen.project.number));
  const may = (path: string, role: string) =>
    grant(google, { api, path: `v1/${path}`, reading: 'GET' }, { [agent]: [role] });
  orStop(await may(topic, 'roles/pubsub.publisher'), `Pub/Sub cannot be let publish to ${topic}`);
  for (const { name, deadLetterPolicy } of consuming(
    diagnosis,
    orStop(seen.subscriptions, 'Subscriptions cannot be looked at'),
  )) {
    orStop(await may(name, 'roles/pubsub.subscriber'), `Pub/Sub cannot be let give up messages of ${name}`);
    if (deadLetterPolicy?.deadLetterTopic === topic) continue;
    const subscription = {
      name,
      deadLetterPolicy: { deadLetterTopic: topic, maxDeliveryAttempts: DELIVERY_ATTEMPTS },
    };
    const patched = await google.send({
      method: 'PATCH',
      api,
      path: `v1/${name}`,
      body: { subscription, updateMask: 'deadLetterPolicy' },
      schema: anything,
    });
    orStop(patched, `${name} cannot be changed`);
  }
}

/** The first steps: billing, APIs, and choices that cannot be changed later. */
import { neededApis } from '../../doctor/needs.ts';
import { ended, operation } from '../../google/operation.ts';
import { type Deployment, orStop, type Step, Stop } from '../step.ts';

/** APIs that are needed to check billing. They are free, and can be enabled without billing. */
const TO_LOOK = ['cloudbilling.googleapis.com', 'cloudresourcemanager.googleapis.com'];

/** Maximum number of APIs that Google enables in one request. */
const AT_ONCE = 20;

export const projectSteps: readonly Step[] = [
  {
    title: 'APIs that are needed to check billing',
    checks: ['billing'],
    run: async (deployment, { seen }) => {
      if (!seen.billing.ok && seen.billing.failure.reason === 'SERVICE_DISABLED')
        await enable(deployment, seen.project.number, TO_LOOK);
    },
  },
  { title: 'Firebase project with billing', checks: ['project', 'firebase', 'billing'] },
  {
    title: 'permissions for the following steps',
    checks: ['permissions to deploy'],
    run: async (_, { findings }) => {
      const finding = findings.find(({ name }) => name === 'permissions to deploy');
      if (finding?.state === 'warning') throw new Stop(`Missing permissions: ${finding.what}`, finding.fix);
    },
  },
  {
    title: 'APIs',
    checks: ['APIs'],
    run: (deployment, { seen, declared }) => enable(deployment, seen.project.number, neededApis(declared)),
  },
  {
    title: 'choices that only a person can make: sign-in and database locations',
    checks: ['authentication', 'Firestore mode', 'Firestore location', 'Realtime Database location'],
  },
];

async function enable({ google }: Deployment, project: string, apis: readonly string[]): Promise<void> {
  for (let from = 0; from < apis.length; from += AT_ONCE) {
    const started = await google.send({
      method: 'POST',
      api: 'serviceusage.googleapis.com',
      path: `v1/projects/${project}/services:batchEnable`,
      body: { serviceIds: apis.slice(from, from + AT_ONCE) },
      schema: operation,
    });
    const fix = { command: `gcloud services enable ${apis.join(' ')} --project ${google.project}` };
    orStop(await ended(google, 'serviceusage.googleapis.com', 'v1', started), 'Cannot enable the APIs', fix);
  }
}

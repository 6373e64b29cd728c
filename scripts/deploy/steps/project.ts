/** What comes first: who pays, which APIs are on, and what nobody can change afterwards. */
import { neededApis } from '../../doctor/needs.ts';
import { ended, operation } from '../../google/operation.ts';
import { type Deployment, orStop, type Step, Stop } from '../step.ts';

/** Without these nobody can look whether the project is paid for; they cost nothing and need no billing. */
const TO_LOOK = ['cloudbilling.googleapis.com', 'cloudresourcemanager.googleapis.com'];

/** Google takes so many at once. */
const AT_ONCE = 20;

export const projectSteps: readonly Step[] = [
  {
    title: 'switch on the APIs by which it is seen who pays',
    checks: ['billing'],
    run: async (deployment, { seen }) => {
      if (!seen.billing.ok && seen.billing.failure.reason === 'SERVICE_DISABLED')
        await enable(deployment, seen.project.number, TO_LOOK);
    },
  },
  { title: 'a project of Firebase that is paid for', checks: ['project', 'firebase', 'billing'] },
  {
    title: 'permissions for all that follows',
    checks: ['permissions to deploy'],
    run: async (_, { findings }) => {
      const finding = findings.find(({ name }) => name === 'permissions to deploy');
      if (finding?.state === 'warning') throw new Stop(`You may not deploy: ${finding.what}`, finding.mend);
    },
  },
  {
    title: 'switch on the APIs',
    checks: ['APIs'],
    run: (deployment, { seen, declared }) => enable(deployment, seen.project.number, neededApis(declared)),
  },
  {
    title: 'what only a person can choose: sign-in, and where databases lie',
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
    const mend = { command: `gcloud services enable ${apis.join(' ')} --project ${google.project}` };
    orStop(
      await ended(google, 'serviceusage.googleapis.com', 'v1', started),
      'The APIs cannot be switched on',
      mend,
    );
  }
}

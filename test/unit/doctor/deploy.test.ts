/** `npm run deploy` against a local imitation of Google's APIs, which stores the changes. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { deploy, plan } from '../../../scripts/deploy/deploy.ts';
import { type Deployment, Stop } from '../../../scripts/deploy/step.ts';
import { declaredFor } from '../../../scripts/doctor/declared.ts';
import { diagnose } from '../../../scripts/doctor/diagnose.ts';
import { Google } from '../../../scripts/google/client.ts';
import { NUMBER, PROJECT, type RecordedProject, recordingOf } from '../../support/google/answers.ts';
import { LocalGoogle, TOKEN } from '../../support/google/server.ts';
import { deployedFunctions, deployedRules, write } from '../../support/google/writes.ts';

const ADDRESS = `mcp-${NUMBER}.us-central1.run.app`;
const BILLING = `cloudbilling.googleapis.com/v1/projects/${PROJECT}/billingInfo`;
const AUTH = `identitytoolkit.googleapis.com/v2/projects/${PROJECT}/config`;
const QUEUES = `cloudtasks.googleapis.com/v2/projects/${PROJECT}/locations/us-central1/queues`;
const JOBS = `cloudscheduler.googleapis.com/v1/projects/${PROJECT}/locations/us-central1/jobs`;
const INDEXES = `firestore.googleapis.com/v1/projects/${PROJECT}/databases/(default)/collectionGroups/-/indexes`;

const INVOKERS_REFUSED = `
Functions deploy had errors with the following functions:
	githubWebhook(us-central1)
	mcp(us-central1)

Unable to set the invoker for the IAM policy on the following functions:
	githubWebhook(us-central1)
	mcp(us-central1)

Some common causes of this:
`;

/** Creates a project and a deployment to it. A simulated Firebase CLI changes the project as the real CLI would. */
async function stage(name: RecordedProject) {
  const { folder, answers } = await recordingOf(name);
  const local = new LocalGoogle(answers, write);
  await local.start();
  const printed: string[] = [];
  const called: string[] = [];
  const secrets: Record<string, string | undefined> = { GEMINI_API_KEY: 'AIza-very-secret' };
  const isClosed = name === 'organization';
  const deployment: Deployment = {
    google: new Google({
      project: PROJECT,
      token: async () => TOKEN,
      origin: local.url,
      // While the deployment waits, the simulated project finishes building its indexes.
      pause: async () => {
        const indexes = JSON.stringify(answers.get(INDEXES) ?? {});
        answers.set(INDEXES, JSON.parse(indexes.replace('"CREATING"', '"READY"')));
      },
    }),
    firebase: async (args) => {
      called.push(args.join(' '));
      const declared = await declaredFor(PROJECT, folder);
      if (args.includes('firestore,database')) deployedRules(answers, declared);
      if (!args.includes('functions')) return { succeeded: true, output: '' };
      deployedFunctions(answers, declared, !isClosed);
      return { succeeded: !isClosed, output: isClosed ? INVOKERS_REFUSED : '' };
    },
    declare: () => declaredFor(PROJECT, folder),
    folder,
    secrets,
    call: async (url) => {
      called.push(url);
      return 'it answers';
    },
    say: (line) => printed.push(line),
  };
  const writes = () => local.requests.filter((one) => !/^GET |:(?:getIamPolicy|testIamPermissions)$/.test(one));
  const end = async () => {
    assert.deepEqual(local.faults, []);
    await local.stop();
    rmSync(folder, { recursive: true });
  };
  return { deployment, answers, printed, called, writes, end, folder, secrets };
}

type Stage = Awaited<ReturnType<typeof stage>>;

async function stopped({ deployment }: Stage): Promise<Stop> {
  const error = await deploy(deployment).then(
    () => assert.fail('the deployment did not stop'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Stop, String(error));
  return error;
}

/** Simulates what a person does in the Firebase console, such as choosing the Blaze plan. */
function upgrade({ answers }: Stage): void {
  answers.set(BILLING, { billingEnabled: true, billingAccountName: 'billingAccounts/01A2B3-C4D5E6-F70819' });
  answers.set('billingbudgets.googleapis.com/v1/billingAccounts/01A2B3-C4D5E6-F70819/budgets', {});
}

function openAuthentication({ answers }: Stage): void {
  answers.set(AUTH, { authorizedDomains: ['localhost'] });
}

const CLI = [
  `target:apply database muster ${PROJECT}-default-rtdb`,
  'deploy --only firestore,database',
  'deploy --only functions --force',
];
const LAST = ['deploy --only hosting', `https://${ADDRESS}/mcp`];

describe('npm run deploy', () => {
  let here: Stage;
  afterEach(() => here.end());

  it('sets up a new project completely, except for the steps that only a person can do', async () => {
    here = await stage('fresh');
    const { answers, called, deployment, writes, printed, folder } = here;
    // At this point, a real project would not yet show whether it belongs to an organization.
    const policy = (name: string) =>
      `orgpolicy.googleapis.com/v2/projects/${PROJECT}/policies/${name}:getEffectivePolicy`;
    answers.set(policy('iam.allowedPolicyMemberDomains'), { name: 'p', spec: { rules: [{ allowAll: true }] } });
    const unpaid = await stopped(here);
    assert.match(unpaid.message, /^billing: the project is not on the Blaze plan/);
    assert.deepEqual(unpaid.fix, {
      page: `https://console.firebase.google.com/project/${PROJECT}/usage/details`,
      press: 'Modify plan, Blaze, and choose a billing account',
    });
    assert.deepEqual(writes(), []);
    upgrade(here);
    const closed = await stopped(here);
    assert.match(closed.message, /^authentication: /);
    openAuthentication(here);
    const left = await deploy(deployment);
    const names = left.map(({ name }) => name);
    assert.deepEqual(names, ['Web Push certificate', 'open sign-up', 'budget']);
    assert.deepEqual(called, [...CLI, ...LAST]);
    const parameters = readFileSync(`${folder}/.env.${PROJECT}`, 'utf8');
    assert.match(parameters, /^SERVICE_ACCOUNT=muster@$/m);
    assert.match(parameters, /^WEB_API_KEY=AIzaSyA-made$/m);
    assert.match(parameters, new RegExp(`^PUBLIC_URL=https://${ADDRESS}$`, 'm'));
    assert.ok(printed.includes('  GEMINI_API_KEY: set to the given value'));
    assert.ok(printed.includes('  GITHUB_TOKEN: set to "none", because no value was given'));
    assert.ok(!printed.join().includes('AIza-very-secret'));
  });

  it('excludes sign-in codes from the logs, even if a person has disabled the exclusion', async () => {
    here = await stage('healthy');
    const { answers, deployment, writes } = here;
    const exclusions = `logging.googleapis.com/v2/projects/${PROJECT}/exclusions`;
    const filter = 'httpRequest.requestUrl:"oobCode="';
    const created = { name: 'muster-sign-in-links', filter, disabled: false };
    for (const [before, written] of [
      [{}, `POST ${exclusions}`],
      [{ exclusions: [{ ...created, disabled: true }] }, `PATCH ${exclusions}/muster-sign-in-links`],
    ] as const) {
      answers.set(exclusions, before);
      await deploy(deployment);
      assert.equal(writes().at(-1), written);
      const [kept] = z.object({ exclusions: z.tuple([z.looseObject({})]) }).parse(answers.get(exclusions)).exclusions;
      assert.deepEqual({ ...kept, description: undefined }, { ...created, description: undefined });
    }
  });

  it('creates protected databases in the region of the functions, before other steps need them', async () => {
    here = await stage('organization');
    const { answers, deployment, writes } = here;
    await deploy(deployment);
    const databases = JSON.stringify(answers.get(`firestore.googleapis.com/v1/projects/${PROJECT}/databases`));
    assert.match(databases, /"locationId":"us-central1","deleteProtectionState":"DELETE_PROTECTION_ENABLED"/);
    const at = (pattern: RegExp) => writes().findIndex((one) => pattern.test(one));
    const order = [
      /\/databases$/,
      /\/instances$/,
      /\/serviceAccounts$/,
      /\/secrets$/,
      /\/services\/mcp:setIamPolicy$/,
      /subscriptions/,
    ].map(at);
    assert.ok(order.every((position) => position >= 0));
    const expected = [...order].sort((one, other) => one - other);
    assert.deepEqual(order, expected);
  });

  it('makes the endpoint callable in an organization that forbids public access', async () => {
    here = await stage('organization');
    const { answers, called, deployment, printed } = here;
    const left = await deploy(deployment);
    const names = left.map(({ name }) => name);
    assert.deepEqual(names, ['Web Push certificate', 'open sign-up', 'budget']);
    const services = JSON.stringify(
      answers.get(`run.googleapis.com/v2/projects/${PROJECT}/locations/us-central1/services`),
    );
    assert.equal(services.match(/"invokerIamDisabled":true/g)?.length, 2);
    assert.match(
      printed.join('\n'),
      /mcp: One or more users named in the policy do not belong .* Turning off Cloud Run's check of callers/,
    );
    assert.deepEqual(called, [...CLI, ...LAST]);
    const policy = JSON.stringify(
      answers.get(`cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}:getIamPolicy`),
    );
    assert.match(policy, /builds\.builder","members":\["serviceAccount:415104041262-compute@/);
  });

  it('continues with a project that is partly set up, and keeps settings that others made', async () => {
    here = await stage('half');
    openAuthentication(here);
    const { answers, deployment } = here;
    const left = await deploy(deployment);
    const names = left.map(({ name }) => name);
    assert.deepEqual(names, ['Web Push certificate', 'excess roles', 'open sign-up', 'budget']);
    const databases = JSON.stringify(answers.get(`firestore.googleapis.com/v1/projects/${PROJECT}/databases`));
    assert.match(databases, /"uid":"0b1".*DELETE_PROTECTION_ENABLED/);
    const policy = JSON.stringify(
      answers.get(`cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}:getIamPolicy`),
    );
    assert.match(policy, /"role":"roles\/owner","members":\["user:ada@example.com"\]/);
  });

  it('keeps the conditions of existing role bindings', async () => {
    here = await stage('half');
    openAuthentication(here);
    const { answers, deployment } = here;
    const path = `cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}:getIamPolicy`;
    const stored = z.looseObject({ bindings: z.array(z.unknown()) });
    const before = stored.parse(answers.get(path));
    const eves = {
      role: 'roles/browser',
      members: ['user:eve@example.com'],
      condition: { title: 'until spring', expression: 'request.time < timestamp("2027-03-20T00:00:00Z")' },
    };
    answers.set(path, { ...before, version: 3, bindings: [...before.bindings, eves] });
    await deploy(deployment);
    const { bindings } = stored.parse(answers.get(path));
    assert.ok(bindings.length > before.bindings.length + 1, 'roles were granted');
    assert.deepEqual(bindings[before.bindings.length], eves);
  });

  it('recreates deleted resources of unchanged functions, which the Firebase CLI would skip', async () => {
    here = await stage('healthy');
    const { answers, deployment, folder } = here;
    const declared = await declaredFor(PROJECT, folder);
    answers.set(QUEUES, {});
    const jobs = z.object({ jobs: z.array(z.looseObject({ name: z.string() })) }).parse(answers.get(JOBS));
    answers.set(JOBS, { jobs: jobs.jobs.filter(({ name }) => !name.includes('-sweep-')) });
    const called: string[] = [];
    const firebase = async (args: readonly string[]) => {
      called.push(args.join(' '));
      if (args.some((one) => one.startsWith('functions:'))) deployedFunctions(answers, declared, true);
      return { succeeded: true, output: '' };
    };
    await deploy({ ...deployment, firebase });
    assert.deepEqual(called, [
      ...CLI,
      'deploy --only functions:executeRun,functions:sweep --force',
      'deploy --only hosting',
    ]);
  });

  it('resumes the paused queue and schedule of Muster, but not those of others in the project', async () => {
    here = await stage('healthy');
    const { answers, deployment, writes } = here;
    const pause = (path: string, key: string, other: string) => {
      const paused = JSON.stringify(answers.get(path)).replaceAll(/"(RUNNING|ENABLED)"/g, '"PAUSED"');
      const one = JSON.stringify({ name: `projects/${PROJECT}/locations/us-central1/${other}`, state: 'PAUSED' });
      answers.set(path, JSON.parse(paused.replace(`"${key}":[`, `"${key}":[${one},`)));
    };
    pause(QUEUES, 'queues', 'queues/invoices');
    pause(JOBS, 'jobs', 'jobs/firebase-schedule-invoices-us-central1');
    await deploy({ ...deployment, firebase: async () => ({ succeeded: true, output: '' }) });
    const resumed = writes().filter((one) => one.endsWith(':resume'));
    assert.ok(resumed.some((one) => one.endsWith('/queues/executeRun:resume')));
    assert.ok(resumed.some((one) => one.endsWith('/jobs/firebase-schedule-sweep-us-central1:resume')));
    assert.doesNotMatch(resumed.join(), /invoices/);
  });

  it('links the web app to the default Hosting site, even if other sites and apps exist', async () => {
    here = await stage('healthy');
    const { answers, deployment, writes } = here;
    const sites = `firebasehosting.googleapis.com/v1beta1/projects/${PROJECT}/sites`;
    const apps = `firebase.googleapis.com/v1beta1/projects/${PROJECT}/webApps`;
    const shop = { name: `projects/${PROJECT}/sites/shop`, type: 'USER_SITE', appId: '1:1:web:shop' };
    const ours = { name: `projects/${PROJECT}/sites/${PROJECT}`, type: 'DEFAULT_SITE' };
    answers.set(sites, { sites: [shop, ours] });
    answers.set(apps, {
      apps: [
        { appId: '1:1:web:shop', displayName: 'Shop' },
        { appId: '1:1:web:muster', displayName: 'Muster console' },
      ],
    });
    await deploy(deployment);
    assert.equal(writes()[0], `PATCH ${sites}/${PROJECT}`);
    assert.deepEqual(answers.get(sites), { sites: [shop, { ...ours, appId: '1:1:web:muster' }] });
  });

  it('stops before it changes anything if the deployer lacks a permission', async () => {
    here = await stage('fresh');
    upgrade(here);
    const path = `cloudresourcemanager.googleapis.com/v1/projects/${PROJECT}:testIamPermissions`;
    const { permissions } = z.object({ permissions: z.array(z.string()) }).parse(here.answers.get(path));
    const lacking = ['cloudtasks.queues.create', 'cloudscheduler.jobs.create', 'pubsub.topics.setIamPolicy'];
    here.answers.set(path, { permissions: permissions.filter((one) => !lacking.includes(one)) });
    const { message, fix } = await stopped(here);
    for (const one of lacking) assert.ok(message.includes(one), message);
    assert.match(
      JSON.stringify(fix),
      /roles\/cloudscheduler\.admin roles\/cloudtasks\.queueAdmin roles\/pubsub\.admin/,
    );
    assert.deepEqual(here.writes(), []);
  });

  it('never moves a database that exists in another region', async () => {
    here = await stage('forgotten');
    const { fix, message } = await stopped(here);
    assert.match(message, /^Firestore location: Firestore is in nam5, but the location in firebase\.json is/);
    assert.match(JSON.stringify(fix), /if the database is empty, delete the database there/);
    assert.deepEqual(here.writes(), []);
    assert.deepEqual(here.called, []);
  });

  it('deploys only the code if everything else is up to date', async () => {
    here = await stage('healthy');
    const { called, deployment, printed, writes } = here;
    // The simulated CLI of other tests would rebuild indexes and delete dead letters. This one changes nothing.
    const left = await deploy({
      ...deployment,
      firebase: async (args) => ({ succeeded: called.push(args.join(' ')) > 0, output: '' }),
    });
    assert.deepEqual(left, []);
    assert.deepEqual(writes(), []);
    assert.deepEqual(called, [...CLI, ...LAST]);
    assert.ok(printed.includes('unchanged: secrets'));
  });

  it('grants the needed roles, and leaves roles of earlier versions for a person to remove', async () => {
    here = await stage('healthy');
    const { answers, deployment } = here;
    const project = `cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}:getIamPolicy`;
    const member = `serviceAccount:muster@${PROJECT}.iam.gserviceaccount.com`;
    const before = JSON.stringify(answers.get(project)).replace(
      '{"role":"roles/firebaseauth.viewer"',
      `{"role":"roles/run.invoker","members":["${member}"]},{"role":"roles/firebaseauth.admin"`,
    );
    answers.set(project, JSON.parse(before));
    const services = [...answers.keys()].filter((path) => /^run\..*:getIamPolicy$/.test(path));
    for (const path of services)
      if (!JSON.stringify(answers.get(path)).includes('allUsers')) answers.set(path, { etag: 'ACAB' });
    const excess = async () => {
      const { findings } = await diagnose(deployment.google, await deployment.declare());
      const finding = findings.find(({ name }) => name === 'excess roles');
      return finding !== undefined && finding.state !== 'ok' ? JSON.stringify(finding.fix) : '';
    };
    assert.match(await excess(), /npm run deploy/, 'removing roles first would break the functions');
    const firebase: Deployment['firebase'] = async () => ({ succeeded: true, output: '' });
    const left = await deploy({ ...deployment, firebase });
    const names = left.map(({ name }) => name);
    assert.deepEqual(names, ['excess roles']);
    assert.match(
      await excess(),
      /for role in roles\/run\.invoker roles\/firebaseauth\.admin; do gcloud projects remove-iam-policy-binding/,
    );
    assert.equal(
      services.filter((path) => JSON.stringify(answers.get(path)).includes(member)).length,
      services.length - 2,
    );
  });

  it('stops if the code no longer declares a deployed function, because Firebase would delete it', async () => {
    here = await stage('healthy');
    const path = `cloudfunctions.googleapis.com/v2/projects/${PROJECT}/locations/-/functions`;
    const former = `{"name":"projects/${PROJECT}/locations/us-central1/functions/resumeRun","state":"ACTIVE"}`;
    here.answers.set(path, JSON.parse(JSON.stringify(here.answers.get(path)).replace('[', `[${former},`)));
    const { fix } = await stopped(here);
    assert.match(JSON.stringify(fix), /functions:delete resumeRun --region us-central1/);
    assert.deepEqual(here.called, CLI.slice(0, 2));
  });

  it('stops if the Firebase CLI fails, unless only the invoker permission could not be set', async () => {
    here = await stage('organization');
    const output = INVOKERS_REFUSED.replace('\tmcp', '\tsweep(us-central1)\n\tmcp');
    const firebase: Deployment['firebase'] = async (args) => {
      const ran = await here.deployment.firebase(args);
      return args.includes('functions') ? { succeeded: false, output } : ran;
    };
    const error = await deploy({ ...here.deployment, firebase }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Stop);
    assert.match(error.message, /^Cannot deploy the functions/);
  });

  it('prints the planned steps in a dry run and changes nothing', async () => {
    here = await stage('half');
    await plan(here.deployment);
    assert.deepEqual(here.writes(), []);
    assert.deepEqual(here.called, []);
    assert.ok(here.printed.includes('unchanged: Firestore'));
    assert.ok(here.printed.includes('would change: secrets'));
    assert.ok(here.printed.includes('would change: functions'));
  });
});

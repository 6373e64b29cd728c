/** Each fault is added to the recording of a healthy project. The doctor finds only that fault and names its fix. */
import assert from 'node:assert/strict';
import { readModels } from '../../../functions/src/toolsets/orchestration/rules/agents/modelFile.ts';
import { CHECKS } from '../../../scripts/doctor/diagnose.ts';
import { isHealthy } from '../../../scripts/doctor/report.ts';
import type { DeclaredModels } from '../../../scripts/models/file.ts';
import { NUMBER, PROJECT, REALTIME_RULES, RELEASES, type Recording, RULESET } from '../../support/google/answers.ts';
import { googleError } from '../../support/google/server.ts';
import { diagnosed, mendOf, namesOf } from './diagnosed.ts';

const ACCOUNT = `muster@${PROJECT}.iam.gserviceaccount.com`;
const HERE = `projects/${PROJECT}/locations/us-central1`;
const FIRESTORE = `firestore.googleapis.com/v1/projects/${PROJECT}/databases`;
const DEPLOY = /^npm run deploy -- --project muster-team$/;

interface Planted {
  readonly plant: (recording: Recording) => Recording | undefined;
  /** If absent, a deploy is the fix. */
  readonly fix?: RegExp;
  readonly state?: 'problem' | 'warning';
  /** Names of the checks that cannot run because of the fault. */
  readonly unseen?: readonly string[];
}

/** Returns a fault because of which only this check fails. */
const fault = (check: string, what: string, planted: Planted) => ({ check, what, ...planted });

/** Replaces matching text in the recorded response at a path, so that the rest of the response stays unchanged. */
function edit(path: string, from: string | RegExp, to: string) {
  return ({ answers }: Recording): undefined => {
    const before = JSON.stringify(answers.get(path));
    const after = before?.replace(from, to);
    assert.notEqual(after, before, `nothing to plant at ${path}`);
    answers.set(path, JSON.parse(after ?? ''));
  };
}

/** Returns a function that belongs to another application in the project, and has neither limits nor a database. */
function namesFor(region: string, id: string, codebase: string) {
  const name = `projects/${PROJECT}/locations/${region}/functions/${id}`;
  const labels = { 'firebase-functions-codebase': codebase };
  const serviceConfig = {
    maxInstanceCount: 3,
    environmentVariables: { FIREBASE_CONFIG: `{"projectId":"${PROJECT}"}` },
  };
  const one = JSON.stringify({ name, state: 'ACTIVE', labels, serviceConfig });
  return (recording: Recording) => edit(functions, '"functions":[', `"functions":[${one},`)(recording);
}

const RESTRICTED = '{"values":{"allowedValues":["is:C03g5e3bc"]}}';

function without(path: string) {
  return ({ answers }: Recording): undefined => void assert.ok(answers.delete(path), `nothing at ${path}`);
}

/** Removes the entries whose text matches from a list in a recorded response. */
function drop(path: string, key: string, matching: RegExp) {
  return ({ answers }: Recording): undefined => {
    const answer: unknown = answers.get(path);
    assert.ok(typeof answer === 'object' && answer !== null);
    const items: unknown = Reflect.get(answer, key);
    assert.ok(Array.isArray(items));
    const left = items.filter((item) => !matching.test(JSON.stringify(item)));
    assert.ok(left.length < items.length, `nothing to drop at ${path}`);
    answers.set(path, { ...answer, [key]: left });
  };
}

function parameter(name: string, value: string) {
  return (recording: Recording): Recording => {
    const { declared } = recording;
    return { ...recording, declared: { ...declared, parameters: { ...declared.parameters, [name]: value } } };
  };
}

/** Declares hosted agents. */
function models(declared: DeclaredModels) {
  return (recording: Recording): Recording => ({ ...recording, declared: { ...recording.declared, models: declared } });
}

const onVertex = readModels({
  providers: { vertex: { api: 'vertex' } },
  agents: { claude: { provider: 'vertex', model: 'claude-x', price: { input: 1, output: 1 } } },
});

/** Sets a parameter in the project's file and in the deployed functions. The two values agree, but are wrong. */
function deployedParameter(name: string, value: string) {
  return (recording: Recording): Recording => {
    edit(functions, new RegExp(`"${name}":"[^"]*"`, 'g'), `"${name}":"${value}"`)(recording);
    return parameter(name, value)(recording);
  };
}

const functions = `cloudfunctions.googleapis.com/v2/projects/${PROJECT}/locations/-/functions`;
const policy = `cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}:getIamPolicy`;
const services = `serviceusage.googleapis.com/v1/projects/${NUMBER}/services`;
const itself = `iam.googleapis.com/v1/projects/${PROJECT}/serviceAccounts/${ACCOUNT}`;
const pubSub = `pubsub.googleapis.com/v1/projects/${PROJECT}`;
const sites = `firebasehosting.googleapis.com/v1beta1/projects/${PROJECT}/sites`;
const permissions = `cloudresourcemanager.googleapis.com/v1/projects/${PROJECT}:testIamPermissions`;
const builder = `cloudbuild.googleapis.com/v1/${HERE}/defaultServiceAccount`;
const memberDomains = `orgpolicy.googleapis.com/v2/projects/${PROJECT}/policies/iam.allowedPolicyMemberDomains:getEffectivePolicy`;
const auth = `identitytoolkit.googleapis.com/v2/projects/${PROJECT}/config`;
const exclusions = `logging.googleapis.com/v2/projects/${PROJECT}/exclusions`;
const realtime = `firebasedatabase.googleapis.com/v1beta/projects/${PROJECT}/locations/-/instances`;
const secret = (name: string) => `secretmanager.googleapis.com/v1/projects/${PROJECT}/secrets/${name}`;

const OF_FIRESTORE = [
  'Firestore mode',
  'Firestore location',
  'delete protection',
  'point-in-time recovery',
  'backup schedule',
];

const FAULTS = [
  fault('project', 'the project is scheduled for deletion', {
    plant: edit(`cloudresourcemanager.googleapis.com/v3/projects/${PROJECT}`, '"ACTIVE"', '"DELETE_REQUESTED"'),
    fix: /^gcloud projects undelete muster-team$/,
  }),
  fault('firebase', 'Firebase was never added', {
    plant: without(`firebase.googleapis.com/v1beta1/projects/${PROJECT}`),
    fix: /^npx firebase projects:addfirebase muster-team/,
  }),
  fault('billing', 'the project is back on the Spark plan', {
    plant: edit(
      `cloudbilling.googleapis.com/v1/projects/${PROJECT}/billingInfo`,
      '"billingEnabled":true',
      '"billingEnabled":false',
    ),
    fix: /project\/muster-team\/usage\/details Modify plan, Blaze/,
  }),
  fault('APIs', 'iamcredentials is disabled', {
    plant: drop(services, 'services', /iamcredentials/),
    fix: /^gcloud services enable iamcredentials\.googleapis\.com --project muster-team$/,
  }),
  fault('APIs', 'identitytoolkit is disabled', {
    plant: drop(services, 'services', /identitytoolkit/),
    fix: /^gcloud services enable identitytoolkit\.googleapis\.com --project muster-team$/,
    unseen: ['authentication', 'authorized domains', 'open sign-up'],
  }),
  fault('hosting site', 'the site is not linked to a web app', { plant: edit(sites, /,"appId":"[^"]*"/, '') }),
  fault('hosting site', 'the web app is linked to a site other than the default', {
    plant: edit(
      sites,
      /,"appId":"([^"]*)"(.*?)\}/,
      `$2},{"name":"projects/${PROJECT}/sites/shop","type":"USER_SITE","appId":"$1"}`,
    ),
  }),
  fault('Web Push certificate', 'no key is set', {
    plant: deployedParameter('WEB_PUSH_KEY', ''),
    state: 'warning',
    fix: /muster-team\/settings\/\w+ Web Push certificates, Generate key pair\..* functions\/\.env\.muster-team as WEB_PUSH_KEY=/,
  }),
  ...Object.entries({
    'the private key is set': Buffer.alloc(32, 4).toString('base64url'),
    'the key is a compressed point': Buffer.alloc(65, 2).toString('base64url'),
    'the key is truncated': Buffer.alloc(64, 4).toString('base64url'),
  }).map(([what, key]) =>
    fault('Web Push certificate', what, { plant: deployedParameter('WEB_PUSH_KEY', key), fix: /Generate key pair/ }),
  ),
  fault('permissions to deploy', 'the caller has only read access', {
    plant: drop(permissions, 'permissions', /create|update|set|delete|enable|actAs|add/i),
    state: 'warning',
    fix: /^for role in .*roles\/cloudscheduler\.admin .*roles\/pubsub\.admin .*; do gcloud projects add-iam-policy-binding muster-team /,
  }),
  fault('Firestore', 'only an unused database exists', {
    plant: edit(FIRESTORE, 'databases/(default)', 'databases/other'),
    fix: /^gcloud firestore databases create --database='\(default\)' --location=us-central1 .*--delete-protection --enable-pitr/,
    unseen: OF_FIRESTORE,
  }),
  fault('Firestore mode', 'the database is in Datastore mode', {
    plant: edit(FIRESTORE, 'FIRESTORE_NATIVE', 'DATASTORE_MODE'),
    fix: /^gcloud firestore databases update --database='\(default\)' --type=firestore-native/,
  }),
  fault('Firestore location', 'the database is in nam5', {
    plant: edit(FIRESTORE, '"us-central1"', '"nam5"'),
    fix: /console\.firebase\.google\.com\/project\/muster-team\/firestore if the database is empty/,
  }),
  fault('Firestore location', 'the database is on another continent than the functions', {
    plant: edit(FIRESTORE, '"us-central1"', '"europe-west1"'),
    fix: /^echo 'REGION=europe-west1' >> functions\/\.env\.muster-team && npm run deploy/,
  }),
  fault('delete protection', 'delete protection is off', {
    plant: edit(FIRESTORE, 'DELETE_PROTECTION_ENABLED', 'DELETE_PROTECTION_DISABLED'),
    fix: /^gcloud firestore databases update --database='\(default\)' --delete-protection --project muster-team$/,
  }),
  fault('point-in-time recovery', 'earlier versions are not kept', {
    plant: edit(FIRESTORE, 'POINT_IN_TIME_RECOVERY_ENABLED', 'POINT_IN_TIME_RECOVERY_DISABLED'),
    fix: /^gcloud firestore databases update --database='\(default\)' --enable-pitr --project muster-team$/,
  }),
  fault('backup schedule', 'no backups are scheduled', {
    plant: ({ answers }) => void answers.set(`${FIRESTORE}/(default)/backupSchedules`, {}),
    fix: /^gcloud firestore backups schedules create --database='\(default\)' --recurrence=daily/,
  }),
  fault('Realtime Database', 'no instance exists', {
    plant: ({ answers }) => void answers.set(realtime, {}),
    unseen: ['Realtime Database location', 'database URL', 'rules of the Realtime Database'],
  }),
  fault('Realtime Database', 'the instance is disabled', {
    plant: edit(realtime, '"ACTIVE"', '"DISABLED"'),
    fix: /project\/muster-team\/database in the database's menu, Enable/,
  }),
  fault('Realtime Database location', 'the instance is far from the functions and Firestore, none of which can move', {
    plant: edit(realtime, 'us-central1', 'asia-southeast1'),
    state: 'warning',
    fix: /create another project and deploy there/,
  }),
  fault('database URL', 'functions were deployed before the Realtime Database existed', {
    plant: edit(functions, /,\\"databaseURL\\":\\"[^"]*\\"/, ''),
  }),
  fault('service account', 'the account is disabled', {
    plant: edit(itself, '"email"', '"disabled":true,"email"'),
    fix: /^gcloud iam service-accounts enable muster@muster-team\.iam\.gserviceaccount\.com/,
  }),
  fault('service account', 'the account was deleted', {
    plant: without(itself),
    fix: /^gcloud iam service-accounts create muster --display-name=Muster --project muster-team$/,
    unseen: ['roles', 'excess roles'],
  }),
  fault('roles', 'the account cannot add tasks to the queue of runs', {
    plant: drop(policy, 'bindings', /cloudtasks\.enqueuer/),
    fix: /^gcloud projects add-iam-policy-binding muster-team .*--member=serviceAccount:muster@.* --role=roles\/cloudtasks\.enqueuer$/,
  }),
  fault('excess roles', 'the account is Editor', {
    plant: edit(
      policy,
      '{"role":"roles/owner"',
      `{"role":"roles/editor","members":["serviceAccount:${ACCOUNT}"]},{"role":"roles/owner"`,
    ),
    fix: /^gcloud projects remove-iam-policy-binding muster-team .* --role=roles\/editor$/,
  }),
  fault('excess roles', 'the account keeps roles of earlier versions to call all services and change accounts', {
    plant: edit(
      policy,
      '{"role":"roles/owner"',
      `{"role":"roles/firebaseauth.admin","members":["serviceAccount:${ACCOUNT}"]},{"role":"roles/run.invoker","members":["serviceAccount:${ACCOUNT}"]},{"role":"roles/owner"`,
    ),
    fix: /^for role in roles\/firebaseauth\.admin roles\/run\.invoker; do gcloud projects remove-iam-policy-binding muster-team .*--role=\$role; done$/,
  }),
  fault('calls by Google', 'one schedule may not start its function', {
    plant: ({ answers }) =>
      void answers.set(`run.googleapis.com/v2/${HERE}/services/sweep:getIamPolicy`, { etag: 'ACAB' }),
    fix: /^for service in sweep; do gcloud run services add-iam-policy-binding \$service --region=us-central1 --project=muster-team --member=serviceAccount:muster@\S+ --role=roles\/run\.invoker; done$/,
  }),
  fault('token creator', 'the account cannot sign tokens', {
    plant: drop(`${itself}:getIamPolicy`, 'bindings', /serviceAccountTokenCreator/),
    fix: /^gcloud iam service-accounts add-iam-policy-binding .*--role=roles\/iam\.serviceAccountTokenCreator/,
  }),
  fault('acting as itself', 'the account cannot act as itself', {
    plant: drop(`${itself}:getIamPolicy`, 'bindings', /serviceAccountUser/),
    fix: /^gcloud iam service-accounts add-iam-policy-binding .*--role=roles\/iam\.serviceAccountUser/,
  }),
  fault('builds', 'the build account has no role', {
    plant: drop(policy, 'bindings', /builds\.builder/),
    fix: /^gcloud projects add-iam-policy-binding .*415104041262-compute@.* --role=roles\/cloudbuild\.builds\.builder$/,
  }),
  fault('invoker', 'no one may call the endpoint', {
    plant: ({ answers }) =>
      void answers.set(`run.googleapis.com/v2/${HERE}/services/mcp:getIamPolicy`, { etag: 'ACAB' }),
    fix: /^gcloud run services update mcp --no-invoker-iam-check --region=us-central1 --project=muster-team$/,
  }),
  fault('secrets', 'one has no enabled version', {
    plant: ({ answers }) => void answers.set(`${secret('GEMINI_API_KEY')}/versions`, {}),
    fix: /^printf none \| npx firebase functions:secrets:set GEMINI_API_KEY --data-file - /,
  }),
  fault('access to secrets', 'the functions cannot read one', {
    plant: ({ answers }) => void answers.set(`${secret('GITHUB_TOKEN')}:getIamPolicy`, { etag: 'ACAB' }),
    fix: /^gcloud secrets add-iam-policy-binding GITHUB_TOKEN .*--role=roles\/secretmanager\.secretAccessor/,
  }),
  fault('indexes', 'one is missing', {
    plant: drop(`${FIRESTORE}/(default)/collectionGroups/-/indexes`, 'indexes', /CICAgN7"/),
    fix: /^npx firebase deploy --only firestore:indexes --non-interactive --project muster-team$/,
  }),
  fault('indexes', 'one is being built', {
    plant: edit(`${FIRESTORE}/(default)/collectionGroups/-/indexes`, '"READY"', '"CREATING"'),
    fix: /^gcloud firestore indexes composite list .*--filter=state=CREATING/,
  }),
  fault('indexes', 'one is broken, and a deployment does not repair it', {
    plant: edit(`${FIRESTORE}/(default)/collectionGroups/-/indexes`, '"READY"', '"NEEDS_REPAIR"'),
    fix: /^gcloud firestore indexes composite delete CICAgN\d+ --database='\(default\)' --quiet .* && npx firebase deploy --only firestore:indexes/,
  }),
  fault('index exemptions', 'a field is indexed like its collection', {
    plant: edit(
      `${FIRESTORE}/(default)/collectionGroups/-/fields`,
      '"ancestorField"',
      '"usesAncestorConfig":true,"ancestorField"',
    ),
    fix: /^npx firebase deploy --only firestore:indexes/,
  }),
  fault('expiry', 'a TTL policy is broken', {
    plant: edit(`${FIRESTORE}/(default)/collectionGroups/-/fields`, '{"state":"ACTIVE"}', '{"state":"NEEDS_REPAIR"}'),
    fix: /^gcloud firestore fields ttls update \w+ --collection-group=\w+ --enable-ttl --database='\(default\)'/,
  }),
  fault('expiry', 'a TTL policy is missing', {
    plant: edit(`${FIRESTORE}/(default)/collectionGroups/-/fields`, ',"ttlConfig":{"state":"ACTIVE"}', ''),
    fix: /^npx firebase deploy --only firestore:indexes/,
  }),
  fault('rules of Firestore', 'the rules were opened by hand', {
    plant: edit(RULESET, 'rules_version', '// for a moment only\\nrules_version'),
  }),
  fault('rules of the Realtime Database', 'the rules were opened by hand', {
    plant: edit(REALTIME_RULES, '".read":false', '".read":true'),
  }),
  fault('functions', 'one has failed', { plant: edit(functions, /"state":"ACTIVE"/, '"state":"FAILED"') }),
  fault('functions of previous versions', 'one is left over', {
    plant: edit(
      functions,
      '"functions":[',
      `"functions":[{"name":"${HERE}/functions/resumeRun","state":"ACTIVE","labels":{"firebase-functions-codebase":"default"}},`,
    ),
    fix: /^npx firebase functions:delete resumeRun --region us-central1 --force --non-interactive/,
  }),
  fault("functions' account", 'one runs as the default account', {
    plant: edit(functions, ACCOUNT, `${NUMBER}-compute@developer.gserviceaccount.com`),
  }),
  fault('runtime', 'one runs on an old Node version', { plant: edit(functions, 'nodejs22', 'nodejs20') }),
  fault('parameters', 'one was changed and not deployed', { plant: parameter('RATE_LIMIT_BURST', '50') }),
  fault('task queue', 'the queue is paused', {
    plant: edit(`cloudtasks.googleapis.com/v2/${HERE}/queues`, 'RUNNING', 'PAUSED'),
    fix: /^gcloud tasks queues resume executeRun --location=us-central1 --project muster-team$/,
  }),
  fault('task queue', 'the queue was deleted', {
    plant: ({ answers }) => void answers.set(`cloudtasks.googleapis.com/v2/${HERE}/queues`, {}),
  }),
  fault('schedules', 'the sweep is paused', {
    plant: edit(
      `cloudscheduler.googleapis.com/v1/${HERE}/jobs`,
      /(schedule-sweep-us-central1".*?)"ENABLED"/,
      '$1"PAUSED"',
    ),
    fix: /^gcloud scheduler jobs resume firebase-schedule-sweep-us-central1 --location=us-central1/,
  }),
  fault('cleanup policy', 'images are never deleted', {
    plant: edit(
      `artifactregistry.googleapis.com/v1/${HERE}/repositories/gcf-artifacts`,
      /,"cleanupPolicies":.*\}\}\}\}/,
      '}',
    ),
    fix: /^npx firebase functions:artifacts:setpolicy --location us-central1 --days 1/,
  }),
  fault('topics', 'one was deleted', { plant: drop(`${pubSub}/topics`, 'topics', /reminders/) }),
  fault('dead letters', 'a subscription has no dead-letter policy', {
    plant: edit(`${pubSub}/subscriptions`, /,"deadLetterPolicy":\{[^}]*\}/, ''),
    fix: /^gcloud pubsub subscriptions update eventarc-\S+ --dead-letter-topic=dead-letters --max-delivery-attempts=20/,
  }),
  fault('permissions for dead letters', 'Pub/Sub may not forward dead letters', {
    plant: ({ answers }) => void answers.set(`${pubSub}/topics/dead-letters:getIamPolicy`, { etag: 'ACAB' }),
    fix: /^gcloud pubsub topics add-iam-policy-binding dead-letters --member=serviceAccount:service-415104041262@gcp-sa-pubsub/,
  }),
  fault('authentication', 'Authentication was never opened', {
    plant: without(auth),
    fix: /project\/muster-team\/authentication Get started$/,
    unseen: ['authorized domains', 'open sign-up'],
  }),
  fault('public address', 'no key exists', {
    plant: deployedParameter('PUBLIC_URL', ''),
    fix: /^echo 'PUBLIC_URL=https:\/\/mcp-415104041262\.us-central1\.run\.app' >> functions\/\.env\.muster-team/,
    unseen: ['authorized domains'],
  }),
  fault('authorized domains', 'the public address is missing', {
    plant: edit(auth, /,"mcp-[^"]*"/, ''),
    fix: /authentication\/settings Authorized domains, Add domain: mcp-415104041262\.us-central1\.run\.app/,
  }),
  fault('authorized domains', "the function's own address, whose page also sends links, is missing", {
    plant: edit(auth, /,"us-central1-[^"]*"/, ''),
    fix: /Add domain: us-central1-muster-team\.cloudfunctions\.net/,
  }),
  fault('authorized domains', 'the console is missing', {
    plant: edit(auth, /,"muster-team\.web\.app"/, ''),
    fix: /Add domain: muster-team\.web\.app/,
  }),
  fault('sign-in links in logs', 'no exclusion exists', { plant: ({ answers }) => void answers.set(exclusions, {}) }),
  fault('sign-in links in logs', 'the exclusion is disabled', {
    plant: edit(exclusions, '"name"', '"disabled":true,"name"'),
  }),
  fault('sign-in links in logs', 'the exclusion is narrower', { plant: edit(exclusions, 'oobCode=', 'oobCode=1') }),
  fault('open sign-up', 'anyone can create an account', {
    plant: edit(auth, '"disabledUserSignup":true', '"disabledUserSignup":false'),
    state: 'warning',
    fix: /authentication\/settings Upgrade to Identity Platform\. Then open User actions, clear "Enable create \(sign-up\)",.* npm run people -- create --mail/,
  }),
  fault('open sign-up', 'sign-up was never decided', {
    plant: edit(auth, '"client":{"permissions":{"disabledUserSignup":true}},', ''),
    state: 'warning',
    fix: /User actions/,
  }),
  fault('web API key', 'no budget exists', { plant: deployedParameter('WEB_API_KEY', '') }),
  fault('models', 'the file is invalid', {
    plant: models({ file: 'models.json', faults: 'models.json is invalid:\n  agents: expected 1 to 20 agents' }),
    fix: /correct functions\/models\.json/,
  }),
  fault('prices of models', 'an agent has no price', {
    plant: models({
      file: 'models.json',
      models: {
        ...onVertex,
        providers: {},
        agents: { ...onVertex.agents, free: { ...onVertex.agents['claude']!, price: undefined } },
      },
    }),
    state: 'warning',
    fix: /add "price" to functions\/models\.json/,
  }),
  fault('APIs', 'the API of Vertex AI is disabled, but models.json uses it', {
    plant: (recording) => {
      const [from, to] = ['$1roles/cloudtasks.enqueuer$2', '$1roles/aiplatform.user$2'];
      edit(policy, /(\{"role":")roles\/cloudtasks\.enqueuer("[^}]*\})/, `${from},${to}`)(recording);
      return models({ file: 'models.json', models: onVertex })(recording);
    },
    fix: /^gcloud services enable aiplatform\.googleapis\.com/,
  }),
  fault('budget', 'budgets have no alerts', {
    plant: edit(`billingbudgets.googleapis.com/v1/billingAccounts/01A2B3-C4D5E6-F70819/budgets`, NUMBER, '999'),
    fix: /^gcloud billing budgets create --billing-account=01A2B3-C4D5E6-F70819 /,
  }),
  fault('maximum instances', 'no limit is set', {
    plant: deployedParameter('MAX_INSTANCES', '0'),
    fix: /^echo 'MAX_INSTANCES=100' >>/,
  }),
  fault('maximum instances', 'the endpoint is deployed with another limit', {
    plant: edit(functions, /(functions\/mcp".*?"maxInstanceCount":)100/, '$13000'),
  }),
];

describe('fault in a healthy project', () => {
  for (const { check, what, plant, fix = DEPLOY, state = 'problem', unseen = [] } of FAULTS)
    it(`is found by the check "${check}": ${what}`, async () => {
      const findings = await diagnosed('healthy', plant);
      assert.deepEqual(namesOf(findings, state), [check]);
      assert.deepEqual(namesOf(findings, state === 'problem' ? 'warning' : 'problem'), []);
      assert.equal(isHealthy(findings), state === 'warning' && unseen.length === 0);
      assert.deepEqual(namesOf(findings, 'unseen'), unseen);
      assert.match(mendOf(findings, check), fix);
    });

  it('is reported twice if an organization forbids public callers and the endpoint allows none', async () => {
    const findings = await diagnosed('healthy', (recording) => {
      edit(memberDomains, '{"allowAll":true}', RESTRICTED)(recording);
      recording.answers.set(`run.googleapis.com/v2/${HERE}/services/mcp:getIamPolicy`, { etag: 'ACAB' });
    });
    assert.deepEqual(namesOf(findings, 'problem'), ['public callers', 'invoker']);
    for (const name of ['public callers', 'invoker'])
      assert.match(mendOf(findings, name), /^gcloud run services update mcp --no-invoker-iam-check --region=/);
  });

  it('is tested for each check of the doctor', () => {
    const planted = new Set([...FAULTS.map(({ check }) => check), 'public callers']);
    assert.deepEqual([...new Set(CHECKS.map(({ name }) => name))].sort(), [...planted].sort());
  });

  it('is reported as "unseen", not as healthy, if the doctor lacks the permission to inspect it', async () => {
    const denied = googleError(403, 'PERMISSION_DENIED', "Permission 'datastore.databases.list' denied.");
    const findings = await diagnosed('healthy', ({ answers }) => void answers.set(FIRESTORE, denied));
    assert.deepEqual(namesOf(findings, 'problem'), []);
    assert.deepEqual(namesOf(findings, 'unseen'), ['Firestore', ...OF_FIRESTORE]);
    assert.match(mendOf(findings, 'Firestore'), /^gcloud projects add-iam-policy-binding .*--role=roles\/viewer$/);
  });
});

/** Situations that are not faults, for example resources of other applications in the same project. */
const HARMLESS: readonly { readonly what: string; readonly plant: Planted['plant'] }[] = [
  {
    what: 'a public key of a Web Push certificate with padding',
    plant: deployedParameter('WEB_PUSH_KEY', `${Buffer.alloc(65, 4).toString('base64url')}=`),
  },
  {
    what: 'an organization that started to refuse allUsers after access was opened',
    plant: edit(memberDomains, '{"allowAll":true}', RESTRICTED),
  },
  {
    what: 'an organization whose policy has an exemption',
    plant: edit(memberDomains, '{"allowAll":true}', `${RESTRICTED},{"allowAll":true}`),
  },
  {
    what: 'an organization that refuses allUsers while Cloud Run does not check callers',
    plant: (recording) => {
      edit(memberDomains, '{"allowAll":true}', RESTRICTED)(recording);
      for (const name of ['mcp', 'githubwebhook']) {
        recording.answers.set(`run.googleapis.com/v2/${HERE}/services/${name}:getIamPolicy`, { etag: 'A' });
        edit(
          `run.googleapis.com/v2/${HERE}/services`,
          `services/${name}"`,
          `services/${name}","invokerIamDisabled":true`,
        )(recording);
      }
    },
  },
  {
    what: 'an older project that builds as the Cloud Build account',
    plant: (recording) => {
      edit(builder, `${NUMBER}-compute@developer`, `${NUMBER}@cloudbuild`)(recording);
      edit(policy, `${NUMBER}-compute@developer`, `${NUMBER}@cloudbuild`)(recording);
    },
  },
  {
    what: 'a function of another codebase that was deployed before the Realtime Database existed',
    plant: namesFor('us-central1', 'sendInvoice', 'shop'),
  },
  { what: 'a function mcp of another codebase', plant: namesFor('us-central1', 'mcp', 'shop') },
  { what: 'a function mcp of another codebase in another region', plant: namesFor('europe-west1', 'mcp', 'shop') },
  {
    what: 'an unlinked second Hosting site before ours',
    plant: edit(sites, '"sites":[', `"sites":[{"name":"projects/${PROJECT}/sites/a","type":"USER_SITE"},`),
  },
  {
    what: 'another paused queue',
    plant: edit(
      `cloudtasks.googleapis.com/v2/${HERE}/queues`,
      '"queues":[',
      `"queues":[{"name":"${HERE}/queues/invoices","state":"PAUSED"},`,
    ),
  },
  {
    what: 'another paused schedule',
    plant: edit(
      `cloudscheduler.googleapis.com/v1/${HERE}/jobs`,
      '"jobs":[',
      `"jobs":[{"name":"${HERE}/jobs/firebase-schedule-invoices-us-central1","state":"PAUSED"},`,
    ),
  },
  {
    what: 'another subscription to our topic without a dead-letter policy',
    plant: edit(
      `${pubSub}/subscriptions`,
      '"subscriptions":[',
      `"subscriptions":[{"name":"projects/${PROJECT}/subscriptions/archive","topic":"projects/${PROJECT}/topics/task-events"},`,
    ),
  },
  {
    what: 'rules of other databases and of files',
    plant: edit(
      RELEASES,
      '"releases":[',
      `"releases":[{"name":"projects/${PROJECT}/releases/cloud.firestore/shop","rulesetName":"projects/${PROJECT}/rulesets/1"},{"name":"projects/${PROJECT}/releases/cloud.firestore","rulesetName":"projects/${PROJECT}/rulesets/2"},{"name":"projects/${PROJECT}/releases/firebase.storage/b","rulesetName":"projects/${PROJECT}/rulesets/3"},`,
    ),
  },
  { what: 'rules with other line endings', plant: edit(RULESET, /\\n/g, '\\r\\n') },
];

describe('harmless situation in a project', () => {
  for (const { what, plant } of HARMLESS)
    it(`is not reported: ${what}`, async () => {
      const findings = await diagnosed('healthy', plant);
      const reported = findings.filter(({ state }) => state !== 'ok');
      assert.deepEqual(reported, []);
    });
});

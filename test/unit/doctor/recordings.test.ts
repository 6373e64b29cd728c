/** Findings of the doctor for five projects, whose Google API responses were recorded. */
import assert from 'node:assert/strict';
import { diagnosed, mendOf, namesOf } from './diagnosed.ts';

describe('findings of npm run doctor', () => {
  it('include no problem if the project is healthy', async () => {
    const findings = await diagnosed('healthy');
    const problems = findings.filter(({ state }) => state !== 'ok');
    assert.deepEqual(problems, []);
    assert.ok(findings.length >= 38);
  });

  it('start with billing in a new project, followed by the services to enable', async () => {
    const findings = await diagnosed('fresh');
    assert.deepEqual(namesOf(findings, 'problem'), [
      'billing',
      'APIs',
      'hosting site',
      'service account',
      'public address',
      'sign-in links in logs',
      'web API key',
    ]);
    assert.deepEqual(namesOf(findings, 'ok'), [
      'project',
      'firebase',
      'permissions to deploy',
      'models',
      'prices of models',
    ]);
    assert.match(mendOf(findings, 'billing'), /usage\/details Modify plan, Blaze/);
    const enabling = mendOf(findings, 'APIs');
    assert.match(enabling, /^gcloud services enable /);
    for (const api of ['iamcredentials', 'identitytoolkit', 'firestore', 'cloudbuild', 'eventarc', 'cloudtasks'])
      assert.match(enabling, new RegExp(` ${api}.googleapis.com `));
    assert.doesNotMatch(enabling, /fcm|firebaserules/, 'enabled APIs are not named');
    assert.equal(
      mendOf(findings, 'Firestore'),
      'gcloud services enable firestore.googleapis.com --project muster-team',
    );
  });

  it('include each organization policy that blocks a step', async () => {
    const findings = await diagnosed('organization');
    const problems = namesOf(findings, 'problem');
    for (const name of ['Firestore', 'Realtime Database', 'service account', 'builds', 'public callers'])
      assert.ok(problems.includes(name), name);
    assert.match(mendOf(findings, 'builds'), /-compute@.*roles\/cloudbuild\.builds\.builder$/);
    assert.match(mendOf(findings, 'public callers'), /orgpolicies\/iam-allowedPolicyMemberDomains/);
    assert.match(mendOf(findings, 'service account'), /^gcloud iam service-accounts create muster /);
    assert.match(
      mendOf(findings, 'Firestore'),
      /--location=us-central1 --type=firestore-native --delete-protection --enable-pitr/,
    );
    const builds = findings.find(({ name }) => name === 'builds');
    assert.match(JSON.stringify(builds), /automaticIamGrantsForDefaultServiceAccounts denies it the Editor role/);
  });

  it('include the remaining steps if a project is partly set up', async () => {
    const findings = await diagnosed('half');
    assert.deepEqual(namesOf(findings, 'problem'), [
      'delete protection',
      'backup schedule',
      'roles',
      'excess roles',
      'token creator',
      'acting as itself',
      'secrets',
      'access to secrets',
      'indexes',
      'index exemptions',
      'expiry',
      'functions',
      'topics',
      'authentication',
      'public address',
      'sign-in links in logs',
      'web API key',
      'budget',
    ]);
    assert.match(
      mendOf(findings, 'secrets'),
      /^for name in SMTP_URL GITHUB_APP_PRIVATE_KEY GITHUB_WEBHOOK_SECRET GEMINI_API_KEY MODEL_KEYS; do printf none \|/,
    );
  });

  it('include an unexpected Firestore location and a service account that is not set', async () => {
    const findings = await diagnosed('forgotten');
    assert.deepEqual(namesOf(findings, 'problem'), [
      'Firestore location',
      'delete protection',
      'point-in-time recovery',
      'backup schedule',
      'database URL',
      'service account',
      'roles',
      'token creator',
      'acting as itself',
      'cleanup policy',
      'dead letters',
      'authorized domains',
      'sign-in links in logs',
      'budget',
    ]);
    assert.match(mendOf(findings, 'Firestore location'), /delete the database there .* creates one in us-central1/);
    assert.match(mendOf(findings, 'service account'), /SERVICE_ACCOUNT=muster@/);
    assert.deepEqual(namesOf(findings, 'unseen'), []);
  });
});

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { forAll, inRuns } from '../../../test/support/properties.ts';
import { wordsOf } from '../../../test/support/words.ts';
import { meansSecret } from '../../src/redaction/environment.ts';
import { REDACTED } from '../../src/redaction/placeholder.ts';
import { createRedactor } from '../../src/redaction.ts';

const TOKEN = 'mk_abcdefghijklmnopqrst.uvwxyz0123456789';
const nowhere = (): boolean => false;

function redacted(text: string, env: NodeJS.ProcessEnv, exists: (path: string) => boolean = nowhere): string {
  return createRedactor([TOKEN], env, exists).text(text);
}

describe('redaction of environment variables', () => {
  it("removes the runner's credential, and each of its halves, from every text", () => {
    const redactor = createRedactor([TOKEN], {}, nowhere);
    forAll(fc.string(), fc.constantFrom(TOKEN, ...TOKEN.split('.')), fc.string(), (before, secret, after) => {
      assert.ok(!redactor.text(`${before}${secret}${after}`).includes(secret));
    });
  });

  const SECRET_NAMES = wordsOf(`
    OPENAI_API_KEY APIKEY AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN GITHUB_TOKEN TOKEN npm_config__authToken
    CLIENT_SECRET DB_PASSWORD PGPASSWORD MYSQL_PWD SSHPASS REDIS_PASSWD KEY_PASSPHRASE DOCKER_CREDENTIALS
    SSH_PRIVATE_KEY SESSION_COOKIE SENTRY_DSN AZURE_STORAGE_CONNECTION_STRING REDISCLI_AUTH TOKEN2 API_KEY_2
    STRIPE_KEY_LIVE GH_PAT
  `);
  const OTHER_NAMES = wordsOf(`
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL AUTH_PROVIDER NEXTAUTH_URL KEYCLOAK_REALM MONKEY_BUSINESS KEYBOARD
    TOKENIZER SECRETARY AUTHOR COOKIECUTTER PWD OLDPWD COMPASS_HOME BYPASS_CACHE PATH HOME SSH_AUTH_SOCK
    POSTGRES_PASSWORD_FILE API_KEY_HEADER TOKEN_ISSUER MAX_THINKING_TOKENS_LIMIT PATTERN
  `);
  for (const name of SECRET_NAMES)
    it(`removes the value of the variable ${name}`, () => {
      assert.ok(meansSecret(name));
      assert.equal(redacted('x=Vq8zLw3TxR9bNc2K.', { [name]: 'Vq8zLw3TxR9bNc2K' }), `x=${REDACTED}.`);
    });
  for (const name of OTHER_NAMES)
    it(`keeps the value of the variable ${name}`, () => {
      assert.ok(!meansSecret(name));
      assert.equal(redacted('x=Vq8zLw3TxR9bNc2K.', { [name]: 'Vq8zLw3TxR9bNc2K' }), 'x=Vq8zLw3TxR9bNc2K.');
    });

  it('removes a secret that starts with any character', () => {
    const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const random = fc.array(fc.constantFrom(...base64), { minLength: 39, maxLength: 39 }).map((all) => all.join(''));
    inRuns(1000).forAll(fc.constantFrom(...base64, '/', '.', '~', '$', '#', '-'), random, (first, rest) => {
      const secret = `${first}${rest}`;
      assert.equal(redacted(`"${secret}"`, { AWS_SECRET_ACCESS_KEY: secret }), `"${REDACTED}"`);
    });
  });

  it('removes a secret that looks like a path because it contains slashes', () => {
    const secret = '/8Xk2Pq9/LmN4vB7cZ1aS5dF6gH0jK3lQ+wE8rT2';
    assert.equal(redacted(`key ${secret}`, { AWS_SECRET_ACCESS_KEY: secret }), `key ${REDACTED}`);
  });

  const ORDINARY = [
    'firebase',
    'production',
    'same-origin',
    'Jane Q. Public',
    'localhost',
    'localhost:5432',
    'db1.internal.example.com',
    '10.0.0.12:8080',
    'jane.public@example.com',
    'http://localhost:3000',
    'https://example.com/oauth/token',
    '/run/secrets/api-key',
    '/home/ada/.config/gcloud/credentials.json',
    './keys/server.pem',
    '~/keys/server.pem',
    'true',
    '12345678',
    '2026-11-26',
    'short1',
    'postgres',
    '.example.com',
  ];
  for (const value of ORDINARY)
    it(`keeps the ordinary value ${value} of a variable whose name suggests a secret`, () => {
      const text = `src/${value}/index.ts ${value}`;
      assert.equal(redacted(text, { API_KEY: value, DB_PASSWORD: value, SESSION_COOKIE: value }), text);
    });

  it('keeps a value that is the path of an existing file', () => {
    const value = '/tmp/tmp.Xk29dLa0Qz/k1';
    assert.equal(
      redacted(value, { SSH_KEY: value }, () => true),
      value,
    );
    assert.equal(redacted(value, { SSH_KEY: value }), REDACTED);
  });

  it("keeps a report's paths, branches and names that contain ordinary values of variables", () => {
    const redactor = createRedactor([TOKEN], {
      AUTH_PROVIDER: 'firebase',
      GIT_AUTHOR_NAME: 'Jane Q. Public',
      NEXTAUTH_URL: 'http://localhost:3000',
      KEYCLOAK_REALM: 'muster-realm',
      AUTH_SECRET: 'feature',
    });
    const report = {
      branch: 'work/firebase-of-muster-realm',
      files: [{ path: 'src/firebase/index.ts', insertions: 1 }],
      commits: [
        { sha: '0123456789abcdef0123456789abcdef01234567', subject: 'Jane Q. Public fixed http://localhost:3000' },
      ],
    };
    assert.deepEqual(redactor.json(report), report);
  });

  it('removes the password in a URL, and keeps the host', () => {
    const env = { DATABASE_URL: 'postgres://ada:Tr0ub4dor%263@db.example.com/app' };
    assert.equal(redacted('Tr0ub4dor&3 Tr0ub4dor%263', env), `${REDACTED} ${REDACTED}`);
    assert.equal(redacted('db.example.com/app ada', env), 'db.example.com/app ada');
  });

  it('removes the user in a DSN that has no password, because that user is the secret', () => {
    const env = { SENTRY_DSN: 'https://0123456789abcdef0123456789abcdef@o1.ingest.example.com/1' };
    assert.equal(
      redacted('0123456789abcdef0123456789abcdef o1.ingest.example.com', env),
      `${REDACTED} o1.ingest.example.com`,
    );
  });

  it('removes the password in a connection string', () => {
    const env = { SQL_CONNECTION_STRING: 'Server=db.example.com;User=sa;Password=Tr0ub4dor-3' };
    assert.equal(redacted('login sa Tr0ub4dor-3', env), `login sa ${REDACTED}`);
  });

  it('removes each line of a private key, and keeps the markers around the key', () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', 'Q3efLw=='];
    const env = { DEPLOY_KEY: ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n') };
    assert.equal(
      redacted(`a ${lines[0]} b ${lines[1]} -----BEGIN PRIVATE KEY-----`, env),
      `a ${REDACTED} b ${REDACTED} -----BEGIN PRIVATE KEY-----`,
    );
  });

  it('removes the secret fields of a value that is JSON, and keeps the other fields', () => {
    const key = {
      type: 'service_account',
      project_id: 'muster-demo-project',
      private_key_id: '0123456789abcdef0123456789abcdef01234567',
      token_uri: 'https://oauth2.example.com/token',
      nested: { client_secret: 'Vq8zLw3TxR9bNc2K' },
    };
    const env = { GOOGLE_CREDENTIALS: JSON.stringify(key) };
    assert.equal(redacted('Vq8zLw3TxR9bNc2K 0123456789abcdef0123456789abcdef01234567', env), `${REDACTED} ${REDACTED}`);
    assert.equal(
      redacted('muster-demo-project https://oauth2.example.com/token', env),
      'muster-demo-project https://oauth2.example.com/token',
    );
  });

  it('removes a secret that is escaped in a JSON string or encoded in a URL', () => {
    const secret = 'p"w\\1+2/3=4 5&6';
    const env = { DB_PASSWORD: secret };
    assert.equal(redacted(JSON.stringify({ a: secret }), env), `{"a":"${REDACTED}"}`);
    assert.equal(redacted(`?p=${encodeURIComponent(secret)}&q`, env), `?p=${REDACTED}&q`);
    assert.equal(redacted(`p=${new URLSearchParams({ secret }).toString().slice(7)}`, env), `p=${REDACTED}`);
  });
});

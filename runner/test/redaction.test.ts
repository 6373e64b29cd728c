import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createRedactor, REDACTED, redactKeyBlocks } from '../src/redaction.ts';

const TOKEN = 'mk_abcdefghijklmnopqrst.uvwxyz0123456789';

/** Nobody's: put together here, so that nothing that looks for secrets takes this file for a leak. */
const FORMS = {
  Anthropic: `sk-ant-${'a1'.repeat(20)}`,
  Google: `AIza${'Sy0'.repeat(12)}`,
  GitHub: `ghp_${'A1'.repeat(18)}`,
  'GitHub, fine-grained': `github_pat_${'A1'.repeat(20)}`,
  AWS: `AKIA${'ABCD'.repeat(4)}`,
  Slack: `xoxb-${'123456'.repeat(3)}`,
  JWT: `eyJ${'hbGciOi'.repeat(3)}.eyJ${'zdWIiOi'.repeat(3)}.${'sig'.repeat(6)}`,
} as const;

describe('redaction', () => {
  const redactor = createRedactor([TOKEN], {
    OPENAI_API_KEY: 'value of the key',
    DB_PASSWORD: 'hunter2hunter2',
    SSH_AUTH_SOCK: '/tmp/agent.sock',
    GIT_AUTHOR_NAME: 'Ada',
    HOME: '/home/ada/somewhere',
  });

  it('knows the credential, whole and in its halves, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(TOKEN, ...TOKEN.split('.')),
        fc.string(),
        (before, secret, after) => {
          assert.ok(!redactor.text(`${before}${secret}${after}`).includes(secret));
        },
      ),
    );
  });

  it('knows the values of variables whose names speak of secrets, and no others', () => {
    assert.equal(redactor.text('x=value of the key'), `x=${REDACTED}`);
    assert.equal(redactor.text('psql hunter2hunter2'), `psql ${REDACTED}`);
    assert.equal(
      redactor.text('/tmp/agent.sock Ada /home/ada/somewhere'),
      '/tmp/agent.sock Ada /home/ada/somewhere',
    );
  });

  for (const [name, secret] of Object.entries(FORMS))
    it(`knows the form of ${name}`, () => {
      const text = redactor.text(`before "${secret}" after`);
      assert.equal(text, `before "${REDACTED}" after`);
    });

  it('knows passwords in addresses and headers', () => {
    assert.equal(redactor.text('https://ada:pass@example.com/x'), `https://ada:${REDACTED}@example.com/x`);
    assert.equal(
      redactor.text('Authorization: Bearer abcdefghijklmnop'),
      `Authorization: Bearer ${REDACTED}`,
    );
  });

  it('leaves ordinary text alone', () => {
    const text = 'src/app.ts:12:5 error: task-000abc-001 has sha 0123456789abcdef0123456789abcdef01234567';
    assert.equal(redactor.text(text), text);
  });

  it('reaches every text of a value', () => {
    assert.deepEqual(redactor.json({ a: [TOKEN, { [TOKEN]: 1 }], n: null, t: true }), {
      a: [REDACTED, { [REDACTED]: 1 }],
      n: null,
      t: true,
    });
  });

  it('drops the lines of a private key', () => {
    const line = redactKeyBlocks();
    const block = ['a', '-----BEGIN PRIVATE KEY-----', 'MIIE', 'MIIF', '-----END PRIVATE KEY-----', 'b'];
    assert.deepEqual(
      block.map(line).filter((one) => one !== undefined),
      ['a', '-----BEGIN PRIVATE KEY-----', 'b'],
    );
    assert.equal(redactor.text('-----BEGIN PRIVATE KEY-----'), `-----BEGIN PRIVATE KEY----- ${REDACTED}`);
  });
});

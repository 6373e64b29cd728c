import assert from 'node:assert/strict';
import { Timestamp } from '@google-cloud/firestore';
import type { UserRecord } from 'firebase-admin/auth';
import { UsageError } from '../../../scripts/operator/deployment.ts';
import { parseCommand } from '../../../scripts/people/arguments.ts';
import { isPseudonym, pseudonymOf, Traces } from '../../../scripts/people/erasure/traces.ts';

const UID = 'k3Jx9QmZ1bVtY7LrWc5HsD8nEfG2';

/** Returns an account that has only the fields which the test needs. */
function account(email: string, displayName: string): UserRecord {
  const output: Partial<UserRecord> = { uid: UID, email, displayName, phoneNumber: '+43 660 1234', providerData: [] };
  return Object.assign(Object.create(null), output);
}

describe('identifiers of an erased person', () => {
  const traces = new Traces(UID, account('cyd@example.com', 'Cyd Charisse'));
  const { pseudonym } = traces;

  it('are replaced in values and in keys, and all other values stay unchanged', () => {
    const at = Timestamp.now();
    const value = {
      [`seen-by-${UID}`]: true,
      by: UID,
      note: 'cyd charisse (CYD@example.com, +43 660 1234) said so',
      list: [{ at, other: 'Dan' }, `member:alpha/${UID}`],
    };
    assert.deepEqual(traces.in(value), {
      [`seen-by-${pseudonym}`]: true,
      by: pseudonym,
      note: `erased person (${pseudonym}@erased.invalid, erased person) said so`,
      list: [{ at, other: 'Dan' }, `member:alpha/${pseudonym}`],
    });
    assert.equal(pseudonym, pseudonymOf(UID));
    assert.ok(isPseudonym(pseudonym) && !isPseudonym(UID));
  });

  it('are not replaced inside longer words', () => {
    const others = { name: 'Cyd Charisses', mail: 'mcyd@example.com', host: 'cyd@example.com.au'.slice(1) };
    assert.equal(traces.in(others), others, 'the value is returned unchanged');
    const short = new Traces('operator', account('o@example.com', 'Will'));
    const text = 'The operator said: Will does it';
    assert.equal(short.replaced(text), text);
    assert.equal(short.replaced('Will'), 'erased person');
    assert.equal(short.replaced('member:alpha/operator'), `member:alpha/${short.pseudonym}`);
    assert.equal(short.replaced('{"owner":"operator"}'), `{"owner":"${short.pseudonym}"}`);
  });
});

describe('command line of npm run people -- erase', () => {
  it('requires either --dry-run or --yes', () => {
    const dry = parseCommand(['erase', '--person', UID, '--dry-run']);
    assert.ok(dry.kind === 'erase' && dry.isDry && dry.who === UID);
    const cases: [string[], RegExp][] = [
      [['erase', '--yes'], /^erase --person requires a person's uid or email\.$/],
      [['erase', '--person', UID], /^erase requires --dry-run .* or --yes to make them\.$/],
      [['erase', '--person', UID, '--yes', '--dry-run'], /^erase requires --dry-run/],
      [['erase', UID, '--yes'], /^Unexpected argument /],
    ];
    for (const [args, message] of cases)
      assert.throws(
        () => parseCommand(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
  });
});

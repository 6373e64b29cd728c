/** Simulated clock that the command `npm run clock` moves. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedClock } from '../../../functions/src/kernel/platform.ts';
import { moveClock } from '../../../scripts/clock/clock.mjs';
import { durationOf, durationText } from '../../../scripts/clock/duration.mjs';

describe('npm run clock', () => {
  it('accepts durations such as those in the help', () => {
    assert.equal(durationOf('90s'), 90_000);
    assert.equal(durationOf('1d12h'), 36 * 3_600_000);
    assert.equal(durationOf('1w'), 7 * 86_400_000);
    for (const text of ['', '1', 'd', '-1d', '1 d', '1y', '1.5h', '999999999w'])
      assert.throws(() => durationOf(text), /invalid duration|must be at most/, text);
  });

  it('prints durations in the form that it accepts', () => {
    for (const text of ['1s', '15m', '1d12h', '400d', '23h59m59s']) assert.equal(durationText(durationOf(text)), text);
    assert.equal(durationText(durationOf('1w')), '7d');
  });

  it('reports an error if npm start is not running', () =>
    assert.rejects(moveClock(['advance', '1d', '--endpoint', '/nowhere.json']), /npm start is not running/));

  it('prints its usage if the arguments are invalid', async () => {
    for (const args of [[], ['advance'], ['show', '1d'], ['advance', '1d', '2d'], ['back'], ['--help']])
      await assert.rejects(moveClock(args), /^Error: npm run clock -- advance/, args.join(' '));
    await assert.rejects(moveClock(['advance', 'tomorrow']), /invalid duration tomorrow/);
  });
});

describe('simulated clock of the emulators', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clock-'));
  const file = join(folder, 'clock');
  const clock = simulatedClock(file);
  /** Rounded to tenths of a day, because time passes between the two readings. */
  const daysAhead = (): string => ((clock.now().getTime() - Date.now()) / 86_400_000).toFixed(1).replace('-', '');

  after(() => rmSync(folder, { recursive: true }));

  it('follows its file immediately, and is the system clock if the file is missing or invalid', () => {
    assert.equal(daysAhead(), '0.0');
    writeFileSync(file, String(86_400_000));
    assert.equal(daysAhead(), '1.0');
    writeFileSync(file, 'tomorrow');
    assert.equal(daysAhead(), '0.0');
    rmSync(file);
    assert.equal(daysAhead(), '0.0');
  });
});

/**
 * Calls every tool with hostile arguments, one call at a time, and measures what each call costs the process of the
 * function. The nightly run makes 100,000 calls with random seeds, as does the command
 * `MUSTER_ATTACK_CALLS=100000 npm test -- attack`. test/contract/hostile checks more arguments, without a function.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { wireName } from '../../functions/src/mcp/names.ts';
import { entries } from '../contract/catalog.ts';
import { isRecord } from '../e2e/support/clients.ts';
import { post } from '../e2e/support/http.ts';
import { defaultOrNightly } from '../support/nightly.ts';
import { type Attacker, Attackers } from './support/attackers.ts';
import { NUMBER_HEADER } from './support/cost.ts';
import { DIALECTS } from './support/dialects.ts';
import { hostileArguments } from './support/hostileArguments.ts';
import { type Attack, billOf, faultsOf, isRefusal, MostExpensive } from './support/judgment.ts';
import { startTarget, type Target } from './support/target.ts';

/** Total number of calls, divided equally among the tools. The nightly run calls each tool almost 1,000 times. */
const CALLS = Number(process.env['MUSTER_ATTACK_CALLS'] ?? defaultOrNightly(3 * entries.length, { night: 100_000 }));

const CALLS_OF_EACH = Math.ceil(CALLS / entries.length);

/** Maximum number of calls of a tool if one of these calls must succeed, to also run code after the validation. */
const MAX_CALLS = Math.max(90, 10 * CALLS_OF_EACH);

/** Number of calls whose arguments are generated in advance. The arguments of one call can be several megabytes. */
const MADE_AT_ONCE = 10;

const SHOWN_FAULTS = 5;

describe('tool calls with hostile arguments', () => {
  const dearest = new MostExpensive(10);
  let target: Target;
  let everyone: Attackers;
  let number = 0;
  let state = '';

  before(async () => {
    target = await startTarget('attack');
    everyone = await Attackers.open(target.server.url, target.leader);
    state = await target.elsewhere();
  });

  after(async () => {
    console.log(dearest.report);
    await target.end();
  });

  for (const { toolset, tool, input } of entries) {
    const name = wireName(toolset, tool.name, 'prefixed');

    it(`${name} exceeds no limit of a request, and writes nothing if the call is rejected`, async function () {
      this.timeout(60_000 + MAX_CALLS * 2000);
      const attackers = await everyone.of(name, tool.annotations.readOnlyHint);
      const faults: string[] = [];
      let succeeded = 0;
      const isToSucceed = /^(todo|coding)_/.test(name);
      const isOver = (calls: number) => calls >= (isToSucceed && succeeded === 0 ? MAX_CALLS : CALLS_OF_EACH);
      for (let made = 0; !isOver(made); ) {
        const numRuns = Math.min(MADE_AT_ONCE, CALLS_OF_EACH);
        for (const args of hostile(input, attackers, { numRuns, seed: seedOf(name, made) })) {
          const attack = await call(name, args, attackers);
          dearest.add(attack);
          faults.push(...faultsOf(attack));
          if (!isRefusal(attack.answer)) succeeded += 1;
          made += 1;
        }
      }
      const shown = faults.slice(0, SHOWN_FAULTS).join('\n');
      assert.equal(faults.length, 0, `${faults.length} calls have faults:\n${shown}`);
      assert.ok(succeeded > 0 || !isToSucceed, `${name} never succeeded`);
    });
  }

  /** Calls the tool. Each call uses the next attacker and the next dialect in turn. */
  async function call(tool: string, args: unknown, attackers: readonly Attacker[]): Promise<Attack> {
    number += 1;
    const attacker = attackers[TURNS[number % TURNS.length] ?? 0];
    const dialect = DIALECTS[number % DIALECTS.length];
    assert.ok(attacker !== undefined && dialect !== undefined);
    const { path, headers, body } = dialect(tool, args);
    target.meter.take();
    const numbered = { ...headers, [NUMBER_HEADER]: String(number) };
    const answer = await post(`${target.server.url}${path}`, attacker.token, body, numbered);
    const cost = await target.costOf(number);
    const bill = billOf(target.meter.take());
    const before = state;
    state = await target.elsewhere();
    return { tool, sent: body, answer, cost, bill, changedElsewhere: state !== before };
  }
});

/** Order of the attackers. Attacker 0, the leader, calls most often: it owns the victims and has the most rights. */
const TURNS = [0, 0, 0, 0, 1, 0, 2];

function hostile(
  schema: Readonly<Record<string, unknown>>,
  [owner]: readonly Attacker[],
  parameters: { readonly numRuns: number; readonly seed: number },
): readonly unknown[] {
  const made = fc.sample(hostileArguments(schema, owner?.victims ?? {}), parameters);
  const waits = WAITS.find((name) => isRecord(schema['properties']) && name in schema['properties']);
  return made.map((args) => {
    if (!isRecord(args)) return args;
    const { until, ...others } = args;
    return { ...(waits !== undefined && { [waits]: 0 }), ...(until === WAITING ? others : args) };
  });
}

/** Arguments that set how long a call waits for changes. Without them, some tools wait for 20 seconds. */
const WAITS = ['wait_ms', 'waitMs'];

/** Value of `until` with which coding.report_task waits for 45 seconds. */
const WAITING = 'end';

/** Returns a seed that depends on the tool and the number of the call. Calls of other tools do not change it. */
function seedOf(tool: string, place: number): number {
  const own = [...tool].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 0);
  return (fc.readConfigureGlobal().seed ?? 0) + own + place;
}

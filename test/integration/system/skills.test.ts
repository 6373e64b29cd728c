import assert from 'node:assert/strict';
import { z } from 'zod';
import { VERSION } from '../../../functions/src/config.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { DatabaseMetricsLedger } from '../../../functions/src/limits/store/ledgers.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { answer } from '../coordination/calls.ts';
import { Team, unkeyed } from '../coordination/team.ts';

const page = z.object({
  skills: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      category: z.string(),
      description: z.string(),
      version: z.string(),
      author: z.string(),
      requirements: z.array(z.string()),
      parameters: z.record(z.string(), z.unknown()).optional(),
      examples: z.array(z.record(z.string(), z.unknown())).optional(),
      deprecated: z.boolean(),
      successRate: z.number().optional(),
      lastUsed: z.iso.datetime().optional(),
    }),
  ),
  total: z.number(),
  totalPages: z.number(),
  hasNext: z.boolean(),
  hasPrevious: z.boolean(),
  categories: z.array(z.string()),
});

type SkillPage = z.output<typeof page>;

const TOOLS = toolsets.flatMap(({ name, tools }) => tools.map((tool) => `${name}.${tool.name}`));

describe('system.listSkills', () => {
  let team: Team;
  /** A word that no other test uses. */
  let word: string;

  const list = async (args = {}): Promise<SkillPage> => page.parse(await answer(team, 'system_listSkills', args));
  const names = async (args = {}) => (await list(args)).skills.map(({ name }) => name);

  beforeEach(() => {
    team = new Team();
    word = team.workspace.replaceAll('-', '').slice(0, 14);
  });

  it("lists only capabilities of the workspace's agents, each with the number of its agents", async () => {
    const other = new Team();
    const ours = await team.join('ours', [word]);
    await other.join('theirs', [word, `${word} secret`]);
    const of = async (asked: Team, args = {}) => {
      const { skills } = page.parse(await answer(asked, 'system_listSkills', { search: word, ...args }));
      return skills.map(({ name, description }) => [name, / One agent has it/.test(description)]);
    };
    const declared = { category: 'declared' };
    assert.deepEqual(await of(team), [[word, true]]);
    assert.deepEqual(await of(team, declared), [[word, true]]);
    assert.deepEqual(await of(other), [
      [word, true],
      [`${word} secret`, true],
    ]);
    assert.deepEqual(await of(new Team(), { includeDeprecated: true }), []);
    const { membership } = team.app.services;
    const joining = { agentId: ours, role: 'worker', workspace: other.workspace } as const;
    await membership.join(team.principal('ours'), joining, unkeyed);
    assert.deepEqual(await of(other, { search: `${word} ` }), [
      [word, false],
      [`${word} secret`, true],
    ]);
    assert.deepEqual(await of(team), [[word, true]]);
  });

  it('lists every tool with the data of its definition', async () => {
    const { skills: first, total, categories } = await list({ limit: 1000 });
    const skills = [...first];
    while (skills.length < TOOLS.length) {
      const { skills: more } = await list({ limit: 1000, offset: skills.length });
      assert.ok(more.length > 0);
      skills.push(...more);
    }
    const ids = skills.slice(0, TOOLS.length).map(({ id }) => id);
    assert.deepEqual(ids, TOOLS);
    assert.ok(total >= TOOLS.length);
    for (const { name } of toolsets) assert.ok(categories.includes(name));
    const claim = skills.find(({ id }) => id === 'coordination.claim_task');
    assert.ok(claim);
    const { category, version, author, requirements, deprecated, examples } = claim;
    assert.deepEqual(
      { category, version, author, requirements, deprecated },
      {
        category: 'coordination',
        version: VERSION,
        author: 'Muster',
        requirements: ['role: worker'],
        deprecated: false,
      },
    );
    assert.deepEqual(examples, [{ agent_id: 'terminal-2' }]);
    assert.equal(claim.parameters?.['type'], 'object');
  });

  it('lists a capability once, even if several agents declare it', async () => {
    await team.join('one', [`${word}-cooking`]);
    await team.join('one', [`${word}-cooking`]);
    await team.join('two', [`${word.toUpperCase()}-Cooking`]);
    const { skills, total } = await list({ search: word });
    assert.equal(total, 1);
    const { name, category, description, version, deprecated, author } = skills[0] ?? {};
    assert.deepEqual([category, version, deprecated], ['declared', '1.0.0', false]);
    assert.deepEqual([name, author], [`${word.toUpperCase()}-Cooking`, team.agentId('two')]);
    assert.match(description ?? '', /2 agents have it/);
  });

  it('marks a capability without agents as deprecated until an agent declares it again', async () => {
    await team.join('one', [`${word}-old`, `${word}-kept`]);
    await team.join('one', [`${word}-kept`]);
    assert.deepEqual(await names({ search: word }), [`${word}-kept`]);
    const all = await list({ search: word, includeDeprecated: true });
    const rows = all.skills.map(({ name, deprecated }) => [name, deprecated]);
    assert.deepEqual(rows, [
      [`${word}-kept`, false],
      [`${word}-old`, true],
    ]);
    await team.join('two', [`${word}-old`]);
    assert.deepEqual(await names({ search: word }), [`${word}-kept`, `${word}-old`]);
  });

  it('finds words by prefix, ignoring case and accents', async () => {
    await team.join('cook', [`${word} crème brûlée`, `${word} cream soup`]);
    assert.deepEqual(await names({ search: `${word} CREME` }), [`${word} crème brûlée`]);
    assert.deepEqual(await names({ search: `brul ${word.slice(0, 12)}` }), [`${word} crème brûlée`]);
    assert.deepEqual(await names({ search: `${word} cré` }), [`${word} cream soup`, `${word} crème brûlée`]);
    assert.deepEqual(await names({ search: `${word} rème` }), []);
    assert.ok((await names({ search: 'WELCOME' })).includes('onboarding.getWelcome'));
    assert.ok((await names({ search: 'task claim' })).includes('coordination.claim_task'));
  });

  it('filters by category, with and without a search', async () => {
    await team.join('one', [`${word}-a`]);
    assert.deepEqual(
      await names({ category: 'Onboarding' }),
      TOOLS.filter((name) => name.startsWith('onboarding.')),
    );
    assert.deepEqual(await names({ category: 'declared', search: word }), [`${word}-a`]);
    assert.deepEqual(await names({ category: 'onboarding', search: word }), []);
    const { skills, total } = await list({ category: 'declared', limit: 1 });
    assert.equal(skills.length, 1);
    assert.ok(total >= 1);
  });

  it('returns tools and capabilities in pages, with an exact total', async () => {
    await team.join(
      'one',
      ['a', 'b', 'c', 'd', 'e'].map((letter) => `${word} skills ${letter}`),
    );
    for (const args of [{ search: 'skills' }, { search: `${word}` }, {}]) {
      const { total } = await list({ ...args, limit: 1 });
      const seen: string[] = [];
      for (let offset = 0; offset < total; offset += 3) {
        const { skills, totalPages, hasNext, hasPrevious } = await list({ ...args, limit: 3, offset });
        seen.push(...skills.map(({ id }) => id));
        assert.deepEqual([totalPages, hasNext, hasPrevious], [Math.ceil(total / 3), offset + 3 < total, offset > 0]);
      }
      assert.equal(seen.length, total, JSON.stringify(args));
      assert.equal(new Set(seen).size, total, JSON.stringify(args));
    }
    for (const offset of [1e6, Number.MAX_SAFE_INTEGER]) {
      const { skills, total } = await list({ offset });
      assert.deepEqual([skills, total > 0], [[], true]);
    }
  });

  it('returns the success rate of a tool from the calls of the last hour', async () => {
    const ledger = new DatabaseMetricsLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    const counts = (calls: number, failures: number) => ({
      calls,
      failures,
      milliseconds: 100,
      errors: new Map(failures === 0 ? [] : [['CONFLICT', failures]]),
      latencies: new Map([['b1', calls]]),
    });
    team.pass(1_000_000 + Number.parseInt(team.workspace.slice(3, 9), 16)); // To an hour that no other test uses.
    const minute = (secondsAgo: number, calls: number, failures: number) => ({
      minute: new Date(Math.floor((team.now.getTime() - secondsAgo * 1000) / 60_000) * 60_000),
      all: counts(calls, failures),
      tools: new Map([['coordination.claim_task', counts(calls, failures)]]),
    });
    const minutes = [minute(120, 2, 1), minute(600, 2, 0), minute(7200, 100, 100)];
    await ledger.add({ minutes, agents: new Map() });
    const { skills } = await list({ search: 'claim', category: 'coordination' });
    const claim = skills.find(({ id }) => id === 'coordination.claim_task');
    assert.deepEqual([claim?.successRate, claim?.lastUsed], [0.75, minutes[0]?.minute.toISOString()]);
    const { skills: others } = await list({ category: 'onboarding' });
    assert.ok(others.every(({ successRate, lastUsed }) => successRate === undefined && lastUsed === undefined));
  });
});

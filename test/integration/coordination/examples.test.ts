/**
 * Calls every tool with its example. The call must succeed and match the output schema. Even in large collections, it
 * may read only a few more documents than it returns, because Firestore bills per document.
 */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { byteLength, type JsonObject, jsonObject, MAX_SHOWN_BYTES } from '../../../functions/src/kernel/json.ts';
import { outputJsonSchema } from '../../../functions/src/mcp/jsonSchema.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { countReads, longestList, type Reads } from '../../support/countedReads.ts';
import { seededGitHub } from '../../support/github/seeded.ts';
import { LocalModels } from '../../support/models/server.ts';
import { callerOfExample } from '../access/examples.ts';
import { withModels } from '../orchestration/examples.ts';
import { answer, call } from './calls.ts';
import { clearFixture, crowd, crowdSkill, setUpFixture } from './fixture.ts';
import { Team } from './team.ts';

const schemas = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });

/** Number of findings, of agents, and of tasks of each kind that the test adds to make the collections large. */
const CROWD = 200;

/** The tools. Read-only tools come first, because they can share one fixture. */
const TOOLS = toolsets
  .flatMap(({ name: toolset, tools }) =>
    tools.map((tool) => ({ toolset, tool, isReading: tool.annotations.readOnlyHint })),
  )
  .sort((one, other) => Number(other.isReading) - Number(one.isReading));

/** Maximum number of reads besides the returned items: session, caller, counters, queue and budgets. */
const FEW = 28;

describe('tool examples', () => {
  const gitHub = seededGitHub();
  const models = new LocalModels();
  const team: Team = new Team({ gitHub, ...withModels(models, () => team.app) });
  let reads: Reads;
  let crowded: string;
  let isAsSet = false;

  before(async () => {
    await models.start();
    reads = countReads();
  });
  after(async () => {
    reads.stop();
    await clearFixture();
    await models.stop();
  });

  async function begin(): Promise<void> {
    if (isAsSet) return;
    const session = await setUpFixture(team);
    if (session.id !== crowded) await crowd(team, session, CROWD);
    crowded = session.id;
  }

  /**
   * Returns the arguments of the example. For `system_getAgents`, they select the agents of this test, because other
   * tests leave many agents and the tool reads up to 200 agents more than it returns.
   */
  function argumentsOf(name: string, example: unknown): JsonObject {
    const args = jsonObject.parse(example);
    return name === 'system_getAgents' ? { ...args, status: 'offline', capabilities: [crowdSkill(team)] } : args;
  }

  for (const { toolset, tool, isReading } of TOOLS)
    it(`${toolset}.${tool.name} succeeds, matches its output schema and reads few documents`, async () => {
      const name = wireName(toolset, tool.name, 'prefixed');
      await begin();
      isAsSet = isReading;
      const args = argumentsOf(name, tool.example);
      const instance = team.anotherInstance();
      let answered: Awaited<ReturnType<typeof call>> | undefined;
      const read = await reads.during(async () => {
        answered = await call(team.at({ app: instance }), name, args, callerOfExample(team, tool.name));
      });
      assert.ok(answered);
      const { structuredContent, content, isError } = answered;
      assert.equal(isError, undefined, JSON.stringify(structuredContent));
      assert.ok(byteLength(structuredContent) <= MAX_SHOWN_BYTES, 'the response is too large for a model');
      if ('success' in structuredContent) assert.equal(structuredContent['success'], true);
      const isAsListed = schemas.compile(outputJsonSchema(tool.output));
      assert.ok(isAsListed(structuredContent), JSON.stringify(isAsListed.errors));
      assert.deepEqual(JSON.parse(content[0].text), JSON.parse(JSON.stringify(structuredContent)));
      const extra = read - longestList(structuredContent);
      assert.ok(extra <= FEW, `the call reads ${extra} more documents than it returns`);
    });

  it('the read counter of this test counts every document of a large read', async () => {
    await begin();
    assert.ok((await reads.during(() => answer(team, 'coordination_get_all_tasks', {}))) >= 50);
    assert.ok((await reads.during(() => team.tasks())) >= CROWD);
    assert.equal(await reads.during(() => team.task(`${crowded}-0`)), 1);
  });
});

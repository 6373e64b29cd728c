/**
 * Every tool's example succeeds, its answer is what the tool says that it returns, and it reads few documents more than
 * it returns, however much there is: Firestore bills by document.
 */
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  byteLength,
  type JsonObject,
  jsonObject,
  MAX_SHOWN_BYTES,
} from '../../../functions/src/kernel/json.ts';
import { outputJsonSchema } from '../../../functions/src/mcp/jsonSchema.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { countReads, longestList, type Reads } from '../../support/countedReads.ts';
import { seededGitHub } from '../../support/github/seeded.ts';
import { LocalModels } from '../../support/models/server.ts';
import { callerOfExample } from '../access/examples.ts';
import { withModels } from '../orchestration/examples.ts';
import { answer, call } from './calls.ts';
import { clearStage, crowd, crowdSkill, setStage } from './stage.ts';
import { Team } from './team.ts';

const schemas = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true } });

/** How many tasks of each kind, discoveries and agents there are beside those of the examples. */
const CROWD = 200;

/** Those that only read come first: all of them find the stage as it was set for the first. */
const TOOLS = toolsets
  .flatMap(({ name: toolset, tools }) =>
    tools.map((tool) => ({ toolset, tool, isReading: tool.annotations.readOnlyHint })),
  )
  .sort((one, other) => Number(other.isReading) - Number(one.isReading));

/** The session, the caller, the counters' parts, a window of the queue; of each question to a model, the budgets above. */
const FEW = 28;

describe('the example of', () => {
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
    await clearStage();
    await models.stop();
  });

  async function begin(): Promise<void> {
    if (isAsSet) return;
    const session = await setStage(team);
    if (session.id !== crowded) await crowd(team, session, CROWD);
    crowded = session.id;
  }

  /**
   * The example's arguments; if it asks for agents, for those of the crowd: other tests leave behind any number of those
   * that it names itself, of which it looks at up to 200 more than it returns.
   */
  function argumentsOf(name: string, example: unknown): JsonObject {
    const args = jsonObject.parse(example);
    return name === 'system_getAgents'
      ? { ...args, status: 'offline', capabilities: [crowdSkill(team)] }
      : args;
  }

  for (const { toolset, tool, isReading } of TOOLS) {
    it(`${toolset}.${tool.name} succeeds as described, and reads few documents`, async () => {
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
      assert.ok(byteLength(structuredContent) <= MAX_SHOWN_BYTES, 'a model is not shown all of it');
      if ('success' in structuredContent) assert.equal(structuredContent['success'], true);
      const isAsListed = schemas.compile(outputJsonSchema(tool.output));
      assert.ok(isAsListed(structuredContent), JSON.stringify(isAsListed.errors));
      assert.deepEqual(JSON.parse(content[0].text), JSON.parse(JSON.stringify(structuredContent)));
      const extra = read - longestList(structuredContent);
      assert.ok(extra <= FEW, `it reads ${extra} documents more than it returns`);
    });
  }

  it('a tool that reads many is counted as such', async () => {
    await begin();
    assert.ok((await reads.during(() => answer(team, 'coordination_get_all_tasks', {}))) >= 50);
    assert.ok((await reads.during(() => team.tasks())) >= CROWD);
    assert.equal(await reads.during(() => team.task(`${crowded}-0`)), 1);
  });
});

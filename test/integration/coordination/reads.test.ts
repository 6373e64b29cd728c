/** Firestore bills by document: no tool reads more than it answers and a few, however much there is. */
import assert from 'node:assert/strict';
import { type JsonObject, jsonObject } from '../../../functions/src/kernel/json.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { seededGitHub } from '../../support/github/seeded.ts';
import { LocalModels } from '../../support/models/server.ts';
import { callerOfExample } from '../access/examples.ts';
import { withModels } from '../orchestration/examples.ts';
import { answer } from './calls.ts';
import { countReads, longestList, type Reads } from './reads.ts';
import { clearStage, crowd, crowdSkill, setStage } from './stage.ts';
import { Team } from './team.ts';

/** The session, the caller, the counters' parts, a window of the queue; of each question to a model, the budgets above. */
const FEW = 28;

describe('the documents read by', () => {
  const gitHub = seededGitHub();
  const models = new LocalModels();
  const teams = new Map([10, 200].map((count) => [count, teamWithModels()]));
  let reads: Reads;

  before(async () => {
    await models.start();
    for (const [count, team] of teams) await crowd(team, count);
    reads = countReads();
  });

  after(async () => {
    reads.stop();
    await clearStage();
    await models.stop();
  });

  function teamWithModels(): Team {
    const team: Team = new Team({ gitHub, ...withModels(models, () => team.app) });
    return team;
  }

  /**
   * The example's arguments; where it asks for agents, for those of the team's crowd. What it names itself, other
   * tests have left behind in whatever number and state, and of those it looks at up to 200 more than it answers.
   */
  function argumentsOf(name: string, example: JsonObject, team: Team): JsonObject {
    if (name !== 'system_getAgents') return example;
    return { ...example, status: 'offline', capabilities: [crowdSkill(team)] };
  }

  /** What a call to a new instance reads beyond what it answers. */
  async function beyond(name: string, example: JsonObject, team: Team): Promise<number> {
    await setStage(team);
    let answered: JsonObject = {};
    const read = await reads.during(async () => {
      const caller = callerOfExample(team, name.replace(/^(access|inbox)_/, ''));
      answered = await answer(team, name, example, caller, team.anotherInstance());
    });
    return read - longestList(answered);
  }

  for (const { name: toolset, tools } of toolsets) {
    for (const tool of tools) {
      it(`${toolset}.${tool.name} are few, with 10 tasks and with 200`, async () => {
        const name = wireName(toolset, tool.name, 'prefixed');
        for (const [count, team] of teams) {
          const extra = await beyond(name, argumentsOf(name, jsonObject.parse(tool.example), team), team);
          assert.ok(extra <= FEW, `${extra} with ${count}`);
        }
      });
    }
  }

  it('a count are really counted', async () => {
    const team = new Team();
    await crowd(team, 10);
    assert.ok((await reads.during(() => answer(team, 'coordination_get_all_tasks', {}))) >= 20);
    assert.ok((await reads.during(() => team.tasks())) >= 20);
    assert.equal(await reads.during(() => team.task(`${team.workspace}-0`)), 1);
  });
});
